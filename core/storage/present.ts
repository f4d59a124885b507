/** Detects whether a data directory holds an archive. Loads nothing: commands check before they open one. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const SNAPSHOT_FILE = "catalog.db";
export const JOURNAL_FILE = "catalog.journal";
/** Where damaged files are put: `catalog.db.damaged-<time>`. */
export const DAMAGED = ".damaged-";

/** True from the first write on: who is killed before the first snapshot leaves a journal alone. */
export const hasArchive = (dataDir: string): boolean =>
  [SNAPSHOT_FILE, JOURNAL_FILE].some((name) => existsSync(join(dataDir, name)));
