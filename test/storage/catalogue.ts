/** A catalogue in a directory of its own, with one table. */
import { join } from "node:path";
import { openDatabase } from "../../core/storage/database.ts";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";

export const open = (dir: string, options: Partial<DatabaseOptions> = {}) => openDatabase({ dir, ...options });
export const ids = async (db: ReturnType<typeof openDatabase>) =>
  (await db.all<{ id: number }>("select id from t order by rowid")).map((row) => row.id);
export const journalOf = (dir: string) => join(dir, "catalog.journal");
export const snapshotOf = (dir: string) => join(dir, "catalog.db");
export const CREATE = "create table t (id integer, text text)";
