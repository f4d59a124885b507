/** The tokens of a log without its messages: only lines with usage, and of those only what stands around the content. */

import { isRecord, type JsonRecord, type SessionRef } from "sessarc";
import { scanLines, toRows, type UsageSummary } from "sessarc/adapter";
import { createParser } from "./parse.ts";
import { CONVERSATION as KEY_OF_CONVERSATION, REPEATED as START_OF_REPEATED } from "./rows.ts";

const USAGE = Buffer.from('"usage"');
/** The client's running total counts too. */
const TOTAL = Buffer.from('"cost-state"');
const REPEATED = Buffer.from(START_OF_REPEATED);
const CONVERSATION = Buffer.from(KEY_OF_CONVERSATION);
const MESSAGE = Buffer.from('"message":{');
const CONTENT = Buffer.from('"content":[');
const AFTER = Buffer.from('],"stop_reason"');
/** A record up to its message's content, with no brace or bracket in between: what is cut out is the message's own content then. */
const BEFORE = /^\{[^{}[\]]*"message":\{[^{}[\]]*$/;

/** Equal to the full read: a line that does not look as expected is parsed whole. */
export async function readUsage(ref: SessionRef): Promise<UsageSummary | undefined> {
  const parser = createParser(ref);
  const place = { offset: 0, length: 0 };
  await scanLines(ref.path, (bytes, start, end, offset, isEnded) => {
    const line = bytes.subarray(start, end);
    if (line.subarray(0, REPEATED.length).equals(REPEATED) && !line.includes(CONVERSATION)) return;
    // A key of an object: inside a string its quotes would be escaped.
    const usage = line.indexOf(USAGE);
    if (usage < 0 && !line.includes(TOTAL)) return;
    const short = usage < 0 ? undefined : withoutContent(line, usage);
    for (const { row, from, to } of short ? [{ row: short, from: 0, to: line.length }] : toRows(line, isEnded)) {
      place.offset = offset + from;
      place.length = to - from;
      parser.row(row, place);
    }
  });
  const summary = parser.finish();
  // A reply without a time counts when the session ended, which other lines tell.
  if (summary.replies?.some((reply) => reply.at === undefined)) return undefined;
  return { usage: summary.usage, replies: summary.replies, evidence: summary.evidence, parent: summary.parent };
}

function withoutContent(line: Buffer, usage: number): unknown {
  const start = line.indexOf(CONTENT);
  const end = line.lastIndexOf(AFTER);
  // The one usage must be behind the content, else part of what counts would be cut out.
  if (start < 0 || end < start || usage < end) return undefined;
  const before = line.toString("utf8", 0, start);
  // A second message: after a kill two records are on one line.
  if (!BEFORE.test(before) || line.indexOf(MESSAGE, start) >= 0) return undefined;
  return parse(`${before}"content":[${line.toString("utf8", end)}`);
}

function parse(text: string): JsonRecord | undefined {
  try {
    const row: unknown = JSON.parse(text);
    return isRecord(row) ? row : undefined;
  } catch {
    return undefined;
  }
}
