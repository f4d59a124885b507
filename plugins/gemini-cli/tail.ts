/** Tailing a file whose records are edited in place: it is read again when it changed, and compared with what was told before. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Cursor, Json, SessionEvent, SessionSummary, Tail } from "sessarc";

export interface Reading {
  events: SessionEvent[];
  summary: SessionSummary;
}

/**
 * Events after `cursor.seq` when all earlier ones are still the same, else all of them with `restarted`.
 * An unchanged file (size and time) is not opened. Otherwise the cost is one full read.
 */
export async function tailRevised(
  path: string,
  cursor: Cursor | undefined,
  read: () => Promise<Reading>,
): Promise<Tail> {
  const { size, mtimeMs } = await stat(path);
  const head = `${size}-${mtimeMs}`;
  const past = cursor ? stateOf(cursor.state) : undefined;
  if (cursor && past && cursor.head === head) {
    return { events: [], cursor, summary: past.summary, restarted: false, bytesRead: 0 };
  }
  const { events, summary } = await read();
  const seq = cursor?.seq ?? 0;
  const goesOn = cursor === undefined || (seq <= events.length && past?.digest === digestOf(events.slice(0, seq)));
  const state: Json = { digest: digestOf(events), summary: JSON.parse(JSON.stringify(summary)) };
  return {
    events: goesOn ? events.slice(seq) : events,
    cursor: { offset: size, head, seq: events.length, state },
    summary,
    restarted: !goesOn,
    bytesRead: size,
  };
}

function digestOf(events: readonly SessionEvent[]): string {
  const hash = createHash("sha1");
  for (const event of events) hash.update(JSON.stringify(event)).update("\n");
  return hash.digest("base64url");
}

function stateOf(state: Json): { digest: string; summary: SessionSummary } | undefined {
  return isState(state) ? state : undefined;
}

function isState(state: unknown): state is { digest: string; summary: SessionSummary } {
  return typeof state === "object" && state !== null && "digest" in state && "summary" in state;
}
