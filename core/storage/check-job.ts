/**
 * SQLite's own check of the catalogue, in the worker pool: it walks every page in one go, two seconds and more of a large one. The worker
 * reads the same snapshot, block by block, and is handed those that were changed since; nobody waits for it, and what is written
 * meanwhile is no part of it.
 */
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import { Slices } from "../utils/slices.ts";
import type { Pool, PoolTask } from "../workers/pool.ts";
import { createImage, type Image } from "./image.ts";
import { BLOCK, type Changes, type Frozen, leaveSource, PagedFile, type Parts, type Source } from "./paged-file.ts";
import { loadSqlJs } from "./sqljs.ts";

export interface CheckJob {
  /** The snapshot, open already. Undefined: the changes are all of it. */
  source: Source | undefined;
  changes: Changes;
  /** Shared: 1 once nobody waits for the answer. */
  stop: Int32Array;
}

/** Answers what is wrong first, in SQLite's words and with the table's name where it has one; undefined when all is right. */
export async function checkFile({ source, changes, stop }: CheckJob): Promise<string | undefined> {
  const sql = await loadSqlJs();
  const file = new StoppableFile(source ?? new Uint8Array(), stop);
  file.lay(changes);
  const db = new sql.Database(file);
  try {
    return findFault(createImage(sql, file, db));
  } catch (error) {
    throw file.damage ?? error;
  } finally {
    db.close(); // not the file, whose source is its owner's
  }
}

function findFault(image: Image): string | undefined {
  const first = faultIn(image);
  if (first === undefined) return undefined;
  // All at once it looks at the free list and for pages that are nobody's, too, but does not name the table.
  for (const { name } of image.all<{ name: string }>("select name from sqlite_master where type = 'table'", [])) {
    const fault = faultIn(image, name);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return first;
}

function faultIn(image: Image, table?: string): string | undefined {
  const what = table === undefined ? "1" : `'${table.replaceAll("'", "''")}'`;
  try {
    const [row] = image.all<{ integrity_check: string }>(`pragma integrity_check(${what})`, []);
    const said = row?.integrity_check ?? "no answer";
    return said === "ok" ? undefined : said.replace(/^\*{3} in database \w+ \*{3}\n/, "");
  } catch (error) {
    if (isSessarcError(error)) throw error;
    // It looks at what a row holds as well, and reads on where that cannot be told.
    return messageOf(error instanceof Error && error.cause ? error.cause : error);
  }
}

/** SQLite cannot be told to stop: it gets zeros from then on, finds no way on, and what it says is not believed. */
class StoppableFile extends PagedFile {
  readonly #stop: Int32Array;

  constructor(content: Uint8Array | Source, stop: Int32Array) {
    super(content);
    this.#stop = stop;
  }

  override get damage(): SessarcError | undefined {
    return Atomics.load(this.#stop, 0) === 1 ? new SessarcError("SHUTTING_DOWN", {}) : super.damage;
  }

  override subarray(from: number, to: number): Uint8Array {
    return Atomics.load(this.#stop, 0) === 1 ? new Uint8Array(to - from) : super.subarray(from, to);
  }
}

const CHECK_TASK: PoolTask<[CheckJob], string | undefined> = {
  get specifier() {
    return new URL("./dist/check-job.mjs", import.meta.resolve("sessarc/package.json")).href;
  },
  export: "checkFile",
  inline: checkFile,
};

/**
 * Checks the image as it is while `hold` has it; `prepare` runs where nobody else freezes it. Once a signal aborts the worker finds an end at once, and
 * it rejects with that reason. Throws CATALOG_DAMAGED for a block that does not fit its checksum.
 */
export async function checkCatalogue(
  hold: (work: (image: Image) => Promise<Parts>) => Promise<Parts>,
  prepare: <T>(work: () => Promise<T>) => Promise<T>,
  pool: Pool | undefined,
  signals: (AbortSignal | undefined)[],
): Promise<string | undefined> {
  const signal = AbortSignal.any(signals.filter((one) => one !== undefined));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const end = () => void Atomics.store(stop, 0, 1);
  signal.addEventListener("abort", end, { once: true });
  let lent: Source | undefined;
  try {
    signal.throwIfAborted();
    const { source, changes } = await prepare(async () => {
      const { frozen, source, changed } = await hold(async (image) => image.parts());
      try {
        if (source) source.users++;
        lent = source;
        return { source, changes: await copyOf(frozen, changed, signal) };
      } finally {
        frozen.release();
      }
    });
    const job: CheckJob = { source, changes, stop };
    const fault = await (pool ? pool.run(CHECK_TASK, job) : checkFile(job));
    signal.throwIfAborted();
    return fault;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    if (lent) leaveSource(lent);
  }
}

/** In memory that the worker reads as well: handing many blocks over would copy all of them in one turn. */
async function copyOf(frozen: Frozen, changed: readonly number[], signal: AbortSignal): Promise<Changes> {
  const bytes = new Uint8Array(new SharedArrayBuffer(changed.length * BLOCK));
  const slices = new Slices();
  for (const [n, i] of changed.entries()) {
    bytes.set(frozen.block(i), n * BLOCK);
    if (!slices.due) continue;
    await slices.turn();
    signal.throwIfAborted();
  }
  return { size: frozen.size, numbers: [...changed], bytes };
}
