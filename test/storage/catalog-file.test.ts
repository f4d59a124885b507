/** A catalogue whose pages are read from the disk gives what a plain map gives, and what is wrong with a page is found. */
import { cp, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CatalogFile, emptyDatabase, FORMAT, PAGE } from "../../core/storage/catalog-file.ts";
import { openDatabase } from "../../core/storage/database.ts";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import type { Database } from "../../core/storage/types.ts";
import { openFiles } from "../open-files.ts";
import { LONG } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-pages-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});
const openIt = (where = dir, options: Partial<DatabaseOptions> = {}): Database => {
  const db = openDatabase({ dir: where, onNotice: () => {}, ...options });
  onTestFinished(() => db.close());
  return db;
};
const main = () => join(dir, "catalog.db");

/** 400 rows of 3 KB, some with pages of their own: written once, copied for each test. */
let filled: string;
beforeAll(async () => {
  filled = await mkdtemp(join(tmpdir(), "sessarc-pages-"));
  const db = openDatabase({ dir: filled });
  await db.run("create table t (n integer primary key, text text)");
  await db.batch(
    Array.from({ length: 400 }, (_, n) => [
      "insert into t values (?, ?)",
      [n, `${n} `.repeat(n % 50 === 0 ? 20_000 : 800)],
    ]),
  );
  await db.close();
});
afterAll(() => rm(filled, { recursive: true, force: true }));
const fill = () => cp(filled, dir, { recursive: true });

it("any reads, writes, steps, compactions, kills and restarts give what a plain map gives", async () => {
  for (let seed = 1; seed <= (LONG ? 40 : 3); seed++) {
    const home = join(dir, String(seed));
    await mkdir(home);
    let state = seed;
    const below = (n: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const expected = new Map<number, string>();
    const start = () => openIt(home, { logLimit: 60_000 });
    let db = start();
    await db.run("create table t (n integer primary key, text text)");
    for (let step = 0; step < 60; step++) {
      const act = below(12);
      if (act === 0) {
        await db.close(below(2) === 0 ? 0 : undefined);
        db = start();
      } else if (act === 1) await db.compact();
      else if (act === 2) {
        // A batch that fails leaves nothing of it.
        const [n, text] = [below(300), "z".repeat(below(90_000))];
        await db
          .batch([["insert or replace into t values (?, ?)", [n, text]], ["insert into nowhere values (1)"]])
          .catch(() => {});
      } else if (act < 5) {
        const n = below(300);
        await db.run("delete from t where n between ? and ?", [n, n + 9]);
        for (let i = n; i <= n + 9; i++) expected.delete(i);
      } else {
        const rows = Array.from(
          { length: below(12) },
          () => [below(300), String(step).repeat(below(below(9) === 0 ? 60_000 : 900))] as const,
        );
        await db.batch(rows.map((row) => ["insert or replace into t values (?, ?)", row]));
        for (const [n, text] of rows) expected.set(n, text);
      }
      const n = below(300);
      expect((await db.get<{ text: string }>("select text from t where n = ?", [n]))?.text).toBe(expected.get(n));
    }
    await db.close();
    db = start();
    const rows = await db.all<{ n: number; text: string }>("select * from t order by n");
    expect(new Map(rows.map((row) => [row.n, row.text]))).toEqual(new Map([...expected].sort(([a], [b]) => a - b)));
    expect(await db.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    await db.close();
  }
});

describe("damage", () => {
  it("in a page's structure is refused where it is read, by the file's name, and found by the check", async () => {
    await fill();
    const file = await open(main(), "r+");
    const { size } = await file.stat();
    // Tables of the tree of pages: one of them says that it is something else.
    for (let at = PAGE; at < size; at += PAGE) await file.write(Buffer.from([0x77]), 0, 1, at);
    await file.close();
    const db = openIt();
    await expect(db.all("select * from t")).rejects.toMatchObject({
      code: "CATALOG_DAMAGED",
      message: expect.stringContaining(main()),
    });
    await expect(db.run("update t set text = ''")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    expect(await db.check()).toEqual(expect.any(String));
  });
});

it.skipIf(process.platform !== "linux")(
  "a catalogue that cannot be opened is not left open, however often one tries",
  async () => {
    await fill();
    const whole = await readFile(main());
    await writeFile(main(), "no database".repeat(10));
    for (let i = 0; i < 3; i++) {
      const db = openIt();
      await expect(db.ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
      await db.close();
    }
    await writeFile(main(), whole);
    const { calls, faults } = failing();
    const db = openIt(dir, { calls });
    await db.run("delete from t where n = 1");
    faults.write = "ENOSPC";
    await expect(db.run("delete from t where n = 2")).rejects.toThrow();
    await db.close();
    expect(openFiles(dir)).toBe(0);
  },
);

it("holds in memory the pages of batches that are not in the log, and nothing else", async () => {
  await fill();
  const file = await open(main(), "r");
  onTestFinished(() => file.close());
  const { size } = await stat(main());
  const of = { path: main(), main: file.fd, log: undefined, writes: 0, find: () => undefined };
  const pages = new CatalogFile(of, size / PAGE);
  for (let at = 0; at < size; at += PAGE) pages.subarray(at, at + 1);
  expect(pages.held).toBe(0);
  pages.set(new Uint8Array(16), 5 * PAGE);
  expect(pages.take().pages.size).toBe(1);
  pages.set(new Uint8Array(16), 7 * PAGE);
  expect(pages.held).toBe(2);
  pages.taken(size / PAGE);
  expect(pages.held).toBe(1);
  pages.undo();
  expect(pages.held).toBe(0);
});

it("what was taken stays as it was whatever is written later", () => {
  const pages = new CatalogFile({ path: "", main: undefined, log: undefined, writes: 0, find: () => undefined }, 2);
  for (const content of [new Uint8Array(PAGE), Buffer.alloc(PAGE)]) {
    pages.set(content, PAGE);
    const taken = pages.take();
    pages.set(Uint8Array.of(7), PAGE);
    expect(taken.pages.get(2)?.[0]).toBe(0);
    expect(pages.subarray(PAGE, PAGE + 1)[0]).toBe(7);
    pages.undo();
  }
});

it("an empty database is, but for the version that made it, what SQLite makes", async () => {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  db.exec(`PRAGMA user_version=${FORMAT}`);
  expect(Buffer.from(emptyDatabase()).equals(db.export().fill(0, 96, 100))).toBe(true);
  db.close();
});
