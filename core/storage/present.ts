/** Detects whether a data directory holds an archive. Loads nothing: commands check before they open one. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const MAIN_FILE = "catalog.db";
/** Pages of the last commits, in SQLite's format. */
export const LOG_FILE = "catalog.db-wal";
/** Made and removed by other SQLite programs: there while one has the database open. */
export const SHARED_FILE = "catalog.db-shm";
/** Where damaged files are put: `catalog.db.damaged-<time>`. */
export const DAMAGED = ".damaged-";

/** True from the first write on. */
export const hasArchive = (dataDir: string): boolean =>
  [MAIN_FILE, LOG_FILE].some((name) => existsSync(join(dataDir, name)));
