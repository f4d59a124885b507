/** JSON-lines logs that grow: the parser stays where its last row was. Events are numbered as in one reading of the whole log. */
import { closeSync, fstatSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventBatches, LineParser } from "../contract/adapter.ts";
import type { Cursor, Tail, TailEnd } from "../session/tail.ts";
import type { MaybePromise } from "../utils/async.ts";
import { createCutter, fileSource, isPacked } from "../utils/jsonl.ts";
import { openRegularSync } from "../utils/regular.ts";
import { isGrown, packedMark, toMark } from "./file-mark.ts";
import { advance, createReader, type LogFile, readSource } from "./line-reader.ts";

type MakeParser<Ref> = (ref: Ref) => MaybePromise<LineParser>;

/** A parser with what it has read. It goes on from the cursor of its last reading alone. */
class OpenLog {
  /** Where the last reading ended; -1 during a reading, and after one that was given up. */
  offset = 0;
  readonly #ref: LogFile;
  readonly #parser: LineParser;
  readonly reader: ReturnType<typeof createReader>;

  private constructor(ref: LogFile, parser: LineParser) {
    this.#ref = ref;
    this.#parser = parser;
    this.reader = createReader(parser, ref.path);
  }

  static async of<Ref extends LogFile>(ref: Ref, makeParser: MakeParser<Ref>): Promise<OpenLog> {
    // The parser sees the title and folder that the last scan found: `at` renews them.
    const own = { ...ref };
    return new OpenLog(own, await makeParser(own));
  }

  static async at(cursor: Cursor | undefined, ref: LogFile): Promise<OpenLog | undefined> {
    const log = cursor?.state;
    if (!(log instanceof OpenLog) || log.offset !== cursor?.offset || log.reader.seq !== cursor.seq) return undefined;
    Object.assign(log.#ref, ref);
    await log.#parser.refresh?.();
    return log;
  }
}

/**
 * What was added since `cursor` (none: everything), in batches of about 1 MiB of log. Reads the bytes after the cursor and at most 4 KB
 * before it, to see that it is still the same file; one that was replaced or cut is read from the start (`restarted`), and so is a log whose
 * cursor is not that of its last reading. Compressed logs are read whole when they changed; what they said before is not repeated.
 */
export async function* tailLog<Ref extends LogFile>(
  ref: Ref,
  cursor: Cursor | undefined,
  makeParser: MakeParser<Ref>,
): EventBatches<TailEnd> {
  if (isPacked(ref.path)) {
    const { events, ...end } = await tailPacked(ref, cursor, makeParser);
    if (events.length > 0) yield events;
    return end;
  }
  const fd = openRegularSync(ref.path);
  let close = () => closeSync(fd);
  try {
    const before = cursor ? toMark(fd, cursor.offset) : { mark: "", bytes: 0 };
    // A log that was cut while it was read has no mark.
    const known = before.mark !== "" && before.mark === cursor?.head ? await OpenLog.at(cursor, ref) : undefined;
    const log = known ?? (await OpenLog.of(ref, makeParser));
    const { reader } = log;
    const start = log.offset;
    log.offset = -1;
    const cutter = createCutter(fileSource(fd, start), start);
    close = cutter.close;
    let first: { offset: number; mark: string } | undefined;
    while (advance(cutter, reader)) {
      const read = start + cutter.bytesRead;
      // The end is read in the same turn: a log that is cut and written again in between would be half of either.
      if (read >= fstatSync(fd).size) continue;
      first ??= { offset: read, mark: toMark(fd, read).mark };
      if (reader.events.length > 0) {
        yield reader.events;
        reader.events = [];
      }
      await nextTurn();
    }
    reader.last(cutter);
    const isSame = first === undefined || toMark(fd, first.offset).mark === first.mark;
    // An unfinished row is read again next time; a finished one that only lacks its newline is not.
    const offset = start + cutter.bytesRead - reader.left;
    // Before anyone else has a turn: what is written then is not what was read.
    const after = known && start === offset ? { ...before, bytes: 0 } : toMark(fd, offset);
    const { seq } = reader;
    reader.end(ref);
    // What follows the last row is no row's: once such a log grows, it is read from its start.
    const isEnded = reader.seq > seq;
    if (reader.events.length > 0) yield reader.events;
    reader.bad += cutter.tooLong;
    reader.events = [];
    log.offset = offset;
    return {
      cursor: { offset, head: isEnded || !isSame ? "" : after.mark, seq: reader.seq, state: log },
      get summary() {
        return reader.summary(0);
      },
      restarted: cursor !== undefined && !known,
      bytesRead: before.bytes + cutter.bytesRead + after.bytes,
    };
  } finally {
    close();
  }
}

/** Bytes in the middle of a compressed log mean nothing: one that changed is read whole, and what was read before is left out of it. */
async function tailPacked<Ref extends LogFile>(
  ref: Ref,
  cursor: Cursor | undefined,
  makeParser: MakeParser<Ref>,
): Promise<Tail> {
  const head = packedMark(ref.path);
  const last = cursor && isGrown(ref.path, cursor.head) ? await OpenLog.at(cursor, ref) : undefined;
  const isSame = last !== undefined && cursor?.head === head;
  const log = isSame ? last : await OpenLog.of(ref, makeParser);
  const { reader } = log;
  let bytesRead = 0;
  if (!isSame) {
    const cutter = createCutter(await readSource(ref.path));
    try {
      while (advance(cutter, reader)) await nextTurn();
      reader.last(cutter);
      reader.bad += cutter.tooLong;
      log.offset = bytesRead = cutter.bytesRead;
    } finally {
      cutter.close();
    }
  }
  const from = last ? (cursor?.seq ?? 0) : 0;
  const events = isSame ? [] : reader.events.filter(({ seq }) => seq >= from);
  reader.events = [];
  return {
    events,
    cursor: { offset: log.offset, head, seq: reader.seq, state: log },
    summary: reader.summary(0),
    restarted: cursor !== undefined && !last,
    bytesRead,
  };
}
