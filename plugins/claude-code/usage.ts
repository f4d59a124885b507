/** The tokens of a log without its messages: only lines with usage, and of those only what stands around the content. */

import type { SessionRef } from "sessarc/adapter";
import type { UsageSummary } from "#internal/adapter";
import { scanLines } from "#internal/adapter";
import { createParser } from "./parse.ts";
import { REPEATED as START_OF_REPEATED } from "./rows.ts";

const USAGE = Buffer.from('"usage"');
/** The client's running total counts too. */
const TOTAL = Buffer.from('"cost-state"');
const REPEATED = Buffer.from(START_OF_REPEATED);
const CONTENT = Buffer.from('"content":[');
const AFTER = Buffer.from('],"stop_reason"');
/** A record up to its message's content, with no brace or bracket in between: what is cut out is the message's own content then. */
const BEFORE = /^\{[^{}[\]]*"message":\{[^{}[\]]*$/;

/** Equal to the full read: a line that does not look as expected is parsed whole. */
export async function readUsage(ref: SessionRef): Promise<UsageSummary | undefined> {
  const parser = createParser(ref);
  const place = { offset: 0, length: 0 };
  await scanLines(ref.path, (bytes, from, to, offset) => {
    const line = bytes.subarray(from, to);
    if (line.subarray(0, REPEATED.length).equals(REPEATED)) return;
    // A key of an object: inside a string its quotes would be escaped.
    const usage = line.indexOf(USAGE);
    if (usage < 0 && !line.includes(TOTAL)) return;
    const row = (usage < 0 ? undefined : withoutContent(line, usage)) ?? whole(line, offset);
    place.offset = offset;
    place.length = to - from;
    if (row !== undefined) parser.row(row, place);
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
  if (!BEFORE.test(before)) return undefined;
  return parse(`${before}"content":[${line.toString("utf8", end)}`);
}

function whole(line: Buffer, offset: number): unknown {
  const start = offset === 0 && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? 3 : 0;
  return parse(line.toString("utf8", start));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
