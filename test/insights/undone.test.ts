/** Figures never hold what the disk refused: a batch that was undone after they were read is in none of them, nor in those that are kept. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { SqlValue } from "../../core/storage/types.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { createCube } from "../../plugins/insights/figures/cube.ts";
import { createKept } from "../../plugins/insights/figures/kept.ts";
import { makeTempDir } from "../_setup.ts";
import { failing } from "../storage/failing-disk.ts";

const NAMES = ["a", "b"];
const name = (id: string, now: string): [string, SqlValue[]] => ["update session set name = ? where id = ?", [now, id]];

/** A catalogue of two sessions; `lose` renames one, hands it to `meanwhile` while the disk has not answered, and has it refused. */
async function catalogue() {
  const dir = await makeTempDir();
  const { calls, faults } = failing();
  let asked: Promise<void> = Promise.resolve();
  const db = openDatabase({ dir, calls, prove: () => asked, onNotice: () => {} });
  for (const sql of migrations) await db.run(sql);
  for (const id of NAMES) {
    const row: Record<string, SqlValue> = { id, key: id, origin_id: "p", project_id: "p", tool: "t", title: id };
    const text = {
      usage: "{}",
      facts: '{"slots":{}}',
      source_path: "",
      source_version: "",
      parts: "[]",
      imported_at: "",
    };
    const counts = { sort_at: 0, active_ms: 0, message_count: 1, error_count: 0, generation: 1, exclusive: 1 };
    const source = { source_bytes: 0, source_mtime: 0, source_born: 0 };
    const all = Object.entries({ ...row, ...text, ...counts, ...source });
    const marks = all.map(() => "?").join(", ");
    const sql = `insert into session (${all.map(([column]) => column).join(", ")}) values (${marks})`;
    await db.run(
      sql,
      all.map(([, value]) => value),
    );
  }
  const archive = { generation: 0, importer: { progress: { type: "idle" as const } } };
  const start = () => createCube(archive, db, createKept(db, { folder: join(dir, "index"), readOnly: false }));
  const lose = async (meanwhile: () => Promise<unknown>) => {
    let answer = () => {};
    asked = new Promise((resolve) => {
      answer = resolve;
    });
    faults.write = "ENOSPC";
    const refused = expect(db.run(...name("a", "lost"))).rejects.toThrow();
    archive.generation++;
    await meanwhile();
    answer();
    await refused;
    faults.write = undefined;
  };
  return { dir, db, archive, start, lose };
}

const labels = async (cube: ReturnType<typeof createCube>) =>
  (await cube.figures()).sessions.map(({ label }) => label).sort();

it("they are read again though nobody tells of a change", async () => {
  const { db, start, lose } = await catalogue();
  const cube = start();
  let before = 0;
  await lose(async () => {
    expect(await labels(cube)).toEqual(["b", "lost"]);
    before = (await cube.figures()).generation;
  });
  expect(await labels(cube)).toEqual(NAMES);
  // Answers of before are not taken for those of now.
  expect((await cube.figures()).generation).not.toBe(before);
  await db.close();
});

it("also when the first look after it fails, and the next change takes the number of the one that was undone", async () => {
  const { db, archive, start, lose } = await catalogue();
  const cube = start();
  await labels(cube);
  await lose(() => labels(cube));
  const { all, get } = db;
  const fails = () => Promise.reject(new Error("no disk"));
  Object.assign(db, { all: fails, get: fails });
  archive.generation++;
  await expect(cube.figures()).rejects.toThrow("no disk");
  Object.assign(db, { all, get });
  await db.run(...name("b", "new"));
  archive.generation++;
  expect(await labels(cube)).toEqual(["a", "new"]);
  await db.close();
});

it("none are kept that were read before it and named after it", async () => {
  const { dir, db, archive, start, lose } = await catalogue();
  const cube = start();
  let kept: Promise<void> | undefined;
  let flushed: Promise<unknown> | undefined;
  await lose(async () => {
    await labels(cube);
    // Whoever writes now waits for the snapshot, which waits for the disk.
    flushed = db.flush().catch(() => {});
    kept = cube.keep();
    const files = () => readdirSync(join(dir, "index")).filter((one) => one.endsWith(".figures"));
    await expect.poll(files).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
  });
  await Promise.all([kept, flushed]);
  await db.run(...name("b", "new"));
  archive.generation++;
  expect(await labels(start())).toEqual(["a", "new"]);
  await db.close();
});
