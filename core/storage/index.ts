/** Opens a data directory: catalogue, transcripts and files, under one lock. */
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { createBlobs } from "./blobs.ts";
import { createDerived, DERIVED } from "./derived.ts";
import type { DriverConfig } from "./driver.ts";
import { openFiles } from "./files.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { acquireLock } from "./lock.ts";
import { loadSqlJs } from "./sqljs.ts";
import { createTranscripts } from "./transcripts.ts";
import type { Storage } from "./types.ts";

export interface StorageOptions {
  dataDir: string;
  /** Where transcripts and files live when not in `dataDir`: a driver of unstorage by name. */
  driver?: DriverConfig | undefined;
  /** Reads beside a running owner: no lock, no write. */
  readOnly?: boolean | undefined;
  onNotice?: ((message: string) => void) | undefined;
  /** Runs the catalogue, so that other requests are answered while SQL runs (`startThread`). Default: the catalogue is in this thread. */
  thread?: Worker | undefined;
}

/**
 * Takes the lock and opens storage below `dataDir`; closing `db` gives the lock back. Throws ARCHIVE_LOCKED when another process has
 * it. The catalogue opens meanwhile: what is wrong with it shows in `db.ready` and in every call.
 */
export async function createStorage(options: StorageOptions): Promise<Storage> {
  const { dataDir, driver, readOnly = false, onNotice, thread } = options;
  // Callers of the catalogue get the error.
  if (!thread) loadSqlJs().catch(() => {});
  const lock = readOnly ? undefined : await acquireLock(dataDir);
  try {
    if (lock) await sweepLeftovers(dataDir, lock);
    const common = { dir: dataDir, readOnly, onNotice, onClosed: () => lock?.release() };
    const db = thread
      ? (await import("./thread.ts")).openInThread({ ...common, thread, lock })
      : (await import("./database.ts")).openDatabase({ ...common, prove: lock?.prove });
    const files = await openFiles(dataDir, driver, readOnly);
    const path = (...names: string[]) => join(dataDir, ...names);
    return {
      db,
      transcripts: createTranscripts({ dir: dataDir, driver }),
      files,
      path,
      derived: (name) => createDerived(path(DERIVED, name)),
      blobs: (...names) => createBlobs(path(...names)),
      dataDir,
      readOnly,
      lock,
    };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}
