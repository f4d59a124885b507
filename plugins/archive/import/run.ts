/** One import run: what changed is read in the pool, committed in groups, and told as it goes. */
import type { Database, Kernel, PoolTask, SessionRef, Statement, TranscriptPart } from "sessarc";
import type { ProjectResolver } from "../projects.ts";
import { partsOf, type SessionRow } from "../types.ts";
import { Claims } from "./claims.ts";
import {
  CANCELLED,
  type ImportedSession,
  type ImportJob,
  importSessions,
  type JobResult,
  type JobSession,
  runJob,
} from "./job.ts";
import { withoutKnown } from "./replies.ts";
import { disown, disownAgain, disownStored, upsert, upsertReplies } from "./rows.ts";
import { type Found, versionOf } from "./scan.ts";

export type Outcome = "imported" | "unchanged" | "skipped" | "failed";

export interface Progress {
  type: "progress";
  done: number;
  total: number;
  bytes: number;
  bytesTotal: number;
  /** Bytes a second. */
  rate: number;
  etaMs: number | null;
  current: string | null;
}
/** Before anything is known of a run. */
export const NO_PROGRESS: Progress = {
  type: "progress",
  done: 0,
  total: 0,
  bytes: 0,
  bytesTotal: 0,
  rate: 0,
  etaMs: null,
  current: null,
};
export type ImportFrame =
  | Progress
  /** A worker takes these next. */
  | { type: "reading"; ids: string[] }
  /** `code` and `message` say why one failed. */
  | { type: "session"; id: string; outcome: Outcome; code?: string; message?: string };

export interface ImportReport {
  imported: number;
  unchanged: number;
  skipped: number;
  failed: { id: string; code: string; message: string }[];
  /** Not begun, or given up half-way, because the run was cancelled: new or changed still. */
  cancelled: number;
  messages: number;
  bytes: number;
  ms: number;
  projects: { id: string; name: string; sessions: number }[];
}

export interface RunOptions {
  kernel: Kernel;
  resolver: ProjectResolver;
  found: readonly Found[];
  /** Ids asked for by name: they come back even when they were deleted. */
  named: ReadonlySet<string>;
  /** Cancels: what is finished is stored, all else is left as it was. */
  signal: AbortSignal;
  onFrame(frame: ImportFrame): void;
  /** Told after each committed group. */
  onCommit(ids: readonly string[]): void;
}

interface Known {
  id: string;
  source_path: string;
  source_version: string;
  generation: number;
  parts: string;
  missing: number;
  has_cursor: number;
}

/** Logs handed to a worker at once: enough that messages between threads do not count. */
const JOB_BYTES = 1 << 20;
const JOB_SESSIONS = 24;
/** A store is opened for each job anew, which may mean a copy of all of it: so many jobs for one at most. */
const STORE_JOBS = 8;
/** Sessions committed together: one fsync, and a batch small enough that no request waits. */
const GROUP = 48;
const PROGRESS_MS = 100;
/** A transcript of this many parts is made of fewer at its next change. */
const MAX_PARTS = 12;
/** Parts up to this many times as large as all after them are folded into one with those. */
const FOLD_RATIO = 4;

const IMPORT_TASK: PoolTask<[ImportJob], JobResult[]> = {
  specifier: "sessarc/plugins/archive/job",
  export: "importSessions",
  inline: importSessions,
};

/**
 * Imports what is new or changed in `found`. Cost: one catalogue query and a comparison per unchanged session; reading happens in the
 * pool; commits are grouped. A session whose log cannot be read fails alone; a full disk ends the run, and what was committed stays.
 */
export async function runImport(options: RunOptions): Promise<ImportReport> {
  const { kernel, found, onFrame } = options;
  const started = performance.now();
  const { db } = kernel.storage;
  const known = new Map(
    (
      await db.all<Known>("select id, source_path, source_version, generation, parts, missing, has_cursor from session")
    ).map((row) => [row.id, row]),
  );
  const deleted = new Set(
    (await db.all<{ session_id: string }>("select session_id from tombstone")).map((row) => row.session_id),
  );
  const report: ImportReport = {
    imported: 0,
    unchanged: 0,
    skipped: 0,
    failed: [],
    cancelled: 0,
    messages: 0,
    bytes: 0,
    ms: 0,
    projects: [],
  };
  const changed: Found[] = [];
  const moved: Statement[] = [];
  for (const one of found) {
    const row = known.get(one.id);
    if (deleted.has(one.id) && !row && !options.named.has(one.id)) {
      report.skipped++;
      onFrame({ type: "session", id: one.id, outcome: "skipped" });
    } else if (row && row.source_version === versionOf(one.ref)) {
      report.unchanged++;
      if (row.source_path !== one.ref.path || row.missing) {
        moved.push(["update session set source_path = ?, missing = 0 where id = ?", [one.ref.path, one.id]]);
      }
    } else changed.push(one);
  }
  if (moved.length > 0) await db.batch(moved);
  if (changed.length > 0) await new Run(options, known, report).go(changed);
  report.ms = Math.round(performance.now() - started);
  onFrame({
    type: "progress",
    done: changed.length - report.cancelled,
    total: changed.length,
    bytes: report.bytes,
    bytesTotal: report.bytes,
    rate: 0,
    etaMs: 0,
    current: null,
  });
  return report;
}

class Run {
  readonly #options: RunOptions;
  readonly #known: ReadonlyMap<string, Known>;
  readonly #report: ImportReport;
  readonly #started = performance.now();
  readonly #touched = new Map<string, number>();
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  #claims: Claims | undefined;
  #statements: Statement[] = [];
  readonly #past = new Map<string, SessionRow>();
  #staged: { id: string; old: number[]; oldCursor: number }[] = [];
  #done = 0;
  #total = 0;
  #bytesDone = 0;
  #bytesTotal = 0;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(options: RunOptions, known: ReadonlyMap<string, Known>, report: ImportReport) {
    this.#options = options;
    this.#known = known;
    this.#report = report;
  }

  async go(changed: readonly Found[]): Promise<void> {
    const { kernel, signal } = this.#options;
    const ends = AbortSignal.any([kernel.closing, signal]);
    const halt = () => Atomics.store(this.#stop, 0, 1);
    if (ends.aborted) halt();
    ends.addEventListener("abort", halt, { once: true });
    try {
      await this.#goUntil(ends, changed);
    } finally {
      ends.removeEventListener("abort", halt);
    }
  }

  async #goUntil(ends: AbortSignal, changed: readonly Found[]): Promise<void> {
    const { kernel, onFrame } = this.#options;
    this.#total = changed.length;
    this.#bytesTotal = changed.reduce((sum, one) => sum + (one.ref.size ?? 0), 0);
    this.#claims = await loadClaims(kernel);
    this.#progress(null);
    const jobs = toJobs(changed)[Symbol.iterator]();
    let storing: Promise<void> = Promise.resolve();
    // Each lane reads its next job while the results of the last are being stored; storing itself is one at a time.
    const lane = async () => {
      for (const job of jobs) {
        if (ends.aborted) return; // what is committed stays; the rest is new at the next run
        onFrame({ type: "reading", ids: job.map((one) => one.id) });
        const results = await this.#read(job);
        storing = storing.then(() => this.#store(job, results));
        await storing;
      }
    };
    const lanes = Array.from({ length: kernel.pool.threaded ? kernel.pool.size * 2 + 1 : 1 }, lane);
    const outcomes = await Promise.allSettled(lanes);
    await this.#commit();
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    this.#report.cancelled = this.#total - this.#done;
    await this.#nameProjects();
  }

  async #read(found: readonly Found[]): Promise<JobResult[]> {
    const { kernel } = this.#options;
    const adapter = (found[0] as Found).adapter;
    const source = kernel.registry.adapterSource(adapter.name);
    const job: ImportJob = {
      adapter: source
        ? { specifier: source.specifier, options: source.options, folders: kernel.registry.folders.get(adapter.name) }
        : null,
      env: kernel.env,
      store: { dir: kernel.storage.dataDir },
      sessions: await Promise.all(found.map((one) => this.#toJobSession(one))),
      stop: this.#stop.buffer,
    };
    const inPool = kernel.pool.threaded && source !== undefined && kernel.config.storage.driver === undefined;
    return inPool ? kernel.pool.run(IMPORT_TASK, job) : runJob(job, adapter, kernel.storage.transcripts);
  }

  /** What is stored of a log that may only have grown goes along, so that the rest is not read again. */
  async #toJobSession({ id, ref }: Found): Promise<JobSession> {
    const known = this.#known.get(id);
    const generation = (known?.generation ?? 0) + 1;
    const session: JobSession = { id, ref, generation, past: null };
    if (!known?.has_cursor) return session;
    const row = await this.#options.kernel.storage.db.get<SessionRow>("select * from session where id = ?", [id]);
    if (!row) return session;
    this.#past.set(id, row);
    session.past = {
      cursorGeneration: row.has_cursor,
      messageCount: row.message_count,
      facts: JSON.parse(row.facts),
      fold: partsToFold(partsOf(row)),
    };
    return session;
  }

  async #store(found: readonly Found[], results: readonly JobResult[]): Promise<void> {
    const byId = new Map(found.map((one) => [one.id, one]));
    for (const result of results) {
      const one = byId.get(result.ok ? result.session.id : result.id);
      if (!one || (!result.ok && result.code === CANCELLED)) continue;
      this.#done++;
      this.#bytesDone += one.ref.size ?? 0;
      if (result.ok) {
        await this.#stage(one, result.session);
        this.#options.onFrame({ type: "session", id: one.id, outcome: "imported" });
      } else {
        const { id, code, message } = result;
        this.#report.failed.push({ id, code, message });
        this.#options.onFrame({ type: "session", id, outcome: "failed", code, message });
      }
    }
    if (this.#staged.length >= GROUP) await this.#commit();
    this.#progress(found.at(-1)?.id ?? null);
  }

  async #stage(found: Found, session: ImportedSession): Promise<void> {
    const { kernel, resolver } = this.#options;
    const { db } = kernel.storage;
    await kernel.hooks.callHook("session:replace", session, found.ref);
    const { adapter, ref } = found;
    const identity = await resolver.identify(adapter, { ...session.summary, cwd: session.summary.cwd ?? ref.cwd });
    const { id: originId, write } = await resolver.resolve(identity);
    const association =
      identity.kind === "virtual"
        ? await db.get<{ project_id: string }>("select project_id from association where virtual_id = ?", [originId])
        : undefined;
    const projectId = association?.project_id ?? originId;
    this.#statements.push(...write);
    const known = this.#known.get(session.id);
    const past = session.appended ? (this.#past.get(session.id) ?? null) : null;
    this.#past.delete(session.id);
    if (past) disownAgain(session);
    if (session.replies) await this.#settle(session, ref, past !== null);
    const generation = (known?.generation ?? 0) + 1;
    this.#statements.push(upsert(session, { found, originId, generation, past }));
    this.#statements.push(["delete from tombstone where session_id = ?", [session.id]]);
    const parts = known ? partsOf(known).map((part) => part.generation) : [];
    const old = past ? parts.slice(parts.length - session.folded) : parts;
    this.#staged.push({ id: session.id, old, oldCursor: known?.has_cursor ?? 0 });
    this.#touched.set(projectId, (this.#touched.get(projectId) ?? 0) + 1);
    this.#report.imported++;
    this.#report.messages += session.messageCount;
    this.#report.bytes += session.bytesRead;
  }

  /** Counts replies that another log holds too at the one that owns them. */
  async #settle(session: ImportedSession, ref: SessionRef, appended: boolean): Promise<void> {
    if (!session.replies || !this.#claims) return;
    const { db } = this.#options.kernel.storage;
    const stored = appended ? await loadPairs(db, session.id) : undefined;
    const replies = stored ? withoutKnown(session.replies, stored) : session.replies;
    if (replies.hashes.length === 0) return;
    const { inherited, taken } = this.#claims.claim({ id: session.id, born: session.born }, replies);
    const moves = inherited.map((index) => ({ index }));
    if (moves.length > 0) disown(session, replies, moves);
    this.#statements.push(upsertReplies(session.id, ref.tool, session.born, replies, stored));
    if (taken.size === 0) return;
    await this.#commit(); // the other one may be among what is staged
    for (const [id, lost] of taken) this.#statements.push(...(await disownStored(db, id, replies, lost)));
  }

  async #commit(): Promise<void> {
    const statements = this.#statements;
    const staged = this.#staged;
    this.#statements = [];
    this.#staged = [];
    if (statements.length === 0) return;
    const { kernel, onCommit } = this.#options;
    await kernel.storage.db.batch(statements);
    for (const { id, old, oldCursor } of staged) {
      if (old.length > 0) await kernel.storage.transcripts.remove(id, old);
      if (oldCursor > 0)
        await kernel.storage.transcripts.removeKey(kernel.storage.transcripts.cursorKeyOf(id, oldCursor));
    }
    const ids = staged.map((one) => one.id);
    onCommit(ids);
    for (const id of ids) await kernel.notify("session:replaced", { id });
  }

  #progress(current: string | null): void {
    const now = performance.now();
    if (now - this.#lastProgress < PROGRESS_MS) return;
    this.#lastProgress = now;
    const seconds = (now - this.#started) / 1000;
    const rate = seconds > 0 ? this.#bytesDone / seconds : 0;
    this.#options.onFrame({
      type: "progress",
      done: this.#done,
      total: this.#total,
      bytes: this.#bytesDone,
      bytesTotal: this.#bytesTotal,
      rate: Math.round(rate),
      etaMs: rate > 0 ? Math.round(((this.#bytesTotal - this.#bytesDone) / rate) * 1000) : null,
      current,
    });
  }

  async #nameProjects(): Promise<void> {
    const rows = await this.#options.kernel.storage.db.all<{ id: string; name: string }>(
      "select id, coalesce(name, derived_name) as name from project",
    );
    this.#report.projects = rows
      .filter((row) => this.#touched.has(row.id))
      .map((row) => ({ ...row, sessions: this.#touched.get(row.id) ?? 0 }))
      .sort((a, b) => b.sessions - a.sessions);
  }
}

/**
 * The last parts of a transcript that are written into one: small ones often, a large one only when what came after it is no longer
 * small beside it. So a message costs a few rewrites over the life of a session, however it grows.
 */
function partsToFold(parts: TranscriptPart[]): TranscriptPart[] {
  if (parts.length < MAX_PARTS) return [];
  let from = parts.length - 1;
  let bytes = parts[from]?.bytes ?? 0;
  for (; from > 0; from--) {
    const before = parts[from - 1]?.bytes ?? 0;
    if (before > FOLD_RATIO * bytes && parts.length - from > 1) break;
    bytes += before;
  }
  return parts.slice(from);
}

/** Groups of sessions one worker reads in a row: one adapter each, a store's sessions together, the largest logs first. */
function* toJobs(changed: readonly Found[]): Generator<Found[]> {
  const large = (one: Found) => (one.ref.size ?? 0) >= JOB_BYTES;
  const ordered = [...changed].sort(
    (a, b) =>
      Number(large(b)) - Number(large(a)) ||
      (large(a) ? (b.ref.size ?? 0) - (a.ref.size ?? 0) : (b.ref.mtime ?? 0) - (a.ref.mtime ?? 0)),
  );
  const counts = new Map<string, number>();
  for (const one of changed) counts.set(groupOf(one), (counts.get(groupOf(one)) ?? 0) + 1);
  const open = new Map<string, { list: Found[]; bytes: number }>();
  for (const one of ordered) {
    const name = groupOf(one);
    const group = open.get(name) ?? { list: [], bytes: 0 };
    open.set(name, group);
    group.list.push(one);
    group.bytes += one.ref.size ?? 0;
    const share = one.adapter.readMany ? Math.ceil((counts.get(name) ?? 0) / STORE_JOBS) : 0;
    if (group.list.length < share) continue;
    if (group.bytes >= JOB_BYTES || group.list.length >= JOB_SESSIONS) {
      open.delete(name);
      yield group.list;
    }
  }
  for (const group of open.values()) yield group.list;
}

const groupOf = ({ adapter, ref }: Found) => (adapter.readMany ? `${adapter.name}\0${ref.path}` : adapter.name);

async function loadClaims(kernel: Kernel): Promise<Claims> {
  const claims = new Claims();
  const rows = await kernel.storage.db.all<{ session_id: string; born: number; hashes: Uint8Array }>(
    "select session_id, born, hashes from session_replies",
  );
  for (const row of rows) claims.load({ id: row.session_id, born: row.born }, toFloats(row.hashes));
  return claims;
}

async function loadPairs(db: Database, id: string): Promise<Float64Array> {
  const row = await db.get<{ hashes: Uint8Array }>("select hashes from session_replies where session_id = ?", [id]);
  return row ? toFloats(row.hashes) : new Float64Array(0);
}

const toFloats = (bytes: Uint8Array) => new Float64Array(Uint8Array.from(bytes).buffer);
