/** Keeps the archive up to date: changed logs are imported automatically. */
import type { Kernel } from "sessarc";
import { createRoots, type Roots, type WatchedRoot } from "./roots.ts";
import { createSilence } from "./silence.ts";

export interface SyncStatus {
  /** `off`: switched off, or nothing was imported yet. */
  mode: "watching" | "polling" | "paused" | "off";
  lastAt: string | null;
  /** When everything is checked next. */
  nextAt: string | null;
  /** Changed paths not imported yet. */
  pending: number;
  roots: WatchedRoot[];
}

export interface Sync {
  status(): SyncStatus;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The user imported, or a session was stored: from the first time on the archive is kept up to date. */
  imported(): void;
  /** `sync` or `autoImport` were switched. */
  configured(): Promise<void>;
  /** Folders of an assistant were added or removed. */
  placesChanged(): Promise<void>;
  close(): Promise<void>;
}

export interface SyncTimes {
  /** Before the first pass: starting up goes first. */
  startMs: number;
  /** Changes are imported after this much quiet … */
  quietMs: number;
  /** … and no later than this, however busy a session is. */
  maxWaitMs: number;
  /** The same two for a path that is reported for the first time: it may be a new session, which is shown at its first line. */
  newQuietMs: number;
  newMs: number;
  rootsMs: number;
  fullMs: number;
  /** A run is followed by a rest of so many times what it took: stores that are slow to list are listed less often. */
  rest: number;
}
const TIMES: SyncTimes = {
  startMs: 1_000,
  quietMs: 400,
  maxWaitMs: 5_000,
  newQuietMs: 150,
  newMs: 500,
  rootsMs: 60_000,
  fullMs: 1_800_000,
  rest: 9,
};
const REST_MAX_MS = 60_000;
/** Processor time of runs that do not wait for the rest to end, between two that do. */
const CREDIT_MS = 3_000;
/** Longer by this after each failure in a row. */
const RETRY_MS = 5_000;
/** With more changed paths than this, everything is checked instead. */
const MANY = 5_000;

export function createSync(kernel: Kernel, times: Partial<SyncTimes> = {}): Sync {
  const { startMs, quietMs, maxWaitMs, newQuietMs, newMs, rootsMs, fullMs, rest: share } = { ...TIMES, ...times };
  /** Both keys may change while the service runs. */
  const isOn = () => (kernel.config.sync || kernel.config.autoImport) && !kernel.storage.readOnly;
  const archive = () => kernel.inject("archive");
  let pending = new Set<string>();
  let full = false;
  /** Of the clock that is never set: the machine's may jump. */
  let since = 0;
  let restUntil = 0;
  /** Paths that were reported before, and that the archive has. Another one may be a new session, which is imported without a rest. */
  const seen = new Set<string>();
  let isNew = false;
  let credit = CREDIT_MS;
  const clock = Date.now() - performance.now();
  let failures = 0;
  let nextFull: number | undefined;
  let roots: Roots | undefined;
  /** Roots that changed without an event are checked whole, as often as the roots themselves. */
  const silence = createSilence();
  let paused = false;
  let closed = false;
  /** The watches are not up yet: changes reported meanwhile are checked with everything else afterwards. */
  let starting = false;
  let timer: NodeJS.Timeout | undefined;
  const timers: NodeJS.Timeout[] = [];
  let running: Promise<void> | undefined;
  let counting: Promise<void> | undefined;
  /** Projects whose repository was read. */
  const counted = new Set<string>();

  function add(paths: readonly string[], told: boolean): void {
    if (closed || paths.length === 0) return;
    if (pending.size === 0 && !full) since = performance.now();
    if (seen.size > MANY) seen.clear();
    for (const path of paths) {
      if (told && !seen.has(path) && credit > 0) isNew = true;
      if (told) seen.add(path);
      pending.add(path);
    }
    if (pending.size > MANY) full = true;
    plan();
  }

  function plan(): void {
    if (closed || paused || running || starting || !isOn() || (pending.size === 0 && !full)) return;
    clearTimeout(timer);
    const now = performance.now();
    const quiet = isNew ? Math.min(newQuietMs, since + newMs - now) : Math.min(quietMs, since + maxWaitMs - now);
    const wait = Math.max(quiet, isNew ? 0 : restUntil - now, 0);
    timer = setTimeout(() => {
      running = run().finally(() => {
        running = undefined;
        plan();
      });
    }, wait);
    timer.unref();
  }

  async function run(): Promise<void> {
    const paths = [...pending];
    const all = full;
    const isEarly = performance.now() < restUntil;
    pending = new Set();
    full = false;
    isNew = false;
    const before = process.cpuUsage();
    /** Logs that the archive did not have: their next change may be the first that shows. */
    const fresh = new Set<string>();
    try {
      const pick = chooser();
      const choose: typeof pick = async (found) => {
        const picked = await pick(found);
        for (const { ref, stored } of picked) if (stored === "not") fresh.add(ref.path);
        return picked;
      };
      const importer = kernel.inject("importer");
      if (all) {
        const report = await importer.run(async (scan) => choose(await scan.found.open()), new Set());
        if (report.cancelled === 0) await importer.wantAll(false);
        nextFull = Date.now() + fullMs;
        counting ??= countCommits().finally(() => {
          counting = undefined;
        });
      } else await importer.runPaths(paths, choose);
      await importer.inSync();
      failures = 0;
    } catch (error) {
      // Tried again after a rest.
      for (const path of paths) pending.add(path);
      full ||= all;
      failures++;
      if (!kernel.closing.aborted) await kernel.notify("listener:failed", error, { hook: "sync" });
    }
    for (const path of fresh) seen.delete(path);
    // Of the processor, not of the clock: a busy machine makes a run long and costs no more.
    const { user, system } = process.cpuUsage(before);
    const spent = (user + system) / 1_000;
    credit = isEarly ? credit - spent : CREDIT_MS;
    const now = performance.now();
    const rest = spent * share + failures * RETRY_MS + (isEarly ? Math.max(0, restUntil - now) : 0);
    restUntil = now + Math.min(rest, REST_MAX_MS);
    if (!closed) await kernel.notify("sync:changed", self.status());
  }

  /** The first read of a repository counts its commits. Done here one by one, so that no request waits for all of them. */
  async function countCommits(): Promise<void> {
    try {
      const { projects, gitOf } = archive();
      for (const project of await projects()) {
        if (closed) return;
        if (counted.has(project.id)) continue;
        counted.add(project.id);
        await gitOf([project]);
      }
    } catch (error) {
      if (!kernel.closing.aborted) await kernel.notify("listener:failed", error, { hook: "sync" });
    }
  }

  /** Picks what is imported without being asked for. */
  function chooser() {
    const { sync, autoImport } = kernel.config;
    // Of a clock that was set back since the start: what is written now looks that much older.
    const setBackMs = Math.max(0, clock - (Date.now() - performance.now()));
    return kernel.inject("importer").automatic({ sync, autoImport, setBackMs });
  }

  function begin(): void {
    if (!isOn() || roots || closed) return;
    roots = createRoots(
      kernel,
      (paths, told) => {
        if (told) silence.hear(paths);
        add(paths, told);
      },
      rootsMs,
    );
    const every = (ms: number, work: () => void) => {
      const interval = setInterval(work, ms);
      interval.unref();
      timers.push(interval);
    };
    const check = async () =>
      roots?.check().catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "sync" }));
    const everything = () => {
      starting = false;
      full = true;
      since = performance.now();
      plan();
    };
    const listen = async () => {
      const { lastScan: scan, away } = kernel.inject("importer");
      if (paused || closed || running || pending.size > 0 || !scan) return;
      const before = silence.roots.size;
      await silence.look(scan, away.isDistribution);
      if (silence.roots.size > 0) everything();
      else if (before > 0) await kernel.notify("sync:changed", self.status());
    };
    nextFull = Date.now() + startMs;
    starting = true;
    const first = setTimeout(() => void check().then(everything), startMs);
    first.unref();
    timers.push(first);
    every(rootsMs, () => {
      check()
        .then(listen)
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "sync" }));
    });
    every(fullMs, everything);
    void kernel.notify("sync:changed", self.status());
  }

  const list = (): WatchedRoot[] =>
    (roots?.list() ?? []).map((root) =>
      silence.roots.has(root.path)
        ? { ...root, polling: { reason: "changes came without an event", recentMs: rootsMs, allMs: rootsMs } }
        : root,
    );

  const self: Sync = {
    status: () => ({
      mode:
        !roots || !isOn() ? "off" : paused ? "paused" : list().some(({ polling }) => polling) ? "polling" : "watching",
      lastAt: kernel.inject("importer").lastSyncAt,
      nextAt: nextFull === undefined || paused ? null : new Date(nextFull).toISOString(),
      pending: pending.size,
      roots: list(),
    }),
    async pause() {
      paused = true;
      clearTimeout(timer);
      await running;
      await kernel.notify("sync:changed", self.status());
    },
    async resume() {
      paused = false;
      plan();
      await kernel.notify("sync:changed", self.status());
    },
    imported: begin,
    async configured() {
      start();
      await kernel.notify("sync:changed", self.status());
    },
    placesChanged: async () => roots?.check(),
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const one of timers) clearTimeout(one);
      await roots?.stop();
      await running;
      await counting;
      // So that the next command need not list all logs.
      if (pending.size === 0) await kernel.inject("importer").storeSync();
    },
  };

  /** Begins where there is something to keep up to date, and goes on with what came while it was off. */
  function start(): void {
    if (!isOn()) return;
    plan();
    if (kernel.config.autoImport) begin();
    else
      void kernel.storage.db
        .get("select 1 from session union all select 1 from import_state limit 1")
        .then((row) => row !== undefined && begin())
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "sync" }));
  }
  start();
  return self;
}
