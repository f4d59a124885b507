/** A catalogue in its own directory, with one table. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openDatabase } from "../../core/storage/database.ts";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";
import type { Database } from "../../core/storage/types.ts";
import { childScript } from "../scripts.ts";

export const open = (dir: string, options: Partial<DatabaseOptions> = {}) => openDatabase({ dir, ...options });
/** The module of the catalogue's thread, from the sources. */
export const threadEntry = async (): Promise<URL> =>
  pathToFileURL((await childScript("storage/thread-child")).at(-1) ?? "");
export const ids = async (db: Database) =>
  (await db.all<{ id: number }>("select id from t order by rowid")).map((row) => row.id);
export const toLog = (dir: string) => join(dir, "catalog.db-wal");
export const pickMain = (dir: string) => join(dir, "catalog.db");
export const CREATE = "create table t (id integer, text text)";
