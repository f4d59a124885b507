/** JSON-lines logs: read once from start to end, or tailed from a cursor. Both number the same events the same way. */
import { closeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventBatches, LineParser } from "../contract/adapter.ts";
import type { Cursor, Tail, TailEnd } from "../session/tail.ts";
import type { MaybePromise } from "../utils/async.ts";
import type { Json } from "../utils/json.ts";
import { createCutter, fileSource, isPacked } from "../utils/jsonl.ts";
import { openRegularSync } from "../utils/regular.ts";
import { isGrown, markOf, packedMark } from "./file-mark.ts";
import { advance, createReader, type LogFile, sourceOf } from "./line-reader.ts";

type MakeParser = (state?: Json) => MaybePromise<LineParser>;

/**
 * What was added since `cursor` (none: everything), in batches of about 1 MiB of log. Reads the bytes after the cursor and at most 4 KB
 * before it, to see that it is still the same file; one that was replaced or cut is read from the start (`restarted`). Compressed logs are read
 * whole when they changed; what they said before is not repeated.
 */
export async function* tailLog(
  ref: LogFile,
  cursor: Cursor | undefined,
  makeParser: MakeParser,
): EventBatches<TailEnd> {
  if (isPacked(ref.path)) {
    const { events, ...end } = await tailPacked(ref, cursor, makeParser);
    if (events.length > 0) yield events;
    return end;
  }
  const fd = openRegularSync(ref.path);
  let close = () => closeSync(fd);
  try {
    const before = cursor ? markOf(fd, cursor.offset) : { mark: "", bytes: 0 };
    const valid = cursor && before.mark === cursor.head && isTailState(cursor.state) ? cursor : undefined;
    const { reader, parser } = await resume(ref.path, valid, makeParser);
    const start = valid?.offset ?? 0;
    const cutter = createCutter(fileSource(fd, start), start);
    close = cutter.close;
    while (advance(cutter, reader)) {
      if (reader.events.length > 0) {
        yield reader.events;
        reader.events = [];
      }
      await nextTurn();
    }
    reader.last(cutter);
    const { seq } = reader;
    reader.end(ref);
    // What follows the last row is no row's: once such a log grows, it is read from its start.
    const isEnded = reader.seq > seq;
    if (reader.events.length > 0) yield reader.events;
    reader.bad += cutter.tooLong;
    // An unfinished row is read again next time; a finished one that only lacks its newline is not.
    const offset = start + cutter.bytesRead - reader.left;
    const after = valid?.offset === offset ? { ...before, bytes: 0 } : markOf(fd, offset);
    return {
      cursor: {
        offset,
        head: isEnded ? "" : after.mark,
        seq: reader.seq,
        // Created on request: most logs are never read again.
        get state() {
          return { parser: parser.snapshot(), bad: reader.bad };
        },
      },
      summary: reader.summary(0),
      restarted: cursor !== undefined && valid === undefined,
      bytesRead: before.bytes + cutter.bytesRead + after.bytes,
    };
  } finally {
    close();
  }
}

/** Bytes in the middle of a compressed log mean nothing: one that changed is read whole, and what was read before is left out of it. */
async function tailPacked(ref: LogFile, cursor: Cursor | undefined, makeParser: MakeParser): Promise<Tail> {
  const head = packedMark(ref.path);
  const known = cursor && isTailState(cursor.state) && isGrown(ref.path, cursor.head) ? cursor : undefined;
  const isSame = known?.head === head;
  const { reader, parser } = await resume(ref.path, isSame ? known : undefined, makeParser);
  let offset = known?.offset ?? 0;
  let bytesRead = 0;
  if (!isSame) {
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
    events: isSame ? [] : reader.events.filter(({ seq }) => seq >= (known?.seq ?? 0)),
    cursor: { offset, head, seq: reader.seq, state: { parser: parser.snapshot(), bad: reader.bad } },
    summary: reader.summary(0),
    restarted: cursor !== undefined && !known,
    bytesRead,
  };
}

async function resume(path: string, cursor: Cursor | undefined, makeParser: MakeParser) {
  const state = cursor && isTailState(cursor.state) ? cursor.state : undefined;
  const parser = await makeParser(state?.parser);
  return { parser, reader: createReader(parser, path, cursor?.seq ?? 0, state?.bad ?? 0) };
}

function isTailState(state: Json): state is { parser: Json; bad: number } {
  return typeof state === "object" && state !== null && "parser" in state && "bad" in state;
}
