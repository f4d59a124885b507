/** Figures never hold what the disk refused: a batch that was undone after they were read is in none of them, nor in those that are kept. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { SqlValue } from "../../core/storage/types.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { createCube } from "../../plugins/insights/figures/cube.ts";
import { createKept } from "../../plugins/insights/figures/kept.ts";
import { sessionRows } from "../../plugins/insights/figures/session-rows.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";
import { makeTempDir } from "../_setup.ts";
import { failing } from "../storage/failing-disk.ts";
import { insertSession, rowsOf } from "./rows.ts";

const NAMES = ["a", "b"];
const name = (id: string, now: string): [string, SqlValue[]] => ["update session set name = ? where id = ?", [now, id]];

/** A catalogue of two sessions; `lose` renames one, hands it to `meanwhile` while the disk has not answered, and has it refused. */
async function catalogue() {
  const dir = await makeTempDir();
  const { calls, faults } = failing();
  let asked: Promise<void> = Promise.resolve();
  const db = openDatabase({ dir, calls, prove: () => asked, onNotice: () => {} });
  for (const sql of migrations) await db.run(sql);
  for (const id of NAMES) await db.run(...insertSession(id));
  const archive = { generation: 0 };
  const importer = { progress: { type: "idle" as const } };
  const start = () =>
    createCube(archive, importer, db, createKept(db, { folder: join(dir, "index", "figures"), readOnly: false }));
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

/** As the sessions and, from their columns, the rows of a report say. */
async function labels(cube: ReturnType<typeof createCube>): Promise<(string | null)[]> {
  const { blocks } = await cube.figures();
  const answer = await sessionRows({ blocks }, zoneOf("UTC"), { from: null, to: null }, createPricing());
  const found = (await rowsOf(answer)).map(({ label }) => label).sort();
  expect(blocks.sessions.map(({ label }) => label).sort()).toEqual(found);
  return found;
}

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
    const files = () => readdirSync(join(dir, "index", "figures")).filter((one) => one.endsWith(".figures"));
    await expect.poll(files).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
  });
  await Promise.all([kept, flushed]);
  await db.run(...name("b", "new"));
  archive.generation++;
  expect(await labels(start())).toEqual(["a", "new"]);
  await db.close();
});

it("a session that goes and comes again while all are read counts once", async () => {
  const { db, archive, start } = await catalogue();
  // More than are read at once: the one that comes again stands behind them.
  await db.batch(Array.from({ length: 150 }, (_, n) => insertSession(`more ${n}`)));
  const { all } = db;
  let isAgain = false;
  db.all = async (sql, params) => {
    const rows = await all<never>(sql, params);
    if (isAgain || !sql.includes("rowid > ?")) return rows;
    isAgain = true;
    await db.batch([["delete from session where id = ?", ["a"]], insertSession("a", { title: "again" })]);
    archive.generation++;
    return rows;
  };
  const cube = start();
  expect((await labels(cube)).filter((label) => label === "a" || label === "again")).toEqual(["again"]);
  await db.close();
});
