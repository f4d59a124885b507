/**
 * The part of an import that runs in the pool: read sessions, count what happens in them, write their transcripts.
 * Everything that crosses the thread is plain data.
 */
import { statSync } from "node:fs";
import {
  type Adapter,
  type AdapterEnv,
  type AdapterFolders,
  type AdapterPlugin,
  createTranscripts,
  isSessarcError,
  type SessionEvent,
  type SessionRef,
  type SessionSummary,
  type TailEnd,
  type TranscriptOptions,
  type TranscriptPart,
  type Transcripts,
  withFolders,
} from "sessarc";
import { signatureOf } from "../search/signature.ts";
import type { SessionFacts } from "../types.ts";
import { collectFacts } from "./facts.ts";
import { type PackedReplies, packReplies } from "./replies.ts";

export interface ImportJob {
  /** Module of the adapter's factory and its options; unused when the adapter is handed over directly. */
  adapter: AdapterSource | null;
  env: AdapterEnv;
  store: TranscriptOptions;
  sessions: JobSession[];
  /** One integer that both threads see: once it is not 0, nothing is begun and what is being read is given up. */
  stop: SharedArrayBuffer;
}

export interface AdapterSource {
  specifier: string;
  options?: unknown;
  /** Places it reads beside or instead of its own. */
  folders?: AdapterFolders | undefined;
}

export interface JobSession {
  id: string;
  ref: SessionRef;
  /** Of the part to write. */
  generation: number;
  /** What is stored already, when the log may have grown. */
  past: StoredSession | null;
}

export interface StoredSession {
  cursorGeneration: number;
  messageCount: number;
  facts: SessionFacts;
  /** Last parts of the transcript that go into the new part, so that there are never many. */
  fold: TranscriptPart[];
}

export interface ImportedSession {
  id: string;
  summary: Omit<SessionSummary, "replies" | "slots">;
  facts: SessionFacts;
  firstPrompt: string | null;
  activeMs: number;
  errorCount: number;
  messageCount: number;
  startedAt: string | null;
  endedAt: string | null;
  part: TranscriptPart | null;
  /** How many of the stored session's last parts `part` holds too. */
  folded: number;
  replies: PackedReplies | null;
  /** True when this is what was added to the stored session, and not all of it. */
  appended: boolean;
  /** A cursor was stored under the part's generation. */
  hasCursor: boolean;
  /** Bytes of the log that were read. */
  bytesRead: number;
  /** Birth time of the log in ms: the older of two copies owns what both hold. */
  born: number;
}

export type JobResult =
  | { ok: true; session: ImportedSession }
  | { ok: false; id: string; code: string; message: string };

/** Longest text kept of one message, in UTF-16 units; the rest is cut and marked. */
export const TEXT_CAP = 16 * 1024 * 1024;

/** Entry of the pool task: loads the adapter (once per worker) and imports the job's sessions. One bad session fails alone. */
export async function importSessions(job: ImportJob): Promise<JobResult[]> {
  if (!job.adapter) throw new TypeError("an import job in the pool needs its adapter's module");
  return runJob(job, await loadAdapter(job.adapter), openStore(job.store));
}

/** The same with the adapter and transcripts at hand. Resolves when all that was written is on disk. */
export async function runJob(job: ImportJob, adapter: Adapter, transcripts: Transcripts): Promise<JobResult[]> {
  const results: Pending[] = [];
  const stop = new Int32Array(job.stop);
  for (const sessions of groupByPath(job.sessions)) {
    if (adapter.readMany && sessions.length > 1) await readShared(job, adapter, transcripts, sessions, results);
    else {
      for (const session of sessions) {
        results.push(
          await begin(session.id, async () => {
            checkStop(stop);
            return importOne(session, adapter, await open(session, adapter, job.env, transcripts), transcripts, stop);
          }),
        );
      }
    }
  }
  const finished = await Promise.all(results.map((pending) => pending.result));
  await transcripts.settle();
  return finished;
}

function groupByPath(sessions: ImportJob["sessions"]): Iterable<ImportJob["sessions"]> {
  const groups = new Map<string, ImportJob["sessions"]>();
  for (const session of sessions) {
    const group = groups.get(session.ref.path);
    if (group) group.push(session);
    else groups.set(session.ref.path, [session]);
  }
  return groups.values();
}

async function readShared(
  job: ImportJob,
  adapter: Adapter,
  transcripts: Transcripts,
  sessions: ImportJob["sessions"],
  results: Pending[],
): Promise<void> {
  const byKey = new Map(sessions.map((session) => [session.ref.key, session]));
  const refs = sessions.map((session) => session.ref);
  const stop = new Int32Array(job.stop);
  try {
    checkStop(stop);
    for await (const [ref, events] of adapter.readMany?.(refs, job.env) ?? []) {
      const session = byKey.get(ref.key);
      if (!session) continue;
      byKey.delete(ref.key);
      results.push(
        await begin(session.id, () =>
          importOne(session, adapter, { batches: inBatches(events), past: null }, transcripts, stop),
        ),
      );
      checkStop(stop);
    }
  } catch (error) {
    for (const { id } of byKey.values()) results.push({ result: Promise.resolve(failure(id, error)) });
    return;
  }
  for (const { id, ref } of byKey.values()) {
    const message = `${id} is no longer in ${ref.path}`;
    results.push({ result: Promise.resolve({ ok: false, id, code: "SOURCE_MISSING", message }) });
  }
}

/** A session that was read; its transcript may still be on its way to the disk while the next one is read. */
interface Pending {
  result: Promise<JobResult>;
}

type Batches = AsyncGenerator<SessionEvent[], SessionSummary | TailEnd>;
interface Source {
  batches: Batches;
  /** The stored session that `batches` goes on from. */
  past: JobSession["past"];
}

/** The cheapest way to what is new: from the stored cursor, else the whole log in batches, else event by event. */
async function open(session: JobSession, adapter: Adapter, env: AdapterEnv, transcripts: Transcripts): Promise<Source> {
  const { past, ref } = session;
  if (adapter.tailBatches) {
    const cursor = past ? await transcripts.readCursor(session.id, past.cursorGeneration) : undefined;
    const usable = past !== null && cursor?.seq === past.messageCount;
    return { batches: adapter.tailBatches(ref, usable ? cursor : undefined, env), past: usable ? past : null };
  }
  return { batches: adapter.readBatches?.(ref, env) ?? inBatches(adapter.read(ref, env)), past: null };
}

async function* inBatches(events: AsyncGenerator<SessionEvent, SessionSummary>): Batches {
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
    yield [step.value];
  }
}

async function importOne(
  session: JobSession,
  adapter: Adapter,
  { batches, past }: Source,
  transcripts: Transcripts,
  stop: Int32Array,
): Promise<{ written: Promise<ImportedSession> }> {
  const begin = (firstSeq: number, facts?: SessionFacts) => ({
    facts: collectFacts(adapter.tools, facts),
    writer: transcripts.writer(session.id, session.generation, { firstSeq, sidecar: signatureOf }),
    /** Messages of the log that were added. */
    count: 0,
  });
  let appended = past !== null;
  let target = begin(past?.fold[0]?.firstSeq ?? past?.messageCount ?? 0, past?.facts);
  if (past && past.fold.length > 0) {
    for await (const events of transcripts.events(session.id, past.fold))
      for (const event of events) target.writer.add(event);
  }
  let step = await batches.next();
  for (; !step.done; step = await batches.next()) {
    if (Atomics.load(stop, 0) !== 0) {
      await batches.return(undefined as never);
      throw new Stopped(); // a part is written whole at its end: nothing of this one is on disk
    }
    if (appended && target.count === 0 && step.value[0]?.seq === 0) {
      appended = false; // the log was replaced: this is all of it
      target = begin(0);
    }
    for (const event of step.value) {
      if (event.text.length > TEXT_CAP) {
        event.text = event.text.slice(0, TEXT_CAP);
        event.truncated = true;
      }
      target.facts.add(event);
      target.writer.add(event);
      target.count++;
    }
  }
  const end = "cursor" in step.value ? step.value : undefined;
  if (end?.restarted && appended) {
    appended = false;
    target = begin(0);
  }
  const { facts, writer } = target;
  const { replies, slots, ...summary } = end ? end.summary : (step.value as SessionSummary);
  const cursor = end && isInUse(summary.endedAt ?? facts.lastAt, session.ref) ? end.cursor : undefined;
  const imported: Omit<ImportedSession, "part"> = {
    id: session.id,
    summary,
    facts: facts.finish(slots),
    firstPrompt: facts.firstPrompt,
    activeMs: facts.activeMs,
    errorCount: facts.errorCount,
    messageCount: target.count,
    startedAt: summary.startedAt ?? facts.firstAt,
    endedAt: summary.endedAt ?? facts.lastAt,
    replies: packReplies(session.ref.tool, replies ?? []),
    appended,
    folded: appended ? (past?.fold.length ?? 0) : 0,
    hasCursor: cursor !== undefined,
    bytesRead: end?.bytesRead ?? session.ref.size ?? 0,
    born: session.ref.born ?? birthOf(session.ref),
  };
  const kept = cursor && transcripts.writeCursor(session.id, session.generation, cursor);
  const part = writer.finish();
  return { written: Promise.all([part, kept]).then(([written]) => ({ ...imported, part: written ?? null })) };
}

/** A conversation of the last week may go on: its cursor is kept, so that only the new part is read then. */
const IN_USE_MS = 7 * 86_400_000;

function isInUse(endedAt: string | null | undefined, ref: SessionRef): boolean {
  const last = endedAt ? Date.parse(endedAt) : (ref.mtime ?? 0);
  return Date.now() - last < IN_USE_MS;
}

function birthOf(ref: SessionRef): number {
  const stat = statSync(ref.path, { throwIfNoEntry: false });
  return stat?.birthtimeMs || ref.mtime || 0;
}

async function begin(id: string, read: () => Promise<{ written: Promise<ImportedSession> }>): Promise<Pending> {
  try {
    const { written } = await read();
    const result = written.then(
      (session): JobResult => ({ ok: true, session }),
      (error) => failure(id, error),
    );
    result.catch(() => {}); // awaited with the others at the end of the job
    return { result };
  } catch (error) {
    return { result: Promise.resolve(failure(id, error)) };
  }
}

/** Code of what was given up because the import was cancelled: not a failure. */
export const CANCELLED = "CANCELLED";

class Stopped extends Error {}

function checkStop(stop: Int32Array): void {
  if (Atomics.load(stop, 0) !== 0) throw new Stopped();
}

/** The reason in words for the user. A full or read-only disk is not the session's fault and ends the run: it is thrown on. */
function failure(id: string, error: unknown): JobResult {
  if (error instanceof Stopped) return { ok: false, id, code: CANCELLED, message: "The import was cancelled" };
  if (isSessarcError(error)) {
    if (error.code === "STORAGE_FULL" || error.code === "STORAGE_READ_ONLY") throw error;
    return { ok: false, id, code: error.code, message: error.message };
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === "ENOENT") return { ok: false, id, code: "SOURCE_MISSING", message: "The log is gone" };
  if (code === "EACCES" || code === "EPERM")
    return { ok: false, id, code: "SOURCE_UNREADABLE", message: "The log may not be read" };
  return { ok: false, id, code: "SOURCE_DAMAGED", message: error instanceof Error ? error.message : String(error) };
}

const adapters = new Map<string, Promise<Adapter>>();
const stores = new Map<string, Transcripts>();

function loadAdapter(source: AdapterSource): Promise<Adapter> {
  const name = JSON.stringify(source);
  let adapter = adapters.get(name);
  if (!adapter) {
    adapter = import(source.specifier).then((module: { default: (options?: unknown) => AdapterPlugin }) => {
      const { adapter: own } = module.default(source.options);
      return source.folders ? withFolders(own, source.folders) : own;
    });
    adapters.set(name, adapter);
  }
  return adapter;
}

function openStore(store: TranscriptOptions): Transcripts {
  const name = JSON.stringify(store);
  let opened = stores.get(name);
  if (!opened) {
    opened = createTranscripts(store);
    stores.set(name, opened);
  }
  return opened;
}
