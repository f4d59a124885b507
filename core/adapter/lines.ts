/** JSON-lines logs: read once from start to end, or tailed from a cursor. Both number the same events the same way. */
import { isAscii } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cursor, Tail, TailEnd } from "../contract/adapter.ts";
import type { Json, SessionEvent, SessionSummary } from "../session/session.ts";
import { type ByteSource, createCutter, fileSource, type LineCutter, zstdSource } from "../utils/jsonl.ts";

/** Turns the rows of one log into events, one at a time and in order. Must not throw for content. */
export interface LineParser {
  /** `seq` of the events is set by the reader. `line` is reused: take what you need before returning. `length` is in bytes, without the newline. */
  row(row: unknown, line: { offset: number; length: number }): SessionEvent[] | SessionEvent | undefined;
  /** May be called more than once. */
  finish(): SessionSummary;
  /** All that is needed to go on after this row; JSON, small. */
  snapshot(): Json;
}

type LogFile = { path: string };

/**
 * The lines of a file as text: split at byte 0x0A only; a BOM, trailing CRs and blank lines are left out.
 * `start` and `end` are byte offsets (`end` exclusive); lines longer than `maxLine` bytes (64 MB) are left out.
 * A `.zst` file is inflated (then the offsets do not apply). Rejects with the file system's error when it cannot be opened.
 */
export async function* readLines(
  path: string,
  opts: { start?: number; end?: number; maxLine?: number } = {},
): AsyncGenerator<string, void> {
  const source = path.endsWith(".zst") ? await zstdSource(path) : fileSource(path, opts.start, opts.end);
  const cutter = createCutter(source, opts.start, opts.maxLine);
  let lines: string[] = [];
  const take = (bytes: Buffer, from: number, to: number, offset: number) => {
    const text = toText(bytes, from, to, offset);
    if (text !== "") lines.push(text);
  };
  try {
    while (cutter.next(take)) {
      yield* lines;
      lines = [];
      await nextTurn();
    }
    const rest = cutter.rest();
    if (rest?.whole) take(rest.bytes, rest.from, rest.to, rest.offset);
    yield* lines;
  } finally {
    cutter.close();
  }
}

/**
 * Events in batches of about 1 MiB of log, then the summary. Bad and over-long lines are counted, a half-written last
 * line is `pending`. Blocks for one chunk at a time (a few ms); memory is one chunk and its events.
 */
export async function* readEventBatches(
  ref: LogFile,
  parser: LineParser,
): AsyncGenerator<SessionEvent[], SessionSummary> {
  const cutter = createCutter(await sourceOf(ref.path));
  const reader = createReader(parser, 0, 0);
  try {
    for (;;) {
      const more = advance(cutter, reader);
      if (reader.events.length > 0) {
        yield reader.events;
        reader.events = [];
      }
      if (!more) break;
      await nextTurn();
    }
    reader.last(cutter);
    if (reader.events.length > 0) yield reader.events;
    return reader.summary(cutter.tooLong);
  } finally {
    cutter.close();
  }
}

/** The same, event by event. */
export async function* readParsed(ref: LogFile, parser: LineParser): AsyncGenerator<SessionEvent, SessionSummary> {
  const batches = readEventBatches(ref, parser);
  try {
    for (;;) {
      const step = await batches.next();
      if (step.done) return step.value;
      yield* step.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}

/**
 * What was added since `cursor` (none: everything). Reads the bytes after the cursor and at most 4 KB before it, to see
 * that it is still the same file; one that was replaced or cut is read anew (`restarted`). Compressed logs are read whole
 * when they changed.
 */
export async function tailParsed(
  ref: LogFile,
  cursor: Cursor | undefined,
  makeParser: (state?: Json) => LineParser,
): Promise<Tail> {
  const batches = tailBatches(ref, cursor, makeParser);
  const events: SessionEvent[] = [];
  for (;;) {
    const step = await batches.next();
    if (step.done) return { ...step.value, events };
    for (const event of step.value) events.push(event);
  }
}

/** The same in batches of about 1 MiB of log: memory stays flat when there is much to read. */
export async function* tailBatches(
  ref: LogFile,
  cursor: Cursor | undefined,
  makeParser: (state?: Json) => LineParser,
): AsyncGenerator<SessionEvent[], TailEnd> {
  if (ref.path.endsWith(".zst")) {
    const { events, ...end } = await tailPacked(ref, cursor, makeParser);
    if (events.length > 0) yield events;
    return end;
  }
  const fd = openSync(ref.path, "r");
  const before = cursor ? markOf(fd, cursor.offset) : { mark: "", bytes: 0 };
  const valid = cursor && before.mark === cursor.head && isTailState(cursor.state) ? cursor : undefined;
  const { reader, parser } = resume(valid, makeParser);
  const start = valid?.offset ?? 0;
  const cutter = createCutter(fileSource(fd, start), start);
  try {
    while (advance(cutter, reader)) {
      if (reader.events.length > 0) {
        yield reader.events;
        reader.events = [];
      }
      await nextTurn();
    }
    reader.last(cutter);
    if (reader.events.length > 0) yield reader.events;
    reader.bad += cutter.tooLong;
    const rest = cutter.rest();
    // An unfinished line is read again next time; a finished one that only lacks its newline is not.
    const offset = start + cutter.bytesRead - (rest && reader.pending ? rest.to - rest.from : 0);
    const after = valid?.offset === offset ? { ...before, bytes: 0 } : markOf(fd, offset);
    return {
      cursor: {
        offset,
        head: after.mark,
        seq: reader.seq,
        // Made when it is asked for: most logs are never looked at again.
        get state() {
          return { parser: parser.snapshot(), bad: reader.bad };
        },
      },
      summary: reader.summary(0),
      restarted: cursor !== undefined && valid === undefined,
      bytesRead: before.bytes + cutter.bytesRead + after.bytes,
    };
  } finally {
    cutter.close();
  }
}

async function tailPacked(
  ref: LogFile,
  cursor: Cursor | undefined,
  makeParser: (state?: Json) => LineParser,
): Promise<Tail> {
  const head = packedMark(ref.path);
  const valid = cursor && head === cursor.head && isTailState(cursor.state) ? cursor : undefined;
  const { reader, parser } = resume(valid, makeParser);
  let offset = valid?.offset ?? 0;
  let bytesRead = 0;
  if (!valid) {
    const cutter = createCutter(await sourceOf(ref.path));
    try {
      while (advance(cutter, reader)) await nextTurn();
      reader.last(cutter);
      reader.bad += cutter.tooLong;
      offset = bytesRead = cutter.bytesRead;
    } finally {
      cutter.close();
    }
  }
  return {
    events: reader.events,
    cursor: { offset, head, seq: reader.seq, state: { parser: parser.snapshot(), bad: reader.bad } },
    summary: reader.summary(0),
    restarted: cursor !== undefined && !valid,
    bytesRead,
  };
}

function resume(cursor: Cursor | undefined, makeParser: (state?: Json) => LineParser) {
  const state = cursor && isTailState(cursor.state) ? cursor.state : undefined;
  const parser = makeParser(state?.parser);
  return { parser, reader: createReader(parser, cursor?.seq ?? 0, state?.bad ?? 0) };
}

interface Reader {
  events: SessionEvent[];
  seq: number;
  bad: number;
  pending: boolean;
  line(bytes: Buffer, from: number, to: number, offset: number): void;
  /** Takes the bytes behind the last newline, when they are a whole row. */
  last(cutter: LineCutter): void;
  summary(tooLong: number): SessionSummary;
}

function createReader(parser: LineParser, seq: number, bad: number): Reader {
  const place = { offset: 0, length: 0 };
  const push = (event: SessionEvent) => {
    event.seq = reader.seq++;
    reader.events.push(event);
  };
  const take = (row: object, offset: number, length: number) => {
    place.offset = offset;
    place.length = length;
    const made = parser.row(row, place);
    if (!made) return;
    if (Array.isArray(made)) for (const event of made) push(event);
    else push(made);
  };
  const reader: Reader = {
    events: [],
    seq,
    bad,
    pending: false,
    line(bytes, from, to, offset) {
      const text = toText(bytes, from, to, offset);
      if (text === "") return;
      const row = toRow(text);
      if (row) take(row, offset, to - from);
      else reader.bad++;
    },
    last(cutter) {
      const rest = cutter.rest();
      if (!rest) return;
      const text = rest.whole ? toText(rest.bytes, rest.from, rest.to, rest.offset) : "";
      if (rest.whole && text === "") return;
      // A whole object cannot be the start of a longer row, so it may be taken before its newline is there.
      const row = text.trimEnd().endsWith("}") ? toRow(text) : undefined;
      if (row) take(row, rest.offset, rest.to - rest.from);
      else reader.pending = true;
    },
    summary(tooLong) {
      const summary = parser.finish();
      const lines = reader.bad + tooLong + (summary.skipped?.lines ?? 0);
      const skipped = { lines, unknown: summary.skipped?.unknown ?? {} };
      return { ...summary, skipped: reader.pending ? { ...skipped, pending: 1 } : skipped };
    },
  };
  return reader;
}

/** One chunk. Damaged compressed data ends the log there and counts as one bad line. */
function advance(cutter: LineCutter, reader: Reader): boolean {
  try {
    return cutter.next(reader.line);
  } catch (error) {
    if (!(error instanceof DamagedSource)) throw error;
    reader.bad++;
    return false;
  }
}

class DamagedSource extends Error {}

async function sourceOf(path: string, start = 0): Promise<ByteSource> {
  if (!path.endsWith(".zst")) return fileSource(path, start);
  const source = await zstdSource(path);
  return {
    close: source.close,
    read(into, at) {
      try {
        return source.read(into, at);
      } catch (cause) {
        throw new DamagedSource(path, { cause });
      }
    },
  };
}

function toText(bytes: Buffer, from: number, to: number, offset: number): string {
  let start = from;
  let end = to;
  if (offset === 0 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
  while (end > start && bytes[end - 1] === 13) end--;
  if (start >= end) return "";
  // Most lines are ASCII; those decode several times faster as Latin-1, to the same text.
  const text = bytes.toString(isAscii(bytes.subarray(start, end)) ? "latin1" : "utf8", start, end);
  return end - start < 64 && text.trim() === "" ? "" : text;
}

function toRow(text: string): object | undefined {
  try {
    const row: unknown = JSON.parse(text);
    return typeof row === "object" && row !== null && !Array.isArray(row) ? row : undefined;
  } catch {
    return undefined; // counted by the caller
  }
}

const HEAD = 3840;
const BEFORE = 256;

/** What a file looked like up to `offset`: hashes of its first bytes and of those right before the offset. */
function markOf(fd: number, offset: number): { mark: string; bytes: number } {
  if (fstatSync(fd).size < offset) return { mark: "cut", bytes: 0 };
  const head = Math.min(offset, HEAD);
  const before = Math.min(offset - head, BEFORE);
  return { mark: `${head}:${hashOf(fd, 0, head)}:${hashOf(fd, offset - before, before)}`, bytes: head + before };
}

function packedMark(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    return `${size}:${hashOf(fd, 0, Math.min(size, HEAD))}`;
  } finally {
    closeSync(fd);
  }
}

function hashOf(fd: number, position: number, length: number): string {
  if (length === 0) return "";
  const bytes = Buffer.alloc(length);
  const count = readSync(fd, bytes, 0, length, position);
  return createHash("sha1").update(bytes.subarray(0, count)).digest("base64url").slice(0, 16);
}

function isTailState(state: Json): state is { parser: Json; bad: number } {
  return typeof state === "object" && state !== null && "parser" in state && "bad" in state;
}
