/** The tokens of a rollout without its messages: only the lines that say who, with which model and how many. */

import { isRecord, type LineParser, type SessionRef } from "sessarc/adapter";
import { scanLines, type UsageSummary } from "#internal/adapter";
import { createParser } from "./parse.ts";

const LINES = ["session_meta", "turn_context", "token_count", "token_usage_record"].map((name) =>
  Buffer.from(`"${name}"`),
);

/**
 * Equal to the full read. Undefined for a rollout that copies its parent's history: the end of the copy follows from the times of all
 * its lines.
 */
export async function readUsage(ref: SessionRef): Promise<UsageSummary | undefined> {
  const parser: LineParser = createParser(undefined);
  const place = { offset: 0, length: 0 };
  let id: unknown;
  let plain = true;
  await scanLines(ref.path, (bytes, from, to, offset) => {
    const line = bytes.subarray(from, to);
    if (!plain || (id !== undefined && !LINES.some((name) => line.includes(name)))) return;
    const row = parse(line.toString("utf8"));
    // The first line is the head; old rollouts, whose head is bare, are for the full read.
    const isHead = isRecord(row) && row.type === "session_meta";
    if (id === undefined) id = isHead && isRecord(row.payload) ? (row.payload.id ?? null) : null;
    plain = id !== null && (!isHead || isPlain(row.payload, id));
    if (!plain || !isRecord(row)) return;
    place.offset = offset;
    place.length = to - from;
    parser.row(row, place);
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
  return payload.forked_from_id === undefined && payload.subagent_history_start_ordinal === undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
