/** A catalogue that is read from its snapshot block by block is the same as one that is held whole. */
import { closeSync } from "node:fs";
import * as disk from "node:fs/promises";
import { appendFile, copyFile, cp, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { createImage, emptyDatabase } from "../../core/storage/image.ts";
import { migrate } from "../../core/storage/migrate.ts";
import { BLOCK, PagedFile } from "../../core/storage/paged-file.ts";
import type { Blocks } from "../../core/storage/snapshot.ts";
import { checkSnapshot, openSource } from "../../core/storage/snapshot.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import type { Database, Statement } from "../../core/storage/types.ts";
import type { DiskCalls } from "../../core/utils/atomic.ts";
import { createPool, type Pool } from "../../core/workers/pool.ts";
import { openFiles } from "../open-files.ts";
import { LONG } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

/** Every catalogue is a large one, and two blocks are all that stay. */
const LARGE: Blocks = { from: 0, keep: 2 };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-blocks-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});
const openIt = (blocks: Blocks = LARGE, where = dir): Database => {
  const db = openDatabase({ dir: where, blocks, journalLimit: 1 << 30, onNotice: () => {} });
  onTestFinished(() => db.close());
  return db;
};
const snapshot = () => join(dir, "catalog.db");

/** 400 rows of 3 KB, some with pages of their own: written once, copied for each test. */
let filled: string;
beforeAll(async () => {
  filled = await mkdtemp(join(tmpdir(), "sessarc-blocks-"));
  const db = openDatabase({ dir: filled, blocks: LARGE, journalLimit: 1 << 30, onNotice: () => {} });
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
    let db = openIt(LARGE, home);
    await db.run("create table t (n integer primary key, text text)");
    let flushing = Promise.resolve();
    for (let step = 0; step < 60; step++) {
      const act = below(12);
      if (act === 0) {
        await flushing;
        await db.close();
        db = openIt(LARGE, home);
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
    db = openIt(LARGE, home);
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
  const db = openDatabase({ dir, blocks: LARGE, calls: { ...disk, open }, onNotice: () => {} });
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
    expect(await openIt(LARGE, join(dir, copy)).all("select distinct text from t")).toEqual([{ text }]);
  }
});

describe("damage", () => {
  it("is refused where it is read, by the file's name, and never answered", async () => {
    await fill();
    await harm(Math.floor((await stat(snapshot())).size / 2));
    const db = openIt();
    await db.ready;
    await expect(db.all("select * from t")).rejects.toMatchObject({
      code: "CATALOG_DAMAGED",
      message: expect.stringContaining(snapshot()),
    });
    await expect(db.run("update t set text = ''")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    await expect(checkSnapshot(snapshot())).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
  });

  it("of the checksums, what stands behind them, or the first block, is found at opening", async () => {
    await fill();
    await expect(checkSnapshot(snapshot())).resolves.toBeUndefined();
    const { size } = await stat(snapshot());
    for (const at of [200, size - 40, ...Array.from({ length: 24 }, (_, n) => size - 24 + n)]) {
      await harm(at);
      await expect(openIt().ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
      await harm(at);
    }
  });
});

it.each(["with a journal", "without one"])(
  "an archive of before, %s, is read whole once and written anew",
  async (journal) => {
    await fill();
    const old = openIt({ from: Number.POSITIVE_INFINITY });
    await old.run("update t set text = 'old' where n < 100");
    await old.close();
    expect(openSource(snapshot())).toBeUndefined();
    if (journal === "without one") await rm(join(dir, "catalog.journal"));
    const writing = openDuring(() => db.run("insert into t values (1000, 'new')"));
    const db = openDatabase({ dir, blocks: LARGE, calls: { ...disk, open: writing }, onNotice: () => {} });
    await db.flush();
    expect(await db.get("select count(*) as n from t where text = 'old'")).toEqual({ n: 100 });
    const copy = join(dir, "copy");
    await mkdir(copy);
    for (const name of ["catalog.db", "catalog.journal"]) await copyFile(join(dir, name), join(copy, name));
    expect(await openIt(LARGE, copy).get("select text from t where n = 1000")).toEqual({ text: "new" });
    await db.close();
    await expect(checkSnapshot(snapshot())).resolves.toBeUndefined();
    const { source } = openSource(snapshot()) ?? {};
    if (source) closeSync(source.fd);
    expect(source?.size).toBeGreaterThan(BLOCK);
  },
);

it.skipIf(process.platform !== "linux")(
  "a catalogue that cannot be opened is not left open, however often one tries",
  async () => {
    await fill();
    await writeFile(join(dir, "catalog.journal"), "no journal of ours".repeat(10));
    for (let i = 0; i < 3; i++) {
      const db = openDatabase({ dir, blocks: LARGE, onNotice: () => {} });
      await expect(db.ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
      await db.close();
    }
    await rm(join(dir, "catalog.journal"));
    const { calls, faults } = failing();
    const db = openDatabase({ dir, blocks: LARGE, calls, onNotice: () => {} });
    await db.run("delete from t where n = 1");
    faults.write = "ENOSPC";
    await writeFile(join(dir, "catalog.journal"), "no journal of ours".repeat(10));
    await expect(db.run("delete from t where n = 2")).rejects.toThrow();
    await expect(db.get("select 1")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    await db.close();
    expect(openFiles(dir)).toBe(0);
  },
);

it("holds no more than it may of what was not changed", async () => {
  await fill();
  const { source } = openSource(snapshot()) ?? {};
  if (!source) throw new Error("it is not read block by block");
  const file = new PagedFile(source, 3);
  for (let at = 0; at < source.size; at += BLOCK) file.subarray(at, at + 1);
  expect(file.held).toBe(3 * BLOCK);
  file.set(new Uint8Array(16), 5 * BLOCK);
  for (let at = 0; at < source.size; at += BLOCK) file.subarray(at, at + 1);
  expect(file.held).toBe(4 * BLOCK);
  file.close();
  // What was read whole, and lies there in blocks now: no piece of it keeps the rest.
  const whole = new PagedFile(await readFile(snapshot()), 3);
  whole.set(new Uint8Array(16), 0);
  const frozen = whole.freeze();
  whole.set(new Uint8Array(16), 7 * BLOCK);
  const now = openSource(snapshot());
  if (!now) throw new Error("it is not read block by block");
  frozen.adopt(now.source);
  frozen.release();
  for (let at = 0; at < now.source.size; at += BLOCK) whole.subarray(at, at + 1);
  expect(whole.held).toBe(4 * BLOCK);
  whole.close();
});

it("closing leaves a little journal beside it, which the next opening reads, and writes anew where that is more", async () => {
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

it("is written anew in the background where few words changed much: every opening would change all that again", async () => {
  await fill();
  const before = await readFile(snapshot());
  const db = openIt();
  await db.run(
    "with recursive more (i) as (select 1000 union all select i + 1 from more where i < 6600) insert into t select i, printf('%3000s', i) from more",
  );
  expect(db.stats.journalBytes).toBeLessThan(before.length / 200);
  await db.close(0);
  expect((await readFile(snapshot())).equals(before)).toBe(true);
  const written = await new Promise<number>((resolve) => {
    const again = openDatabase({ dir, blocks: LARGE, onNotice: () => {}, onFlushed: ({ bytes }) => resolve(bytes) });
    onTestFinished(() => again.close());
  });
  expect(written).toBeGreaterThan(before.length * 5);
});

it("a torn end is told of once, though nobody writes after it", async () => {
  await fill();
  const told: string[] = [];
  const onNotice = (message: string) => void told.push(message);
  const start = () => openDatabase({ dir, blocks: { from: 0, keep: 8 }, onNotice });
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

it("a journal is repeated as far as a turn goes, at least one batch, and goes on from there", async () => {
  const sql = await loadSqlJs();
  const image = createImage(sql, new PagedFile(emptyDatabase()));
  onTestFinished(() => image.close());
  const batches: Statement[][] = [
    [["create table t (n)"]],
    ...[1, 2, 3].map((n): Statement[] => [["insert into t values (?)", [n]]]),
  ];
  const held = () => image.all<{ n: number }>("select n from t", []).map(({ n }) => n);
  expect(image.replay(batches.slice(0, 3), () => true)).toBe(1);
  expect(held()).toEqual([]);
  expect(image.replay(batches.slice(1), () => held().length === 2)).toBe(2);
  expect(image.replay(batches.slice(3), () => false)).toBe(1);
  expect(held()).toEqual([1, 2, 3]);
});

it("what is frozen stays as it was whatever the content was read into", () => {
  for (const content of [new Uint8Array(2 * BLOCK), Buffer.alloc(2 * BLOCK)]) {
    const file = new PagedFile(content);
    const frozen = file.freeze();
    for (const at of [0, BLOCK]) file.set(Uint8Array.of(7), at);
    expect([frozen.block(0)[0], frozen.block(1)[0]]).toEqual([0, 0]);
    frozen.release();
  }
});

describe("an index that a killed service left in its journal", () => {
  /** What a kill leaves: rows as `fill` made them, and in the journal what `statements` say. */
  async function killedWith(...statements: string[]): Promise<string> {
    await fill();
    const db = openIt();
    for (const sql of statements) await db.run(sql);
    const left = join(dir, "left");
    await mkdir(left);
    for (const name of ["catalog.db", "catalog.journal"]) await copyFile(join(dir, name), join(left, name));
    return left;
  }
  /** The pool as it is without threads; `tasks` are those it was given. */
  function counted(fails = false) {
    const own = createPool({ threads: 0 });
    const tasks: string[] = [];
    const pool: Pool = {
      ...own,
      async run(task, ...args) {
        tasks.push(task.export);
        if (fails) throw new Error("no thread is to be had");
        return own.run(task, ...args);
      },
    };
    return { pool, tasks };
  }
  const opened = async (where: string, pool: Pool, notices: string[] = []) => {
    const db = openDatabase({ dir: where, blocks: LARGE, pool, onNotice: (line) => notices.push(line) });
    onTestFinished(() => db.close());
    await db.ready;
    return db;
  };
  const INDEXED = [
    "create index by_text on t (text)",
    "insert into t values (1000, 'after it')",
    "delete from t where n = 3",
  ];
  const all = "select n, length(text) as length from t order by text";
  const indexes = "select name from sqlite_master where type = 'index'";

  it("is made again off the main thread, and the file is the same", async () => {
    const left = await killedWith(...INDEXED);
    const there = await openIt().all(all);
    const { pool, tasks } = counted();
    const db = await opened(left, pool);
    expect(tasks).toEqual(["replayBatches"]);
    expect(await db.all(indexes)).toEqual([{ name: "by_text" }]);
    expect(await db.all(all)).toEqual(there);
    expect(await db.get("select n from t where text = 'after it'")).toEqual({ n: 1000 });
    // It is written to and stored as any other.
    await db.run("insert into t values (1001, 'more')");
    await db.flush();
    await db.close();
    await checkSnapshot(join(left, "catalog.db"));
    const again = await opened(left, pool);
    expect(tasks).toHaveLength(1);
    expect(await again.all(all)).toHaveLength(there.length + 1);
    expect(await again.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });

  it("and so is a step of an update, which may look at all rows to change one; the next opening has it in the snapshot", async () => {
    await fill();
    const db = openIt();
    await migrate(db, "words", ["update t set text = 'x' where text like '%nothing%' or n = 3"]);
    await db.close();
    const { pool, tasks } = counted();
    const flushed = new Promise((resolve) => {
      const again = openDatabase({ dir, blocks: LARGE, pool, onNotice: () => {}, onFlushed: resolve });
      onTestFinished(() => again.close());
    });
    await flushed;
    expect(tasks).toEqual(["replayBatches"]);
    const last = await opened(dir, pool);
    expect(await last.get("select text from t where n = 3")).toEqual({ text: "x" });
    expect(tasks).toHaveLength(1);
  });

  it("is made here where no thread is to be had", async () => {
    const left = await killedWith(...INDEXED);
    const { pool, tasks } = counted(true);
    expect(await (await opened(left, pool)).all(indexes)).toEqual([{ name: "by_text" }]);
    expect(tasks).toHaveLength(1);
  });

  it("is no reason for a thread where there is none", async () => {
    const left = await killedWith(...INDEXED.slice(1));
    const { pool, tasks } = counted();
    expect(await (await opened(left, pool)).all(indexes)).toEqual([]);
    expect(tasks).toEqual([]);
  });

  it("says what is damaged", async () => {
    const left = await killedWith(...INDEXED);
    const bytes = await readFile(join(left, "catalog.db"));
    bytes[BLOCK * 5 + 99] = (bytes[BLOCK * 5 + 99] ?? 0) ^ 1;
    await writeFile(join(left, "catalog.db"), bytes);
    await expect(opened(left, counted().pool)).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
  });
});
