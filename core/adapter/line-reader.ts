/** From bytes to events: rows are parsed one by one, what cannot be read is counted. */
import { isAscii } from "node:buffer";
import { closeSync, existsSync, readSync } from "node:fs";
import type { LineParser, NewEvent } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import { EVENT_KINDS, type SessionEvent, type SessionSummary, unknownKind } from "../session/session.ts";
import { toMessage } from "../utils/async.ts";
import { splitRows } from "../utils/joined-rows.ts";
import { type ByteSource, fileSource, isPacked, type LineCutter, zstdSource } from "../utils/jsonl.ts";
import { openRegularSync } from "../utils/regular.ts";

/** `mtime` as in `SessionRef`: without it, a log never rests. */
export type LogFile = { path: string; mtime?: number | undefined };

/** After this long nothing that waits in a log will still be taken up. */
const REST_MS = 3_600_000;

interface Reader {
  events: SessionEvent[];
  seq: number;
  bad: number;
  pending: boolean;
  /** Bytes at the end of the log that are not a whole row yet. */
  left: number;
  line(bytes: Buffer, from: number, to: number, offset: number): void;
  /** Takes the bytes behind the last newline, when they are a whole row. */
  last(cutter: LineCutter): void;
  /** Adds what follows the last row, where the log rests. */
  end(log: LogFile): void;
  summary(tooLong: number): SessionSummary;
}

/** `path` is named when the parser fails. */
export function createReader(parser: LineParser, path: string): Reader {
  const place = { offset: 0, length: 0 };
  const skipped = (parser.skip ?? []).map((start) => Buffer.from(start));
  const kept = parser.skipUnless === undefined ? undefined : Buffer.from(parser.skipUnless);
  const push = ({ open: _, ...event }: NewEvent) => {
    if (!KINDS.has(event.kind)) throw new TypeError(unknownKind(event.kind));
    reader.events.push({ seq: reader.seq++, ...event });
  };
  const take = (row: object, offset: number, length: number) => {
    place.offset = offset;
    place.length = length;
    try {
      const made = parser.row(row, place);
      if (!made) return;
      if (Array.isArray(made)) for (const event of made) push(event);
      else push(made);
    } catch (cause) {
      const where = { path, place: toPlace(path, offset), reason: toMessage(cause) };
      throw new SessarcError("ADAPTER_FAILED", where, { cause });
    }
  };
  /** Takes the rows of a line that is not one; what is lost before the last of them is counted. Returns the bytes that follow it. */
  const joined = (line: Buffer, offset: number, isEnded: boolean): number => {
    const { rows, lost, rest } = splitRows(line, isEnded);
    for (const { row, from, to } of rows) take(row, offset + from, to - from);
    if (lost || (isEnded && rest < line.length)) reader.bad++;
    return line.length - rest;
  };
  let restsAt: number | undefined;
  const reader: Reader = {
    events: [],
    seq: 0,
    bad: 0,
    pending: false,
    left: 0,
    line(bytes, from, to, offset) {
      if (skipped.some((start) => startsWith(bytes, start, from, to))) {
        if (!kept || !bytes.subarray(from, to).includes(kept)) return;
      }
      const text = toText(bytes, from, to, offset);
      if (text === "") return;
      const row = toRow(text);
      if (row) take(row, offset, to - from);
      else if (row === null) reader.bad++;
      else joined(bytes.subarray(from, to), offset, true);
    },
    last(cutter) {
      // Of the last reading, where the log stayed open.
      reader.pending = false;
      reader.left = 0;
      const rest = cutter.rest();
      if (!rest) return;
      const text = rest.whole ? toText(rest.bytes, rest.from, rest.to, rest.offset) : "";
      if (rest.whole && text === "") return;
      // A whole object cannot be the start of a longer row, so it may be taken before its newline is there.
      const row = text.trimEnd().endsWith("}") ? toRow(text) : undefined;
      if (row) take(row, rest.offset, rest.to - rest.from);
      else {
        if (rest.whole) reader.left = joined(rest.bytes.subarray(rest.from, rest.to), rest.offset, false);
        reader.pending = !rest.whole || reader.left > 0;
      }
    },
    end({ mtime }) {
      restsAt = undefined;
      const waiting = (mtime !== undefined && parser.end?.()) || [];
      if (mtime === undefined || waiting.length === 0) return;
      if (Date.now() - mtime < REST_MS) restsAt = mtime + REST_MS;
      else for (const event of waiting) push(event);
    },
    summary(tooLong) {
      const summary = parser.finish();
      const lines = reader.bad + tooLong + (summary.skipped?.lines ?? 0);
      const unread = { lines, unknown: summary.skipped?.unknown ?? {} };
      const whole = restsAt === undefined ? summary : { ...summary, restsAt };
      return { ...whole, skipped: reader.pending ? { ...unread, pending: 1 } : unread };
    },
  };
  return reader;
}

/** Whether the bytes from `from` to `to` begin with `start`. */
const startsWith = (bytes: Buffer, start: Buffer, from: number, to: number): boolean =>
  to - from >= start.length && bytes.compare(start, 0, start.length, from, from + start.length) === 0;

const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS);

/** Which line of the log begins at `offset`; counted only when a row failed. Offsets of compressed logs are those of their content. */
function toPlace(path: string, offset: number): string {
  if (isPacked(path) || !existsSync(path)) return `byte ${offset} of its content`;
  const fd = openRegularSync(path);
  try {
    const bytes = Buffer.alloc(1 << 16);
    let line = 1;
    for (let at = 0; at < offset; at += bytes.length) {
      const count = readSync(fd, bytes, 0, Math.min(bytes.length, offset - at), at);
      for (let i = bytes.indexOf(10); i >= 0 && i < count; i = bytes.indexOf(10, i + 1)) line++;
    }
    return `line ${line}`;
  } finally {
    closeSync(fd);
  }
}

/** One chunk. Damaged compressed data ends the log there and counts as one bad line. */
export function advance(cutter: LineCutter, reader: Reader): boolean {
  try {
    return cutter.next(reader.line);
  } catch (error) {
    if (!(error instanceof DamagedSource)) throw error;
    reader.bad++;
    return false;
  }
}

class DamagedSource extends Error {}

export async function readSource(path: string): Promise<ByteSource> {
  if (!isPacked(path)) return fileSource(path);
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

export function toText(bytes: Buffer, from: number, to: number, offset: number): string {
  let start = from;
  let end = to;
  if (offset === 0 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
  while (end > start && bytes[end - 1] === 13) end--;
  if (start >= end) return "";
  // Most lines are ASCII; those decode several times faster as Latin-1, to the same text.
  const text = bytes.toString(isAscii(bytes.subarray(start, end)) ? "latin1" : "utf8", start, end);
  return end - start < 64 && text.trim() === "" ? "" : text;
}

/** The row; null for JSON of another kind, undefined for what is not JSON. */
function toRow(text: string): object | null | undefined {
  try {
    const row: unknown = JSON.parse(text);
    return typeof row === "object" && !Array.isArray(row) ? row : null;
  } catch {
    return undefined; // counted by the caller
  }
}
