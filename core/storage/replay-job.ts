/**
 * Batches run in the worker pool: those of an update, and at an opening those that a journal has to repeat. SQLite runs a statement to its
 * end: an index over 120,000 sessions is a turn of more than a second, and whoever asks meanwhile waits. The blocks it changed come back and take their places.
 */
import type { Pool, PoolTask } from "../workers/pool.ts";
import { createImage, type Image } from "./image.ts";
import { RECORD } from "./migrate.ts";
import { type Changes, PagedFile, type Source } from "./paged-file.ts";
import { type Blocks, LARGE } from "./snapshot.ts";
import { loadSqlJs } from "./sqljs.ts";
import type { Statement } from "./types.ts";

export interface ReplayJob {
  /** The snapshot, open already: a descriptor is the whole process's. */
  source: Source;
  /** What the file has otherwise by now. */
  base?: Changes | undefined;
  /** Blocks that stay in memory, as for any catalogue. */
  keep: number | undefined;
  batches: readonly (readonly Statement[])[];
}

/** A step of an update may read all rows of its tables, and an index does. */
export const isLong = (batches: readonly (readonly Statement[])[]): boolean =>
  batches.some((batch) =>
    batch.some(([sql, params = []]) => sql === RECORD || (params.length === 0 && MAKES_INDEX.test(sql))),
  );
const MAKES_INDEX = /\bcreate\s+(?:unique\s+)?index\b/i;

/** Answers how the file differs from `source` then. Leaves that open. */
export async function replayBatches({ source, base, keep, batches }: ReplayJob): Promise<Changes> {
  const sql = await loadSqlJs();
  const file = new PagedFile(source, keep);
  if (base) file.lay(base);
  const db = new sql.Database(file);
  try {
    const image = createImage(sql, file, db);
    image.replay(batches);
    return file.changes();
  } finally {
    db.close(); // not the file, whose source is its owner's
  }
}

const REPLAY_TASK: PoolTask<[ReplayJob], Changes> = {
  get specifier() {
    return new URL("./dist/replay-job.mjs", import.meta.resolve("sessarc/package.json")).href;
  },
  export: "replayBatches",
  inline: replayBatches,
};

/** Undefined where no worker can be had, or what it does fails: then it is to be done here, and fails here with what is wrong. */
export async function replayInPool(pool: Pool, job: ReplayJob): Promise<Changes | undefined> {
  try {
    return await pool.run(REPLAY_TASK, job);
  } catch {
    return undefined;
  }
}

/** How the file of `image`, which nobody changes meanwhile, differs from its source after `statements`. Undefined as above, and for small ones. */
export async function runInPool(
  pool: Pool,
  image: Image,
  statements: readonly Statement[],
  { from = LARGE, keep }: Blocks = {},
): Promise<Changes | undefined> {
  const { source } = image;
  if (!source || source.size < from) return undefined;
  return replayInPool(pool, { source, base: image.changes(), keep, batches: [statements] });
}
