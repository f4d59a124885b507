/** A JSON-lines log, read once from its start to its end. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventBatches, LineParser, LogLine } from "../contract/adapter.ts";
import type { SessionSummary } from "../session/session.ts";
import { createCutter } from "../utils/jsonl.ts";
import { advance, createReader, type LogFile, readSource } from "./line-reader.ts";

/**
 * Events in batches of about 1 MiB of log, then the summary. Bad and over-long lines are counted, a half-written last
 * line is `pending`. Blocks for one chunk at a time (a few ms); memory is one chunk and its events.
 */
export async function* readLog(ref: LogFile, parser: LineParser): EventBatches<SessionSummary> {
  const cutter = createCutter(await readSource(ref.path));
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
    reader.end(ref);
    if (reader.events.length > 0) yield reader.events;
    return reader.summary(cutter.tooLong);
  } finally {
    cutter.close();
  }
}

/** The same of lines that the caller has. Blocks for one batch of lines. */
export async function* readGiven(
  log: LogFile,
  parser: LineParser,
  batches: AsyncIterable<readonly LogLine[]>,
): EventBatches<SessionSummary> {
  const reader = createReader(parser, log.path);
  for await (const lines of batches) {
    for (const { text, offset } of lines) {
      const bytes = Buffer.from(text);
      reader.line(bytes, 0, bytes.length, offset);
    }
    if (reader.events.length === 0) continue;
    yield reader.events;
    reader.events = [];
  }
  reader.end(log);
  if (reader.events.length > 0) yield reader.events;
  return reader.summary(0);
}

/** Lines that could not be read, and 1 where the last line is half-written. */
export interface SkippedRows {
  lines: number;
  pending?: number;
}

/** Gives each row of a JSON-lines file to `take`: for logs whose later rows change what earlier ones said. Memory is one chunk. */
export async function readRows(path: string, take: (row: unknown) => void): Promise<SkippedRows> {
  const rows = readLog(
    { path },
    {
      row(row) {
        take(row);
        return undefined;
      },
      finish: () => ({ usage: {} }),
    },
  );
  for (;;) {
    const step = await rows.next();
    if (!step.done) continue;
    const { lines = 0, pending } = step.value.skipped ?? { unknown: {} };
    return pending === undefined ? { lines } : { lines, pending };
  }
}
