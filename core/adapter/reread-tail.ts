/** Tailing a store whose rows are edited in place: the one session is read again when its version moved, and only news are told. */
import { createHash } from "node:crypto";
import type { SessionEvent, SessionSummary } from "../session/session.ts";
import type { Cursor, Tail } from "../session/tail.ts";
import { BoundedMap } from "../utils/bounded.ts";

/** An event before the reader numbers it. `open`: the assistant may still rewrite it, so a tail waits for it. */
export type Draft = Omit<SessionEvent, "seq"> & { open?: true };

/** One session, opened. */
export interface OpenSession {
  version: string;
  read(): AsyncGenerator<Draft, SessionSummary>;
  /** Bytes of log text read so far. */
  bytes(): number;
  close(): void | Promise<void>;
}

export interface Rereader {
  /** Identity of the session within this process. */
  id: string;
  /** Cheap token of the whole store: equal means nothing changed anywhere in it. */
  token(): Promise<string>;
  open(): Promise<OpenSession>;
}

/** Summaries kept, so that an unchanged session is not read for its summary alone. */
const KEEP = 32;

export function createRereadTail(): (source: Rereader, cursor: Cursor | undefined) => Promise<Tail> {
  const summaries = new BoundedMap<string, { token: string; version: string; summary: SessionSummary }>(KEEP);

  return async (source, cursor) => {
    const past = stateOf(cursor);
    const known = summaries.get(source.id);
    const token = await source.token();
    const nothing = (summary: SessionSummary, version: string): Tail => {
      const at = { offset: 0, head: cursor?.head ?? "", seq: cursor?.seq ?? 0, state: { token, version } };
      return { events: [], cursor: at, summary, restarted: false, bytesRead: 0 };
    };
    if (past && known && past.token === token && known.token === token && past.version === known.version) {
      return nothing(known.summary, known.version);
    }
    const session = await source.open();
    try {
      const { version } = session;
      if (past?.version === version && known?.version === version) {
        summaries.set(source.id, { ...known, token });
        return nothing(known.summary, version);
      }
      const fresh = await collect(session, cursor && past ? cursor : undefined, cursor !== undefined);
      summaries.set(source.id, { token, version, summary: fresh.summary });
      return {
        events: fresh.events,
        cursor: { offset: 0, head: fresh.head, seq: fresh.seq, state: { token, version } },
        summary: fresh.summary,
        restarted: cursor !== undefined && !fresh.continued,
        bytesRead: session.bytes(),
      };
    } finally {
      await session.close();
    }
  };
}

interface Collected {
  events: SessionEvent[];
  seq: number;
  /** Hash of all events before `seq`. */
  head: string;
  continued: boolean;
  summary: SessionSummary;
}

/**
 * Events from the cursor on, when all before it are what they were; else all. While following (`wait`), what comes after a part
 * that is still being written is left for later: telling it now would mean telling everything again.
 */
async function collect(session: OpenSession, cursor: Cursor | undefined, wait: boolean): Promise<Collected> {
  const hash = createHash("sha1");
  const events: SessionEvent[] = [];
  const reader = session.read();
  let seq = 0;
  let continued = cursor?.seq === 0;
  let waiting = false;
  for (;;) {
    const step = await reader.next();
    if (step.done) {
      if (cursor && !continued) return collect(session, undefined, wait);
      return { events, seq, head: hash.digest("base64url"), continued: cursor !== undefined, summary: step.value };
    }
    const { open, ...event } = step.value;
    // Text that grows is told when it stands; a call that runs is told at once, its result later.
    if (wait && open && event.kind !== "tool_use") waiting = true;
    if (waiting) continue;
    const numbered: SessionEvent = { seq, ...event };
    hash.update(JSON.stringify(numbered)).update("\n");
    seq++;
    if (!cursor || continued) events.push(numbered);
    else if (seq === cursor.seq) {
      continued = hash.copy().digest("base64url") === cursor.head;
      if (!continued) {
        await reader.return(step.value as never);
        return collect(session, undefined, wait);
      }
    }
    if (wait && open) waiting = true;
  }
}

function stateOf(cursor: Cursor | undefined): { token: string; version: string } | undefined {
  const state = cursor?.state;
  if (typeof state !== "object" || state === null || Array.isArray(state)) return undefined;
  const { token, version } = state;
  return typeof token === "string" && typeof version === "string" ? { token, version } : undefined;
}
