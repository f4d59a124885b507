/** Fixtures that a test writes: folders with documents, and databases made by SQL. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { loadSqlJs } from "../../core/storage/sqljs.ts";

/** A table's rows; the columns are the names in the first row. */
export type Rows = readonly Readonly<Record<string, string | number | null | Uint8Array>>[];

/** Writes a database of these tables; texts that are objects are JSON by the caller. */
export async function writeTables(path: string, tables: Readonly<Record<string, Rows>>): Promise<void> {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  for (const [table, rows] of Object.entries(tables)) {
    const columns = Object.keys(rows[0] ?? { id: null });
    db.run(`create table ${table} (${columns.join(", ")})`);
    for (const row of rows)
      db.run(
        `insert into ${table} values (${columns.map(() => "?").join(", ")})`,
        columns.map((name) => row[name] ?? null),
      );
  }
  const bytes = db.export();
  db.close();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

/** Writes a file; what is not a text becomes JSON. */
export async function writeDocument(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** A folder for the fixtures of a whole file, removed after its tests. Called at the top of the file. */
export async function fixtureFolder(tool: string, write: (dir: string) => Promise<void>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), `sessarc-${tool}-fixtures-`));
  afterAll(() => rm(dir, { recursive: true, force: true }));
  await write(dir);
  return dir;
}

export const tokens = (input: number, output: number, cacheRead = 0, cacheWrite5m = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h: 0,
});
