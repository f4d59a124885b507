/** Tailing a file whose records are edited in place: it is read again when it changed, and compared with what was told before. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { SessionEvent, SessionSummary } from "../session/session.ts";
import type { Cursor, Tail } from "../session/tail.ts";
import type { Json } from "../utils/json.ts";
import { openRegular } from "../utils/regular.ts";

/** First bytes by which a line log is known again. */
const HEAD = 3840;

export interface Reading {
  events: SessionEvent[];
  summary: SessionSummary;
}

interface State {
  /** Of all events told so far. */
  digest: string;
  /** Size and time at the last read. */
  version: string;
  summary: SessionSummary;
}

/**
 * Events after `cursor.seq` when all earlier ones are still the same, else all of them with `restarted`; so too when a line
 * log was cut or replaced. An unchanged file (size and time) is not opened. Otherwise the cost is one full read.
 */
export async function tailRevised(
  path: string,
  cursor: Cursor | undefined,
  read: () => Promise<Reading>,
): Promise<Tail> {
  const { size, mtimeMs } = await stat(path);
  const version = `${size}-${mtimeMs}`;
  const past = cursor && isState(cursor.state) ? cursor.state : undefined;
  if (cursor && past?.version === version) {
    return { events: [], cursor, summary: past.summary, restarted: false, bytesRead: 0 };
  }
  const { events, summary } = await read();
  // Documents are written anew each time; only a line log has a head that stays.
  const head = path.endsWith(".jsonl") ? await headOf(path, Math.min(size, HEAD)) : "";
  const seq = cursor?.seq ?? 0;
  const same =
    cursor === undefined ||
    (past !== undefined &&
      past.digest === digestOf(events.slice(0, seq)) &&
      (head === "" || cursor.head === head || cursor.head === (await headOf(path, Math.min(cursor.offset, HEAD)))));
  const state: Json = { digest: digestOf(events), version, summary: JSON.parse(JSON.stringify(summary)) };
  return {
    events: same ? events.slice(seq) : events,
    cursor: { offset: size, head, seq: events.length, state },
    summary,
    restarted: !same,
    bytesRead: size,
  };
}

async function headOf(path: string, length: number): Promise<string> {
  const file = await openRegular(path);
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, 0);
    return `${length}:${createHash("sha1").update(bytes.subarray(0, bytesRead)).digest("base64url")}`;
  } finally {
    await file.close();
  }
}

function digestOf(events: readonly SessionEvent[]): string {
  const hash = createHash("sha1");
  for (const event of events) hash.update(JSON.stringify(event)).update("\n");
  return `${events.length}:${hash.digest("base64url")}`;
}

function isState(state: unknown): state is State {
  return typeof state === "object" && state !== null && "digest" in state && "version" in state && "summary" in state;
}
