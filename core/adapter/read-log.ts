/** A JSON-lines log, read once from its start to its end. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { LineParser } from "../contract/adapter.ts";
import type { SessionEvent, SessionSummary } from "../session/session.ts";
import { createCutter } from "../utils/jsonl.ts";
import { advance, createReader, type LogFile, sourceOf } from "./line-reader.ts";

/**
 * Events in batches of about 1 MiB of log, then the summary. Bad and over-long lines are counted, a half-written last
 * line is `pending`. Blocks for one chunk at a time (a few ms); memory is one chunk and its events.
 */
export async function* readEventBatches(
  ref: LogFile,
  parser: LineParser,
): AsyncGenerator<SessionEvent[], SessionSummary> {
  const cutter = createCutter(await sourceOf(ref.path));
  const reader = createReader(parser, ref.path);
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
