/** One import run: what changed is read in the pool, committed in groups, and told as it goes. */

import {
  createQueue,
  isSessarcError,
  marks,
  mustYield,
  type PoolTask,
  pages,
  SessarcError,
  type Statement,
  yieldNow,
} from "sessarc";
import { readSpace } from "sessarc/files";
import { formatCount } from "sessarc/terminal";
import { isDamage } from "../catalogue/damage.ts";
import { type SessionRow, toParts } from "../catalogue/types.ts";
import { readFacts } from "../figures/read.ts";
import { type FoundLog, toVersion } from "../places/scan.ts";
import { HAS_COPIES, settleCopies } from "./copies.ts";
import { CANCELLED, failure, Stopped } from "./failure.ts";
import { toJobIndexers } from "./indexed.ts";
import { importGrown, importSessions, runJob } from "./job.ts";
import { toJobs, toStored } from "./jobs.ts";
import { type KnownSession, loadPast, type Past, storedTexts } from "./known.ts";
import { HAS_LINKS, settleLinks } from "./lineage.ts";
import { MOST_OPEN, type OpenLogs } from "./open-logs.ts";
import type { ImportFrame, ImportReport } from "./report.ts";
import { COUNTED } from "./rows.ts";
import { Settler } from "./settle.ts";
import { Stage, type StageOptions } from "./stage.ts";
import type { ImportedSession, ImportJob, JobResult, JobSession } from "./types.ts";
import { HAS_WORKTREES, settleWorktrees } from "./worktrees.ts";

interface RunOptions extends Omit<StageOptions, "settler"> {
  /** Logs that stay open in this thread, where reading has no other. */
  openLogs: OpenLogs;
  found: readonly FoundLog[];
  /** Ids asked for by name: they come back even when they were deleted. */
  named: ReadonlySet<string>;
  /** Cancels: what is finished is stored, all else is left as it was. */
  signal: AbortSignal;
  /** Logs are read by their time instead of their size. */
  newestFirst: boolean;
  onFrame(frame: ImportFrame): void;
}

const PROGRESS_MS = 100;
/** What a thread may take to stop when the import is cancelled; then it is ended. */
const PATIENCE_MS = 3_000;

/** A transcript is at most about this part of its log. */
const COMPRESSED = 5;

const MODULE = "sessarc/plugins/archive/job";
const IMPORT_TASK: PoolTask<[ImportJob], JobResult[]> = {
  specifier: MODULE,
  export: "importSessions",
  inline: importSessions,
};
const GROWN_TASK: PoolTask<[ImportJob], JobResult[]> = {
  specifier: MODULE,
  export: "importGrown",
  inline: importGrown,
  keeps: true,
};

/**
 * Imports what is new or changed in `found`. Cost: next to nothing per unchanged session, a look-up by key for each other one, nothing for
 * sessions that are not in `found`; reading happens in the pool; commits are grouped. A session whose log cannot be read fails alone; a full disk ends the run, and what was committed stays.
 * Throws STORAGE_FULL before a batch that would leave the disk less than its reserve.
 */
export async function runImport(options: RunOptions): Promise<ImportReport> {
  const { kernel, onFrame } = options;
  const started = performance.now();
  const { db } = kernel.storage;
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
  const open = withoutUnchanged(options, report);
  const past = await loadPast(
    db,
    open.map((one) => one.id),
  );
  const { known, deleted } = past;
  const changed: FoundLog[] = [];
  const moved: FoundLog[] = [];
  for (const one of open) {
    if (mustYield()) await yieldNow();
    const row = known.get(one.id);
    // An import by name repairs: a damaged transcript is rebuilt although its log is unchanged.
    if (row && options.named.has(one.id) && (await isDamaged(kernel, row))) row.format = 0;
    if (deleted.has(one.id) && !row && !options.named.has(one.id)) {
      report.skipped++;
      onFrame({ type: "session", id: one.id, outcome: "skipped" });
    } else if (row && row.format === COUNTED && row.source_version === toVersion(one.ref)) {
      report.unchanged++;
      if (row.source_path !== one.ref.path || row.missing) moved.push(one);
    } else changed.push(one);
  }
  // A folder of a hundred thousand logs may have another name.
  for (const some of pages(moved, MOVED)) {
    if (kernel.closing.aborted) break;
    await db.batch(some.map(moveTo));
    options.onCommit(
      [],
      some.map(({ id }) => id),
    );
  }
  // For this run: what a run that failed claimed may not be stored, and a service at rest holds no replies.
  const settler = new Settler(db, kernel.find("audiences"));
  if (changed.length > 0) await new Run(options, past, report, settler).go(changed);
  else await settleAll(options, settler); // what a run that was killed, or a migration, left open
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

/** Moved logs that are written together: some 8 ms. */
const MOVED = 40;
const moveTo = ({ id, ref }: FoundLog): Statement => [
  "update session set source_path = ?, missing = 0 where id = ?",
  [ref.path, id],
];

const OPEN = `select ${HAS_LINKS} as links, ${HAS_COPIES} as copies, ${HAS_WORKTREES} as trees`;

/** Where sessions came from, what they copied there, and the projects of work trees that are gone. One look-up where nothing is open. */
async function settleAll({ kernel, resolver, onCommit }: RunOptions, settler: Settler): Promise<void> {
  const open = await kernel.storage.db.get<{ links: number; copies: number; trees: number }>(OPEN);
  if (open?.links) await settleLinks(kernel, settler, onCommit);
  // A link that was found is compared.
  if (open?.links || open?.copies) await settleCopies(kernel, onCommit);
  if (open?.trees) await settleWorktrees(kernel, resolver, onCommit);
}

/** A session that was already found unchanged is not read again, unless the user named it. */
function withoutUnchanged({ found, named }: RunOptions, report: ImportReport): FoundLog[] {
  const open: FoundLog[] = [];
  for (const one of found) {
    if (one.stored === "same" && !named.has(one.id)) report.unchanged++;
    else open.push(one);
  }
  return open;
}

async function isDamaged({ storage: { transcripts } }: StageOptions["kernel"], known: KnownSession): Promise<boolean> {
  try {
    for (const part of toParts(known)) await transcripts.check(known.id, part);
    return false;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

class Run {
  readonly #options: RunOptions;
  readonly #known: ReadonlyMap<string, KnownSession>;
  readonly #report: ImportReport;
  readonly #started = performance.now();
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  /** Ends threads that do not look at `#stop`. */
  readonly #kill = new AbortController();
  readonly #alone = createQueue();
  readonly #past = new Map<string, SessionRow>();
  /** Logs that go on, of a few that changed: they stay open. Of many that changed it is not known which go on. */
  readonly #grown = new Set<string>();
  readonly #settler: Settler;
  readonly #stage: Stage;
  #done = 0;
  #total = 0;
  #bytesDone = 0;
  #bytesTotal = 0;
  /** Room that logs being read are expected to take. */
  #expected = 0;
  /** Bytes that the disk lacks for the next batch: no further one is read. */
  #lacking = 0;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(options: RunOptions, past: Past, report: ImportReport, settler: Settler) {
    this.#options = options;
    this.#known = past.known;
    this.#report = report;
    this.#settler = settler;
    this.#stage = new Stage({ ...options, settler }, past);
  }

  async go(changed: readonly FoundLog[]): Promise<void> {
    const { kernel, signal } = this.#options;
    const ends = AbortSignal.any([kernel.closing, signal]);
    let timer: NodeJS.Timeout | undefined;
    const halt = () => {
      Atomics.store(this.#stop, 0, 1);
      timer = setTimeout(() => this.#kill.abort(), PATIENCE_MS);
    };
    if (ends.aborted) halt();
    ends.addEventListener("abort", halt, { once: true });
    try {
      await this.#goUntil(ends, changed);
    } finally {
      ends.removeEventListener("abort", halt);
      clearTimeout(timer);
    }
  }

  async #goUntil(ends: AbortSignal, changed: readonly FoundLog[]): Promise<void> {
    const { kernel, onFrame } = this.#options;
    this.#total = changed.length;
    this.#bytesTotal = changed.reduce((sum, one) => sum + (one.ref.size ?? 0), 0);
    this.#progress(null);
    // Those that someone writes are stored first.
    const some = changed.filter((one) => this.#isGrown(one));
    if (some.length <= MOST_OPEN) for (const { id } of some) this.#grown.add(id);
    const others = changed.filter(({ id }) => !this.#grown.has(id));
    const jobs = [
      ...toJobs(this.#grown.size > 0 ? some : [], true),
      ...toJobs(others, this.#options.newestFirst),
    ].values();
    let storing: Promise<void> = Promise.resolve();
    // Each lane reads its next job while the results of the last are being stored; storing itself is one at a time. Not a queue: nothing is
    // stored after a failure.
    const lane = async () => {
      for (const job of jobs) {
        if (ends.aborted || this.#lacking > 0) return; // what is committed stays; the rest is new at the next run
        const room = this.#roomFor(job);
        this.#expected += room;
        if (!(await this.#hasRoom())) return;
        onFrame({ type: "reading", ids: job.map((one) => one.id) });
        const results = await this.#read(job);
        storing = storing.then(() => this.#store(job, results));
        await storing;
        this.#expected -= room;
      }
    };
    const lanes = Array.from({ length: kernel.pool.threaded ? kernel.pool.size * 2 + 1 : 1 }, lane);
    const outcomes = await Promise.allSettled(lanes);
    await this.#stage.commit();
    await settleAll(this.#options, this.#settler);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    if (this.#lacking > 0) {
      const { imported } = this.#report;
      const done = imported > 0 ? `${formatCount(imported)} sessions` : undefined;
      throw new SessarcError("STORAGE_FULL", { needed: this.#lacking, done });
    }
    this.#report.cancelled = this.#total - this.#done;
    await this.#nameProjects();
  }

  #isGrown({ id, adapter, ref }: FoundLog): boolean {
    return this.#known.has(id) && adapter.appends(ref);
  }

  /** What reading these logs takes of the disk at most, nearly. */
  #roomFor(job: readonly FoundLog[]): number {
    // Transcripts may be stored elsewhere.
    if (this.#options.kernel.config.storage.driver !== undefined) return 0;
    let bytes = 0;
    for (const { id, ref } of job) {
      const known = this.#known.get(id);
      const before = known && this.#options.opened.of(id, known.generation) ? known.source_bytes : 0;
      bytes += Math.max(0, (ref.size ?? 0) - before);
    }
    return Math.ceil(bytes / COMPRESSED);
  }

  async #hasRoom(): Promise<boolean> {
    const { free, reserve } = await readSpace(this.#options.kernel.storage.dataDir);
    this.#lacking = Math.max(this.#lacking, reserve + this.#expected - free);
    return this.#lacking <= 0;
  }

  async #read(found: readonly FoundLog[]): Promise<JobResult[]> {
    const { kernel } = this.#options;
    const adapter = (found[0] as FoundLog).adapter;
    const source = kernel.registry.adapterSource(adapter.name);
    const masks = await kernel.find("masks")?.of(found.map(({ id }) => id));
    const isGrown = found.every(({ id }) => this.#grown.has(id));
    const indexers = toJobIndexers(kernel.registry);
    const job: ImportJob = {
      adapter: source
        ? { specifier: source.specifier, options: source.options, folders: kernel.registry.folders.get(adapter.name) }
        : null,
      env: kernel.env,
      store: { dir: kernel.storage.dataDir },
      sessions: await Promise.all(
        found.map(async (one) => ({ ...(await this.#toJobSession(one)), mask: masks?.get(one.id) })),
      ),
      // A command ends before a log grows again.
      indexers: isGrown && kernel.address ? indexers.map((indexer) => ({ ...indexer, later: false })) : indexers,
      stop: this.#stop.buffer,
    };
    const inPool = kernel.pool.threaded && source !== undefined && kernel.config.storage.driver === undefined;
    const task = isGrown ? GROWN_TASK : IMPORT_TASK;
    if (inPool) return this.#readInPool(job, { ...task, signal: this.#kill.signal });
    return runJob(job, adapter, kernel.storage.transcripts, isGrown ? this.#options.openLogs : undefined);
  }

  /** A thread that ends takes the jobs of others along: each is retried once alone, then its sessions fail. */
  async #readInPool(job: ImportJob, task: PoolTask<[ImportJob], JobResult[]>): Promise<JobResult[]> {
    const { pool } = this.#options.kernel;
    const isEnded = (error: unknown) => isSessarcError(error) && error.code === "WORKER_ENDED";
    const all = (error: unknown) => job.sessions.map(({ id }) => failure(id, error));
    try {
      return await pool.run(task, job).catch((error: unknown) => {
        if (!isEnded(error)) throw error;
        return this.#alone(() => pool.run(task, job));
      });
    } catch (error) {
      if (this.#kill.signal.aborted) return all(new Stopped());
      if (isEnded(error)) return all(error);
      throw error;
    }
  }

  /** What is stored of a log that is open goes along, so that only what was added is read. */
  async #toJobSession({ id, ref }: FoundLog): Promise<JobSession> {
    const known = this.#known.get(id);
    const { kernel, opened } = this.#options;
    const { db } = kernel.storage;
    const stored = known ? storedTexts(known, ref) : [];
    const session: JobSession = { id, ref, generation: this.#stage.generationOf(id), past: null, stored };
    const open = known && this.#grown.has(id) ? opened.of(id, known.generation) : undefined;
    const row = known?.row;
    if (!known || !open || !row || known.format < COUNTED)
      return row?.remembered ? { ...session, ref: { ...ref, remembered: JSON.parse(row.remembered) } } : session;
    const facts = open.isSame ? undefined : await readFacts(db, id);
    this.#past.set(id, row);
    session.past = toStored(row, facts, known.earlier);
    return session;
  }

  async #store(found: readonly FoundLog[], results: readonly JobResult[]): Promise<void> {
    const byId = new Map(found.map((one) => [one.id, one]));
    for (const result of results) {
      // Jobs that wait come without a turn of the event loop between them.
      if (mustYield()) await yieldNow();
      const one = byId.get(result.ok ? result.session.id : result.id);
      if (!one || (!result.ok && result.code === CANCELLED)) continue;
      this.#done++;
      this.#bytesDone += one.ref.size ?? 0;
      if (result.ok) {
        await this.#stageOne(one, result.session);
        this.#options.onFrame({ type: "session", id: one.id, outcome: "imported" });
      } else {
        const { id, code, message } = result;
        this.#report.failed.push({ id, code, message });
        this.#options.onFrame({ type: "session", id, outcome: "failed", code, message });
      }
    }
    if (this.#stage.full) await this.#stage.commit();
    this.#progress(found.at(-1)?.id ?? null);
  }

  async #stageOne(found: FoundLog, session: ImportedSession): Promise<void> {
    const past = session.appended ? (this.#past.get(session.id) ?? null) : null;
    this.#past.delete(session.id);
    await this.#stage.add(found, session, past);
    this.#report.imported++;
    this.#report.messages += session.messageCount;
    this.#report.bytes += session.bytesRead;
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
    const { touched } = this.#stage;
    const rows: { id: string; name: string }[] = [];
    for (const ids of pages([...touched.keys()]))
      rows.push(
        ...(await this.#options.kernel.storage.db.all<{ id: string; name: string }>(
          `select id, coalesce(name, derived_name) as name from project where id in (${marks(ids)})`,
          ids,
        )),
      );
    this.#report.projects = rows
      .map((row) => ({ ...row, sessions: touched.get(row.id) ?? 0 }))
      .sort((a, b) => b.sessions - a.sessions);
  }
}
