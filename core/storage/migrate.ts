/** Schema steps: each plugin's SQL, in order, once; recorded by plugin and number. */
import { createHash } from "node:crypto";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import type { Database, Statement } from "./types.ts";

const TABLE =
  "create table if not exists migration (plugin text, number integer, digest text, at text, primary key (plugin, number))";

/** Ends each step. What it began may look at all rows, in few words. */
export const RECORD = "insert into migration (plugin, number, digest, at) values (?, ?, ?, ?)";

/**
 * Brings the tables of `plugin` up to date. Each step is one batch with its record, so a crash leaves it done or undone; where none was
 * applied yet all of them are one. Throws ARCHIVE_OTHER when a step that was applied no longer reads the same (released steps are never edited,
 * new ones are appended), ARCHIVE_NEWER when the archive has seen steps of a newer version, ARCHIVE_OLDER when it lacks steps and is open for
 * reading only.
 *
 * Cost when there is nothing to do: two small queries.
 */
export async function migrate(db: Database, plugin: string, migrations: readonly string[]): Promise<void> {
  const applied = (await hasSteps(db)) ? await appliedSteps(db, plugin) : new Map<number, string>();
  const missing: Statement[][] = [];
  for (const [i, sql] of migrations.entries()) {
    const number = i + 1;
    const known = applied.get(number);
    if (known === stepDigest(sql)) continue;
    if (known !== undefined) throw new SessarcError("ARCHIVE_OTHER", { plugin, number });
    missing.push(toStep(plugin, number, sql));
  }
  if (applied.size > migrations.length)
    throw new SessarcError("ARCHIVE_NEWER", { plugin, has: applied.size, knows: migrations.length });
  // Each batch waits for the disk: two dozen at a first start, where the tables are empty and no step takes long.
  const batches = applied.size === 0 && missing.length > 0 ? [missing.flat()] : missing;
  for (const steps of batches) {
    await db.batch(steps).catch((error) => {
      // Without a path: no disk refused it, the archive is open for reading only.
      const isReader = isSessarcError(error) && error.code === "STORAGE_READ_ONLY" && !("path" in error.params);
      throw isReader
        ? new SessarcError("ARCHIVE_OLDER", { plugin, has: applied.size, knows: migrations.length })
        : error;
    });
  }
}

/** Whose tables are to be made, and by which steps. */
interface Migrated {
  name: string;
  migrations?: readonly string[] | undefined;
}

/**
 * Applies the steps of all `plugins`, in their order, where no step of anybody was applied yet: one batch, so that a first start waits for
 * the disk once and not once for each of them. Elsewhere nothing is done. Throws what the batch throws, nothing applied.
 */
export async function migrateFirst(db: Database, plugins: readonly Migrated[]): Promise<void> {
  if (await hasSteps(db)) return;
  await db.batch(
    plugins.flatMap(({ name, migrations = [] }) => migrations.flatMap((sql, i) => toStep(name, i + 1, sql))),
  );
}

const toStep = (plugin: string, number: number, sql: string): Statement[] => [
  [TABLE],
  [sql],
  [RECORD, [plugin, number, stepDigest(sql), new Date().toISOString()]],
];

const hasSteps = async (db: Database): Promise<boolean> =>
  (await db.get("select 1 from sqlite_master where type = 'table' and name = 'migration'")) !== undefined;

async function appliedSteps(db: Database, plugin: string): Promise<Map<number, string>> {
  const rows = await db.all<{ number: number; digest: string }>(
    "select number, digest from migration where plugin = ?",
    [plugin],
  );
  return new Map(rows.map(({ number, digest }) => [number, digest]));
}

/** Of a schema step; white space may change. */
export const stepDigest = (sql: string): string =>
  createHash("sha256").update(sql.replace(/\s+/g, " ").trim()).digest("hex").slice(0, 32);
