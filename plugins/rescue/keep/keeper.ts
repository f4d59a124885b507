/** Stores the log of every session after its import, in the pool, and works out whether its assistant lists it. */
import { createQueue, eachInLanes, type Kernel, type PoolTask, pages, type SessionRef } from "sessarc";
import type { LogsSetting } from "../config.ts";
import type { States } from "../state/states.ts";
import { readBudget } from "./budget.ts";
import type { KeptFile } from "./files.ts";
import { LogFolder, toOwner } from "./files.ts";
import { type KeepJob, type KeepResult, type KeepSession, keepLogs, runKeep } from "./job.ts";
import { type BehindRow, createLogStore, type LogShares } from "./store.ts";

export interface Keeper {
  /** Stores what is behind, of all sessions or of `ids`. Calls run one after another. */
  run(ids?: readonly string[]): Promise<void>;
  /** A session was imported: its log is stored soon, where a service runs. */
  soon(id: string): void;
  /** The session's files; undefined where none are stored. */
  files(id: string): Promise<KeptFile[] | undefined>;
  /** Bytes of one of them; undefined when a part is missing or damaged. */
  read(file: KeptFile): Promise<Buffer | undefined>;
  /** What is stored within which budget. */
  room(): Promise<StoredLogs>;
  /** Removes the parts of a deleted session. */
  remove(id: string): Promise<void>;
  /** Removes parts that no row names. With `all`, every stored log: the answer is how many bytes that gave back. */
  sweep(all: boolean): Promise<number>;
  readonly folder: LogFolder;
  /** Grows with every change of what is stored. */
  readonly revision: number;
  close(): Promise<void>;
}

export interface StoredLogs extends LogShares {
  setting: LogsSetting;
  sessions: number;
  /** Of the logs, and of what is stored of them. */
  bytes: number;
  stored: number;
  /** Stored bytes at most; null: without a limit, or nothing is stored. */
  budget: number | null;
  /** More is stored than that, and only logs are left that their assistants deleted or will delete within seven days. */
  isOver: boolean;
}

const KEEP_TASK: PoolTask<[KeepJob], KeepResult[]> = {
  specifier: "sessarc/plugins/rescue/job",
  export: "keepLogs",
  inline: keepLogs,
};

const PAGE = 200;
/** Sessions of one job, and bytes of their logs. */
const TOGETHER = 24;
const JOB_BYTES = 32 * 2 ** 20;
/** How long a session rests before its log is stored: each message would otherwise store a part. */
const REST_MS = 15_000;

export function createKeeper(kernel: Kernel, states: States): Keeper {
  const { storage } = kernel;
  const store = createLogStore(storage.db);
  const root = storage.path("logs");
  const folder = new LogFolder(root);
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const queue = createQueue();
  /** Lanes wait for each other: each would remove what the other one removes. */
  const shrinking = createQueue();
  let revision = 0;

  const mode = () => (kernel.config.rescue.logs === "none" ? "none" : "keep");
  const dying = () => states.condition("dying");

  async function work(ids: readonly string[] | undefined): Promise<void> {
    const room = await hasMuchRoom();
    const behind = ids ? await store.behindOf(mode(), room, ids) : await store.behind(mode(), room, await dying());
    for (const some of pages(behind, PAGE)) {
      if (kernel.closing.aborted) return;
      const jobs = toJobs(await store.rowsOf(some));
      // A service works beside its requests; a command has nothing else to do.
      const width = kernel.address ? 1 : kernel.pool.size;
      await eachInLanes(jobs, width, async (rows) => {
        if (!kernel.closing.aborted) await keep(rows);
      });
    }
    await shrinking(shrink);
  }

  /** With a tenth of the budget free, logs that had no room are tried again: with less, each run would store and remove some of them. */
  async function hasMuchRoom(): Promise<boolean> {
    const { stored } = await store.totals();
    const { bytes } = await readBudget(kernel, stored);
    return bytes - stored > bytes / 10;
  }

  /** Bytes left of the budget; less than 0 where more is stored. */
  async function readRoom(): Promise<number> {
    const { stored } = await store.totals();
    return (await readBudget(kernel, stored)).bytes - stored;
  }

  /** Removes the oldest logs that their assistants still have, until the budget is met or none is left. */
  async function shrink(): Promise<void> {
    while (mode() === "keep" && !kernel.closing.aborted) {
      let over = -(await readRoom());
      if (over <= 0) return;
      const chosen: { id: string; files: string }[] = [];
      for (const row of await store.removable(await dying(), PAGE)) {
        if (over <= 0) break;
        over -= row.stored;
        chosen.push(row);
      }
      if (chosen.length === 0) return;
      await storage.db.batch([store.giveUp(chosen.map(({ id }) => id))]);
      revision++;
      for (const { files } of chosen) await folder.remove(toNames(JSON.parse(files) as KeptFile[]));
    }
  }

  /** Which of these logs there is room for: all, while the budget has some; else those that are newer than one that may be removed. */
  async function fitting(rows: readonly BehindRow[]): Promise<ReadonlySet<string>> {
    if (mode() === "none") return new Set();
    if ((await readRoom()) > 0) return new Set(rows.map(({ id }) => id));
    const [oldest] = await store.removable(await dying(), 1);
    const isNewer = (row: BehindRow) => oldest !== undefined && oldest.id !== row.id && oldest.mtime < row.source_mtime;
    const fit = new Set(rows.filter(isNewer).map(({ id }) => id));
    if (oldest === undefined || fit.size === rows.length) return fit;
    // A log that is deleted soon is worth more than one that stays.
    const states = await findDying(rows.map(({ id }) => id));
    for (const id of states) fit.add(id);
    return fit;
  }

  async function findDying(ids: readonly string[]): Promise<string[]> {
    const { sql, params } = await dying();
    const rows = await storage.db.all<{ id: string }>(
      `select id from session where id in (select value from json_each(?)) and ${sql}`,
      [JSON.stringify(ids), ...params],
    );
    return rows.map(({ id }) => id);
  }

  async function keep(rows: readonly BehindRow[]): Promise<void> {
    const tool = rows[0]?.tool ?? "";
    const adapter = kernel.registry.adapters.get(tool);
    if (!adapter) return;
    const source = kernel.registry.adapterSource(tool);
    const fit = await fitting(rows);
    const sessions: KeepSession[] = [];
    for (const row of rows) {
      const except = row.companions === null ? [] : await store.pathsBelow(row.id);
      sessions.push({ id: row.id, ref: toRef(row), known: toKnown(row), except, keep: fit.has(row.id) });
    }
    const job: KeepJob = {
      adapter: source ? { ...source, folders: kernel.registry.folders.get(tool) } : null,
      env: kernel.env,
      folder: root,
      sessions,
    };
    const results =
      kernel.pool.threaded && source ? await kernel.pool.run(KEEP_TASK, job) : await runKeep(job, adapter);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const stale: string[] = [];
    const now = mode();
    const write = results.flatMap((result) => {
      const row = byId.get(result.id);
      if (!row) return [];
      const known = toKnown(row);
      // What is stored stays when nothing new is to be stored, and when the log cannot be read any more.
      const files = result.files ?? (known.length > 0 ? known : null);
      const named = toNames(files ?? []);
      for (const name of toNames(known)) if (!named.has(name)) stale.push(name);
      return [store.write(now === "keep" && !fit.has(row.id) ? "full" : now, row, { ...result, files })];
    });
    await storage.db.batch(write);
    revision++;
    await folder.remove(stale);
    if (fit.size > 0) await shrinking(shrink);
  }

  const run: Keeper["run"] = (ids) => {
    if (storage.readOnly) return Promise.resolve();
    return queue(() => work(ids));
  };

  function wait(ms: number): void {
    if (timer || !kernel.address) return;
    timer = setTimeout(() => {
      timer = undefined;
      const ids = [...pending];
      pending.clear();
      run(ids).catch((error: unknown) => {
        if (!kernel.closing.aborted) void kernel.notify("listener:failed", error, { hook: "rescue" });
      });
    }, ms).unref();
  }

  return {
    folder,
    get revision() {
      return revision;
    },
    run,
    soon(id) {
      pending.add(id);
      wait(REST_MS);
    },
    files: (id) => store.files(id),
    read: (file) => folder.get(file),
    async room() {
      const [totals, shares] = [await store.totals(), await store.shares(await dying())];
      const setting = kernel.config.rescue.logs;
      const budget = setting === "none" ? null : (await readBudget(kernel, totals.stored)).bytes;
      const isOver = budget !== null && totals.stored > budget && shares.removable === 0;
      return {
        setting,
        ...totals,
        budget: budget === null || !Number.isFinite(budget) ? null : Math.floor(budget),
        ...shares,
        isOver,
      };
    },
    async remove(id) {
      const owner = toOwner(id);
      for await (const name of folder.names()) if (name.startsWith(owner)) await folder.remove([name]);
    },
    async sweep(all) {
      if (storage.readOnly) return 0;
      const { stored } = await store.totals();
      return queue(async () => {
        if (all) await store.forgetFiles();
        const named = new Set<string>();
        for (let after = ""; ; ) {
          const rows = await store.page(after, PAGE);
          for (const { files } of rows) for (const name of toNames(JSON.parse(files))) named.add(name);
          const last = rows.at(-1);
          if (!last) break;
          after = last.session;
        }
        for await (const name of folder.names()) if (!named.has(name)) await folder.remove([name]);
        revision++;
        return all ? stored : 0;
      });
    },
    async close() {
      clearTimeout(timer);
      await queue.idle();
    },
  };
}

/** Rows of one assistant together, as many as a job takes. */
function toJobs(rows: readonly BehindRow[]): BehindRow[][] {
  const jobs: BehindRow[][] = [];
  let bytes = 0;
  for (const row of [...rows].sort((a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0))) {
    const job = jobs.at(-1);
    if (job && job[0]?.tool === row.tool && job.length < TOGETHER && bytes < JOB_BYTES) job.push(row);
    else {
      jobs.push([row]);
      bytes = 0;
    }
    bytes += row.source_bytes;
  }
  return jobs;
}

function toRef(row: Pick<BehindRow, "tool" | "key" | "source_path" | "exclusive" | "companions">): SessionRef {
  const ref: SessionRef = { tool: row.tool, key: row.key, path: row.source_path, exclusive: row.exclusive === 1 };
  if (row.companions !== null) ref.companions = JSON.parse(row.companions) as string[];
  return ref;
}

const toKnown = ({ files }: BehindRow): KeptFile[] => (files === null ? [] : (JSON.parse(files) as KeptFile[]));
const toNames = (files: readonly KeptFile[]) => new Set(files.flatMap(({ parts }) => parts.map(({ name }) => name)));
