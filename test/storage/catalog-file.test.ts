/** A catalogue whose pages are read from the snapshot gives what a plain map gives, and what is wrong with a page is found. */
import * as disk from "node:fs/promises";
import { appendFile, copyFile, cp, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CatalogFile, PAGE } from "../../core/storage/catalog-file.ts";
import { openDatabase } from "../../core/storage/database.ts";
import { emptyDatabase } from "../../core/storage/image.ts";
import { checkSnapshot, openSnapshot } from "../../core/storage/snapshot.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import type { Database } from "../../core/storage/types.ts";
import type { DiskCalls } from "../../core/utils/atomic.ts";
import { openFiles } from "../open-files.ts";
import { LONG } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

/** Every catalogue counts as large. */
const LARGE = { largeFrom: 0, onNotice: () => {} };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-blocks-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});
const openIt = (where = dir): Database => {
  const db = openDatabase({ ...LARGE, dir: where, journalLimit: 1 << 30 });
  onTestFinished(() => db.close());
  return db;
};
const snapshot = () => join(dir, "catalog.db");

/** 400 rows of 3 KB, some with pages of their own: written once, copied for each test. */
let filled: string;
beforeAll(async () => {
  filled = await mkdtemp(join(tmpdir(), "sessarc-blocks-"));
  const db = openDatabase({ ...LARGE, dir: filled, journalLimit: 1 << 30 });
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

/** Does `work` when the next file is opened for writing: the snapshot that is being taken. */
function openDuring(work: () => Promise<unknown>, when = () => true): DiskCalls["open"] {
  let done = false;
  return async (...args) => {
    if (!done && when()) {
      done = true;
      await work();
    }
    return disk.open(...args);
  };
}

async function harm(at: number): Promise<void> {
  const file = await open(snapshot(), "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
  await file.close();
}

it("any reads, writes, snapshots and restarts give what a plain map gives", async () => {
  for (let seed = 1; seed <= (LONG ? 40 : 3); seed++) {
    const home = join(dir, String(seed));
    await mkdir(home);
    let state = seed;
    const below = (n: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const expected = new Map<number, string>();
    let db = openIt(home);
    await db.run("create table t (n integer primary key, text text)");
    let flushing = Promise.resolve();
    for (let step = 0; step < 60; step++) {
      const act = below(12);
      if (act === 0) {
        await flushing;
        await db.close();
        db = openIt(home);
      } else if (act === 1) flushing = db.flush();
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
    await flushing;
    await db.close();
    db = openIt(home);
    const rows = await db.all<{ n: number; text: string }>("select * from t order by n");
    expect(new Map(rows.map((row) => [row.n, row.text]))).toEqual(new Map([...expected].sort(([a], [b]) => a - b)));
    const sql = await loadSqlJs();
    const file = new sql.Database(await readFile(join(home, "catalog.db")));
    expect(file.exec("pragma integrity_check")[0]?.values).toEqual([["ok"]]);
    file.close();
    await db.close();
  }
});

it("a snapshot holds one moment, whatever is written meanwhile, and a copy of the folder opens", async () => {
  await fill();
  let ready = false;
  const open = openDuring(
    () => db.run("update t set text = 'after'"),
    () => ready,
  );
  const db = openDatabase({ ...LARGE, dir, calls: { ...disk, open } });
  onTestFinished(() => db.close());
  await db.run("update t set text = 'before'");
  ready = true;
  await db.flush();
  expect(await db.all("select distinct text from t")).toEqual([{ text: "after" }]);
  for (const [copy, names, text] of [
    ["both", ["catalog.db", "catalog.journal"], "after"],
    ["alone", ["catalog.db"], "before"],
  ] as const) {
    await mkdir(join(dir, copy));
    for (const name of names) await copyFile(join(dir, name), join(dir, copy, name));
    expect(await openIt(join(dir, copy)).all("select distinct text from t")).toEqual([{ text }]);
  }
});

describe("damage", () => {
  it("anywhere in the file is found at opening", async () => {
    await fill();
    expect(() => checkSnapshot(snapshot())).not.toThrow();
    const { size } = await stat(snapshot());
    for (const at of [3, 65, 70, 200, PAGE + 5, Math.floor(size / 2), size - 1]) {
      await harm(at);
      await expect(openIt().ready).rejects.toMatchObject({
        code: "CATALOG_DAMAGED",
        message: expect.stringContaining(snapshot()),
      });
      expect(() => checkSnapshot(snapshot())).toThrow(snapshot());
      await harm(at);
    }
  });

  it.skipIf(process.platform === "win32")(
    "that comes beneath an open file is refused where it is read, by the file's name, and never answered",
    async () => {
      await fill();
      const db = openIt();
      await db.ready;
      await harm(Math.floor((await stat(snapshot())).size / 2));
      await expect(db.all("select * from t")).rejects.toMatchObject({
        code: "CATALOG_DAMAGED",
        message: expect.stringContaining(snapshot()),
      });
      await expect(db.run("update t set text = ''")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    },
  );
});

it.skipIf(process.platform !== "linux")(
  "a catalogue that cannot be opened is not left open, however often one tries",
  async () => {
    await fill();
    await writeFile(join(dir, "catalog.journal"), "no journal of sessarc's".repeat(10));
    for (let i = 0; i < 3; i++) {
      const db = openDatabase({ ...LARGE, dir });
      await expect(db.ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
      await db.close();
    }
    await rm(join(dir, "catalog.journal"));
    const { calls, faults } = failing();
    const db = openDatabase({ ...LARGE, dir, calls });
    await db.run("delete from t where n = 1");
    faults.write = "ENOSPC";
    await writeFile(join(dir, "catalog.journal"), "no journal of sessarc's".repeat(10));
    await expect(db.run("delete from t where n = 2")).rejects.toThrow();
    await expect(db.get("select 1")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    await db.close();
    expect(openFiles(dir)).toBe(0);
  },
);

it("holds in memory what was changed since the snapshot, and nothing else", async () => {
  await fill();
  const open = () => openSnapshot(snapshot()).source;
  const file = new CatalogFile(open());
  for (let at = 0; at < file.length; at += PAGE) file.subarray(at, at + 1);
  expect(file.held).toBe(0);
  file.set(new Uint8Array(16), 5 * PAGE);
  expect(file.held).toBe(1);
  const frozen = file.freeze();
  file.set(new Uint8Array(16), 7 * PAGE);
  expect(file.held).toBe(2);
  frozen.adopt(open());
  frozen.release();
  expect(file.held).toBe(1);
  file.close();
});

it("closing leaves a little journal beside it, which the next opening reads, and rewrites if the journal is long", async () => {
  await fill();
  const before = await readFile(snapshot());
  const db = openIt();
  await db.run("update t set text = ? where n = 7", ["a little"]);
  await db.close();
  expect((await readFile(snapshot())).equals(before)).toBe(true);
  const again = openIt();
  expect(await again.get("select text from t where n = 7")).toEqual({ text: "a little" });
  await again.run("insert into t values (1000, ?)", ["much ".repeat(before.length / 100)]);
  await again.close();
  expect((await readFile(snapshot())).equals(before)).toBe(false);
  const last = openIt();
  expect(await last.get("select text from t where n = 7")).toEqual({ text: "a little" });
  expect(last.stats.journalBytes).toBeLessThan(1_000);
});

it("a journal that takes long to repeat is replaced by a snapshot at the next opening", async () => {
  await fill();
  const before = await readFile(snapshot());
  const db = openIt();
  await db.run(
    "with recursive more (i) as (select 1000 union all select i + 1 from more where i < 3000) insert into t select i, printf('%3000s', i) from more",
  );
  expect(db.stats.journalBytes).toBeLessThan(before.length / 200);
  await db.close(0);
  expect((await readFile(snapshot())).equals(before)).toBe(true);
  const written = await new Promise<number>((resolve) => {
    const again = openDatabase({ ...LARGE, dir, slowMs: 0, onFlushed: ({ bytes }) => resolve(bytes) });
    onTestFinished(() => again.close());
  });
  expect(written).toBeGreaterThan(before.length * 3);
});

it("a torn end is reported once, even without later writes", async () => {
  await fill();
  const told: string[] = [];
  const onNotice = (message: string) => void told.push(message);
  const start = () => openDatabase({ ...LARGE, dir, onNotice });
  const db = start();
  await db.run("update t set text = ? where n = 7", ["a little"]);
  await db.close();
  await appendFile(join(dir, "catalog.journal"), "torn");
  for (let starts = 0; starts < 2; starts++) {
    const again = start();
    await again.ready;
    await again.close();
  }
  expect(told).toHaveLength(1);
});

it("an empty database is, but for the version that made it, what SQLite makes", async () => {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  db.exec("PRAGMA page_size=16384; PRAGMA user_version=1");
  expect(Buffer.from(emptyDatabase()).equals(db.export().fill(0, 96, 100))).toBe(true);
  db.close();
});

it("what is frozen stays as it was whatever the content was read into", () => {
  for (const content of [new Uint8Array(2 * PAGE), Buffer.alloc(2 * PAGE)]) {
    const file = new CatalogFile(content);
    const frozen = file.freeze();
    for (const at of [0, PAGE]) file.set(Uint8Array.of(7), at);
    expect([frozen.page(0)[0], frozen.page(1)[0]]).toEqual([0, 0]);
    frozen.release();
  }
});

it("an index and rows that a killed service left in its journal are there, and in the file after the next snapshot", async () => {
  await fill();
  const db = openIt();
  for (const sql of [
    "create index by_text on t (text)",
    "insert into t values (1000, 'after it')",
    "delete from t where n = 3",
  ])
    await db.run(sql);
  const all = "select n, length(text) as length from t order by text";
  const there = await db.all(all);
  const left = join(dir, "left");
  await mkdir(left);
  for (const name of ["catalog.db", "catalog.journal"]) await copyFile(join(dir, name), join(left, name));
  const killed = openIt(left);
  expect(await killed.all("select name from sqlite_master where type = 'index'")).toEqual([{ name: "by_text" }]);
  expect(await killed.all(all)).toEqual(there);
  await killed.run("insert into t values (1001, 'more')");
  await killed.flush();
  await killed.close();
  checkSnapshot(join(left, "catalog.db"));
  const again = openIt(left);
  expect(await again.all(all)).toHaveLength(there.length + 1);
  expect(await again.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
});
