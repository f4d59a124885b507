/** Databases, and files that are rewritten in place: read whole, or followed by reading the one session again when its version moved. */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Adapter, AdapterDefinition, AdapterEnv, EventBatches, OpenEvents, OpenLog } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import type { SessionEvent, SessionRef, SessionSummary } from "../session/session.ts";
import type { Cursor, Tail } from "../session/tail.ts";
import { sqliteVersion } from "../storage/sqlite-file.ts";
import { BoundedMap } from "../utils/bounded.ts";
import { isRecord } from "../utils/json.ts";

/** Events of a batch. Rows come without waiting: after each batch others get their turn. */
const BATCH = 256;
/** Summaries kept, so that an unchanged session is not read for its summary alone. */
const KEEP = 32;

type Definition = Required<Pick<AdapterDefinition, "open">> & Pick<AdapterDefinition, "token">;

type OpenReader = Pick<Adapter, "read" | "readMany" | "tail">;

export function createOpenReader({ open, token = ({ path }) => sqliteVersion(path) }: Definition): OpenReader {
  const summaries = new BoundedMap<string, { token: string; version: string; summary: SessionSummary }>(KEEP);

  async function follow(ref: SessionRef, cursor: Cursor | undefined, env: AdapterEnv): Promise<Tail> {
    const id = `${ref.path}\n${ref.key}`;
    const past = toState(cursor);
    const known = summaries.get(id);
    const now = await token(ref, env);
    const nothing = (summary: SessionSummary, version: string): Tail => {
      const at = { offset: 0, head: cursor?.head ?? "", seq: cursor?.seq ?? 0, state: { token: now, version } };
      return { events: [], cursor: at, summary, restarted: false, bytesRead: 0 };
    };
    if (past && known && past.token === now && known.token === now && past.version === known.version)
      return nothing(known.summary, known.version);
    const log = await open(ref.path, env);
    try {
      const version = (await log.version(ref)) ?? missing(ref);
      if (past?.version === version && known?.version === version) {
        summaries.set(id, { ...known, token: now });
        return nothing(known.summary, version);
      }
      let bytes = 0;
      const read = () => log.read(ref, (count) => (bytes += count));
      const fresh = await collect(ref, read, cursor && past ? cursor : undefined, cursor !== undefined);
      summaries.set(id, { token: now, version, summary: fresh.summary });
      return {
        events: fresh.events,
        cursor: { offset: 0, head: fresh.head, seq: fresh.seq, state: { token: now, version } },
        summary: fresh.summary,
        restarted: cursor !== undefined && !fresh.continued,
        bytesRead: bytes,
      };
    } finally {
      await log.close?.();
    }
  }

  return {
    async *read(ref, env) {
      const log = await open(ref.path, env);
      try {
        return yield* numbered(log, ref);
      } finally {
        await log.close?.();
      }
    },
    async *readMany(refs, env) {
      // Opened with the first session that is read: a log that cannot be opened fails its own sessions alone.
      let opening: Promise<OpenLog> | undefined;
      async function* readShared(ref: SessionRef): EventBatches<SessionSummary> {
        opening ??= Promise.resolve(open(ref.path, env));
        return yield* numbered(await opening, ref);
      }
      try {
        for (const ref of refs) yield [ref, readShared(ref)];
      } finally {
        const [opened] = await Promise.allSettled(opening ? [opening] : []);
        if (opened?.status === "fulfilled") await opened.value.close?.();
      }
    },
    async *tail(ref, cursor, env) {
      const { events, ...end } = await follow(ref, cursor, env);
      if (events.length > 0) yield events;
      return end;
    },
  };
}

function missing(ref: SessionRef): never {
  throw new SessarcError("SOURCE_MISSING", { id: `${ref.tool}:${ref.key}` });
}

async function* numbered(log: OpenLog, ref: SessionRef): EventBatches<SessionSummary> {
  const events = log.read(ref, () => {});
  let batch: SessionEvent[] = [];
  try {
    for (let seq = 0; ; seq++) {
      const step = await events.next();
      if (step.done) {
        if (batch.length > 0) yield batch;
        return step.value ?? missing(ref);
      }
      const { open: _, ...event } = step.value;
      batch.push({ seq, ...event });
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
      await nextTurn();
    }
  } finally {
    await events.return(undefined as never);
  }
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
 * that is still being written is left for later: sending it now would mean sending everything again.
 */
async function collect(
  ref: SessionRef,
  read: () => OpenEvents,
  cursor: Cursor | undefined,
  wait: boolean,
): Promise<Collected> {
  const hash = createHash("sha1");
  const events: SessionEvent[] = [];
  const reader = read();
  let seq = 0;
  let continued = cursor?.seq === 0;
  let waiting = false;
  for (;;) {
    const step = await reader.next();
    if (step.done) {
      if (cursor && !continued) return collect(ref, read, undefined, wait);
      return {
        events,
        seq,
        head: hash.digest("base64url"),
        continued: cursor !== undefined,
        summary: step.value ?? missing(ref),
      };
    }
    const { open, ...event } = step.value;
    // Text that grows is sent when it is whole; a call that runs is sent at once, its result later.
    if (wait && open && event.kind !== "tool_use") waiting = true;
    if (waiting) continue;
    const one: SessionEvent = { seq, ...event };
    hash.update(JSON.stringify(one)).update("\n");
    seq++;
    if (!cursor || continued) events.push(one);
    else if (seq === cursor.seq) {
      continued = hash.copy().digest("base64url") === cursor.head;
      if (!continued) {
        await reader.return(undefined as never);
        return collect(ref, read, undefined, wait);
      }
    }
    if (wait && open) waiting = true;
  }
}

function toState(cursor: Cursor | undefined): { token: string; version: string } | undefined {
  const state = cursor?.state;
  if (!isRecord(state)) return undefined;
  const { token, version } = state;
  return typeof token === "string" && typeof version === "string" ? { token, version } : undefined;
}
