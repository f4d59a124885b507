/** Stores the log of every session after its import, each chunk of it once, and works out whether its assistant lists it. */
import {
  BoundedMap,
  createQueue,
  type DoctorCheck,
  eachInLanes,
  type Kernel,
  type PoolTask,
  pages,
  type Services,
  type SessionRef,
} from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { LogsSetting } from "../config.ts";
import type { States } from "../state/states.ts";
import { readBudget } from "./budget.ts";
import { collect, sweep } from "./collect.ts";
import type { Piece } from "./cut.ts";
import type { CutFile, KeptFile } from "./files.ts";
import {
  type CutJob,
  type CutResult,
  type CutSession,
  cutLogs,
  type PackJob,
  type PackResult,
  packLogs,
  runCut,
  runPack,
} from "./job.ts";
import { PackFolder } from "./packs.ts";
import { rewriteLogs } from "./rewrite.ts";
import { type BehindRow, createLogStore, type LogShares } from "./store.ts";
import { checkPacks } from "./verify.ts";

export interface Keeper {
  /** Stores what is behind, of all sessions or of `ids`. Calls run one after another. */
  run(ids?: readonly string[]): Promise<void>;
  /** A session was imported: its log is stored soon, where a service runs. */
  soon(id: string): void;
  /** The session's files; undefined where none are stored. */
  files(id: string): Promise<KeptFile[] | undefined>;
  /** Bytes of one of them; undefined when a chunk is missing or damaged. */
  read(file: KeptFile): Promise<Buffer | undefined>;
  /** Removes something from stored logs. */
  rewrite(rewrite: Parameters<Services["archive"]["rewrite"]>[0]): Promise<void>;
  /** What is stored within which budget. */
  room(): Promise<StoredLogs>;
  /** Removes what only deleted sessions named. */
  collect(): Promise<void>;
  /** Removes files that no row names. With `all`, every stored log: the answer is how many bytes that gave back. */
  sweep(all: boolean): Promise<number>;
  /** Whether all that is stored can be read. With `fix`, what cannot is stored again from the logs that are there. */
  check(fix: boolean, signal?: AbortSignal): Promise<DoctorCheck>;
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

interface Sums {
  /** What was stored, and which archive, when it was added up. */
  of: string;
  at: number;
  totals: Pick<StoredLogs, "sessions" | "bytes" | "stored">;
  shares: LogShares;
}

const SPECIFIER = "sessarc/plugins/rescue/job";
const CUT_TASK: PoolTask<[CutJob], CutResult[]> = { specifier: SPECIFIER, export: "cutLogs", inline: cutLogs };
const PACK_TASK: PoolTask<[PackJob], PackResult> = { specifier: SPECIFIER, export: "packLogs", inline: packLogs };

const PAGE = 200;
/** Sessions of one job, and bytes of their logs. */
const TOGETHER = 24;
const JOB_BYTES = 32 * 2 ** 20;
/** Chunks looked up at once. */
const PIECES = 5_000;
/** Packs whose bytes are held while a file is read. */
const HELD = 4;
/** How long a session rests before its log is stored: each message would otherwise store a chunk. */
const REST_MS = 15_000;
/** How long what was added up may be shown. */
const FRESH_MS = 60_000;
const IMPORTING_MS = 1_000;

export function createKeeper(kernel: Kernel, states: States): Keeper {
  const { storage } = kernel;
  const store = createLogStore(storage.db);
  const root = storage.path("logs");
  const folder = new PackFolder(root);
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const queue = createQueue();
  let revision = 0;
  const archive = kernel.inject("archive");
  let summed: Sums | undefined;

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
      // A chunk of several logs is packed once: what is new is known when all logs of a round are cut.
      for (const round of pages(jobs, width)) if (!kernel.closing.aborted) await keep(round);
    }
    await shrink();
    await free(false);
  }

  async function free(all: boolean): Promise<void> {
    if (await collect(storage, store, folder, all)) revision++;
  }

  /** What is stored, added up again once that or the archive has changed, and after a minute: each request for the status asks. */
  async function sums(): Promise<Sums> {
    const now = Date.now();
    const of = `${revision} ${archive.generation}`;
    // While an import changes the archive all the time, once a second.
    const freshMs =
      summed?.of === of ? FRESH_MS : kernel.inject("importer").progress.type === "idle" ? 0 : IMPORTING_MS;
    if (summed && now - summed.at < freshMs) return summed;
    const totals = await store.totals();
    summed = { of, at: now, totals, shares: await store.shares(await dying(), totals.stored) };
    return summed;
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
      const chosen: string[] = [];
      for (const row of await store.removable(await dying(), PAGE)) {
        if (over <= 0) break;
        over -= row.stored;
        chosen.push(row.id);
      }
      if (chosen.length === 0) return;
      await storage.db.batch(store.giveUp(chosen));
      revision++;
      await free(true);
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

  /** Stores the logs of some jobs: each is cut, then what is not stored yet is packed, then both are written down together. */
  async function keep(jobs: readonly BehindRow[][]): Promise<void> {
    const now = mode();
    const cut: { row: BehindRow; result: CutResult; fits: boolean }[] = [];
    await eachInLanes(jobs, jobs.length, async (rows) => {
      const fit = await fitting(rows);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const result of await cutJob(rows, fit)) {
        const row = byId.get(result.id);
        if (row) cut.push({ row, result, fits: fit.has(row.id) });
      }
    });
    const { packs, missed } = await packNew(cut);
    const written = cut.filter(
      ({ result }) => !result.files?.some(({ chunks }) => chunks.some((one) => missed.has(one))),
    );
    await storage.db.batch([
      ...packs.flatMap(store.addPack),
      ...written.flatMap(({ row, result: { files, hidden }, fits }) => {
        const known = toKnown(row);
        // What is stored stays when nothing new is to be stored, and when the log cannot be read any more.
        const kept = files?.map(({ cut: _, ...file }) => file) ?? (known.length > 0 ? known : null);
        return store.write(now === "keep" && !fits ? "full" : now, row, hidden, kept);
      }),
      ...store.weigh(written.map(({ row }) => row.id)),
    ]);
    revision++;
    if (cut.some(({ fits }) => fits)) await shrink();
  }

  async function cutJob(rows: readonly BehindRow[], fit: ReadonlySet<string>): Promise<CutResult[]> {
    const sessions: CutSession[] = [];
    const masks = await readMasks(rows);
    for (const row of rows) {
      const except = row.companions === null ? [] : await store.pathsBelow(row.id);
      sessions.push({
        ...{ id: row.id, ref: toRef(row), known: toKnown(row), except, keep: fit.has(row.id) },
        mask: masks?.get(row.id),
      });
    }
    const tool = rows[0]?.tool ?? "";
    return inPool(tool, CUT_TASK, runCut, { ...ofTool(tool), sessions }, []);
  }

  /** Packs of the chunks that are not stored yet, each of them once; `missed`: those whose files changed meanwhile. */
  async function packNew(cut: readonly { row: BehindRow; result: CutResult }[]) {
    const packs: PackResult["packs"] = [];
    const missed = new Set<string>();
    const all = new Set<string>();
    for (const { result } of cut) for (const { hash } of piecesOf(result.files)) all.add(hash);
    const known = new Set<string>();
    for (const page of pages([...all], PIECES)) for (const hash of await store.stored(page)) known.add(hash);
    const isNew = ({ hash }: Piece) => {
      if (known.has(hash)) return false;
      known.add(hash);
      return true;
    };
    const masks = await readMasks(cut.map(({ row }) => row));
    const byTool = new Map<string, PackJob["files"]>();
    for (const { row, result } of cut)
      for (const { path, cut: pieces } of result.files ?? []) {
        const wanted = pieces.filter(isNew);
        if (wanted.length === 0) continue;
        const files = byTool.get(row.tool) ?? [];
        files.push({ ref: toRef(row), path, pieces: wanted, mask: masks?.get(row.id) });
        byTool.set(row.tool, files);
      }
    const jobs = [...byTool].flatMap(([tool, files]) => together(files, sizeOf).map((some) => ({ tool, files: some })));
    await eachInLanes(jobs, kernel.address ? 1 : kernel.pool.size, async ({ tool, files }) => {
      const job = { ...ofTool(tool), folder: root, files };
      const result = await inPool(tool, PACK_TASK, runPack, job, { packs: [], missed: [] });
      packs.push(...result.packs);
      for (const hash of result.missed) missed.add(hash);
    });
    return { packs, missed };
  }

  const readMasks = async (rows: readonly BehindRow[]) => kernel.find("masks")?.of(rows.map(({ id }) => id));

  const ofTool = (tool: string) => {
    const source = kernel.registry.adapterSource(tool);
    return { adapter: source ? { ...source, folders: kernel.registry.folders.get(tool) } : null, env: kernel.env };
  };

  /** `none`: what is answered when the adapter's plugin is not loaded. */
  async function inPool<J extends Pick<CutJob, "adapter">, T>(
    tool: string,
    task: PoolTask<[J], T>,
    here: (job: J, adapter: Adapter) => Promise<T>,
    job: J,
    none: T,
  ): Promise<T> {
    const adapter = kernel.registry.adapters.get(tool);
    if (!adapter) return none;
    return kernel.pool.threaded && job.adapter ? kernel.pool.run(task, job) : here(job, adapter);
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

  async function read(file: KeptFile): Promise<Buffer | undefined> {
    const chunks = new Map((await store.chunks(file)).map((chunk) => [chunk.hash, chunk]));
    const packs = new Map(
      (await store.packs([...new Set([...chunks.values()].map(({ pack }) => pack))])).map((one) => [one.name, one]),
    );
    // Neighbours lie together.
    const held = new BoundedMap<string, Buffer>(HELD);
    const pieces: Buffer[] = [];
    for (const hash of file.chunks) {
      const chunk = chunks.get(hash);
      const pack = chunk && packs.get(chunk.pack);
      const bytes = pack && (held.get(pack.name) ?? (await folder.get(pack)));
      if (!chunk || !pack || !bytes) return undefined;
      held.set(pack.name, bytes);
      pieces.push(bytes.subarray(chunk.at, chunk.at + chunk.bytes));
    }
    const whole = Buffer.concat(pieces);
    return whole.length === file.size ? whole : undefined;
  }

  return {
    get revision() {
      return revision;
    },
    run,
    soon(id) {
      pending.add(id);
      wait(REST_MS);
    },
    files: (id) => store.files(id),
    read,
    rewrite: (rewrite) => queue(() => rewriteLogs(kernel, { store, folder, read }, rewrite).finally(() => revision++)),
    async room() {
      const { totals, shares } = await sums();
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
    // Not in the queue: a repair stores logs, which is.
    check: (fix, signal) => checkPacks(kernel, { store, folder, run }, fix, signal).finally(() => revision++),
    async collect() {
      if (!storage.readOnly) await queue(() => free(true));
    },
    async sweep(all) {
      if (storage.readOnly) return 0;
      return queue(async () => {
        const { stored } = await store.totals();
        if (all) await storage.db.batch(store.forgetFiles());
        await free(true);
        await sweep(store, folder);
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
  const byTool = [...rows].sort((a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0));
  const isRoom = (job: readonly BehindRow[], { tool }: BehindRow) => job[0]?.tool === tool && job.length < TOGETHER;
  return together(byTool, (row) => row.source_bytes, isRoom);
}

/** Neighbours in lists of which each is closed once it has the bytes of a job. `isRoom`: whether one more may join. */
function together<T>(
  all: readonly T[],
  bytesOf: (one: T) => number,
  isRoom: (job: readonly T[], one: T) => boolean = () => true,
): T[][] {
  const jobs: T[][] = [];
  let bytes = 0;
  for (const one of all) {
    const job = jobs.at(-1);
    if (job && bytes < JOB_BYTES && isRoom(job, one)) job.push(one);
    else {
      jobs.push([one]);
      bytes = 0;
    }
    bytes += bytesOf(one);
  }
  return jobs;
}

function toRef(row: Pick<BehindRow, "tool" | "key" | "source_path" | "exclusive" | "companions">): SessionRef {
  const ref: SessionRef = { tool: row.tool, key: row.key, path: row.source_path, exclusive: row.exclusive === 1 };
  if (row.companions !== null) ref.companions = JSON.parse(row.companions) as string[];
  return ref;
}

const toKnown = ({ files }: BehindRow): KeptFile[] => (files === null ? [] : (JSON.parse(files) as KeptFile[]));
const sizeOf = ({ pieces }: PackJob["files"][number]) => pieces.reduce((sum, { from, to }) => sum + to - from, 0);
const piecesOf = (files: readonly CutFile[] | null) => (files ?? []).flatMap(({ cut }) => cut);
