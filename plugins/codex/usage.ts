/** The tokens of a rollout without its messages: only the lines that say who, with which model and how many. */

import { isRecord, type SessionRef } from "sessarc";
import { type LineParser, scanLines, toRows, type UsageSummary } from "sessarc/adapter";
import { createParser } from "./parse.ts";

const LINES = ["session_meta", "turn_context", "token_count", "token_usage_record", "thread_settings_applied"].map(
  (name) => Buffer.from(`"${name}"`),
);

/**
 * Equal to the full read. Undefined for a rollout that copies its parent's history: the end of the copy follows from the times of all
 * its lines.
 */
export async function readUsage(ref: SessionRef): Promise<UsageSummary | undefined> {
  const parser: LineParser = createParser({});
  const place = { offset: 0, length: 0 };
  let id: unknown;
  let plain = true;
  const take = (row: unknown) => {
    // The first line is the head; old rollouts, whose head is bare, are for the full read.
    const isHead = isRecord(row) && row.type === "session_meta";
    if (id === undefined) id = isHead && isRecord(row.payload) ? (row.payload.id ?? null) : null;
    plain &&= id !== null && (!isHead || isPlain(row.payload, id));
    if (plain && isRecord(row)) parser.row(row, place);
  };
  await scanLines(ref.path, (bytes, start, end, offset, isEnded) => {
    const line = bytes.subarray(start, end);
    if (!plain || (id !== undefined && !LINES.some((name) => line.includes(name)))) return;
    const rows = toRows(line, isEnded);
    if (rows.length === 0 && id === undefined) plain = false;
    for (const { row, from, to } of rows) {
      place.offset = offset + from;
      place.length = to - from;
      take(row);
    }
  });
  if (!plain || id === undefined) return undefined;
  const { usage, replies, evidence, parent } = parser.finish();
  // A reply without a time counts when the session ended, which other lines tell.
  if (replies?.some((reply) => reply.at === undefined)) return undefined;
  return { usage, replies, evidence, parent };
}

/** A head of this very thread that takes nothing along from another one. */
function isPlain(payload: unknown, id: unknown): boolean {
  if (!isRecord(payload) || payload.id !== id) return false;
  if (payload.forked_from_id !== undefined || payload.subagent_history_start_ordinal !== undefined) return false;
  // A sub-agent may repeat its parent without a word.
  return !isRecord(payload.source) && payload.parent_thread_id === undefined;
}
