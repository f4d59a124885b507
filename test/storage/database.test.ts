import { existsSync } from "node:fs";
import * as disk from "node:fs/promises";
import { appendFile, copyFile, cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyDatabase, FORMAT, FORMAT_AT } from "../../core/storage/catalog-file.ts";
import { openDatabase } from "../../core/storage/database.ts";
import { openSqliteFile } from "../../core/storage/sqlite-file.ts";
import { openInThread } from "../../core/storage/thread.ts";
import { makeTempDir } from "../_setup.ts";
import { testDatabase } from "../database.ts";
import { rounds } from "../rounds.ts";
import { askStock, HAS_STOCK, holdStock } from "../stock-sqlite.ts";
import { CREATE, ids, open, pickMain, threadEntry, toLog } from "./catalogue.ts";
import { failing } from "./failing-disk.ts";

testDatabase("sql.js", { dir: makeTempDir, open: (dir) => openDatabase({ dir }) });
testDatabase("sql.js, catalog.db updated after every few batches", {
  dir: makeTempDir,
  open: (dir) => openDatabase({ dir, logLimit: 10_000 }),
});

const entry = await threadEntry();
testDatabase("sql.js in its own thread", { dir: makeTempDir, open: (dir) => openInThread({ dir, entry }) });

/** A directory as a crash leaves it, with one commit in the log for each of `count` batches; and where each commit ends. */
async function crashed(count: number, rowsPerBatch = 1): Promise<{ dir: string; ends: number[] }> {
  const [work, dir] = [await makeTempDir(), await makeTempDir()];
  const db = open(work);
  await db.run(CREATE);
  const ends = [db.stats.logBytes];
  for (let i = 1; i <= count; i++) {
    await db.batch(
      Array.from({ length: rowsPerBatch }, () => ["insert into t values (?, ?)", [i, `batch ${i}`]] as const),
    );
    ends.push(db.stats.logBytes);
  }
  for (const path of [pickMain, toLog]) await copyFile(path(work), path(dir));
  await db.close();
  return { dir, ends };
}

describe("the file and its log", () => {
  it("are not made before the first batch", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    expect(await db.all("select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
    expect(await readdir(dir)).toEqual([]);
  });

  it("share one fsync between batches that come together, and write a page that several changed once", async () => {
    const { calls, counts } = failing();
    const db = open(await makeTempDir(), { calls });
    await db.run(CREATE);
    counts.syncs = 0;
    counts.bytes = 0;
    await Promise.all(Array.from({ length: 200 }, (_, i) => db.run("insert into t values (?, '')", [i])));
    expect(counts.syncs).toBeLessThanOrEqual(2);
    expect(counts.bytes).toBeLessThan(10 * 4_120);
    expect((await ids(db)).length).toBe(200);
    await db.close();
  });

  it("a batch writes the pages it changes, not the database", async () => {
    const { calls, counts } = failing();
    const db = open(await makeTempDir(), { calls });
    await db.run(CREATE);
    await db.batch(
      Array.from({ length: 5000 }, (_, i) => ["insert into t values (?, ?)", [i, "x".repeat(200)]] as const),
    );
    counts.bytes = counts.syncs = 0;
    await db.run("insert into t values (1, 'small')");
    expect(counts).toEqual({ bytes: 4_120, syncs: 1 });
    await db.close();
  });

  it("are one private file after closing, which any SQLite tool reads", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await db.run(CREATE);
    await db.run("insert into t values (1, 'one')");
    const modes = await Promise.all([pickMain(dir), toLog(dir)].map(async (path) => (await stat(path)).mode & 0o777));
    if (process.platform !== "win32") expect(modes).toEqual([0o600, 0o600]);
    await db.close();
    expect(await readdir(dir)).toEqual(["catalog.db"]);
    const file = await openSqliteFile(pickMain(dir));
    expect(file.all("select * from t")).toEqual([{ id: 1, text: "one" }]);
    expect(file.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    file.close();
  });

  it("the log becomes short again while writing goes on", async () => {
    const dir = await makeTempDir();
    const db = open(dir, { logLimit: 50_000 });
    await db.run(CREATE);
    let most = 0;
    for (let i = 0; i < 300; i++) {
      await db.run("insert into t values (?, ?)", [i, "y".repeat(1_500)]);
      most = Math.max(most, (await stat(toLog(dir))).size);
    }
    expect(most).toBeLessThan(1_000_000);
    expect((await stat(pickMain(dir))).size).toBeGreaterThan(200_000);
    await db.close();
    const again = open(dir);
    expect((await ids(again)).length).toBe(300);
    await again.close();
  });

  it("nothing is written when nothing changed", async () => {
    const { dir } = await crashed(1);
    const { calls, counts } = failing();
    const again = open(dir, { calls });
    await again.all("select * from t");
    await again.run("delete from t where id = 77");
    await again.close();
    expect(counts).toEqual({ syncs: 0, bytes: 0 });
  });

  it("a read is answered when what it saw is on disk, and never with what was taken back", async () => {
    const { calls, faults } = failing();
    let asked: Promise<boolean> = Promise.resolve(true);
    const db = open(await makeTempDir(), { calls, prove: () => asked, onNotice: () => {} });
    await db.run(CREATE);
    let answer = () => {};
    asked = new Promise((resolve) => {
      answer = () => resolve(true);
    });
    const refused = expect(db.run("insert into t values (1, '')")).rejects.toMatchObject({ code: "STORAGE_FULL" });
    const seen = ids(db);
    faults.write = "ENOSPC";
    answer();
    await refused;
    expect(await seen).toEqual([]);
    await db.close();
  });

  it.skipIf(!HAS_STOCK)("stock SQLite reads and writes them, and sessarc reads on", async () => {
    const { dir } = await crashed(3);
    const queries = ["pragma integrity_check", "pragma journal_mode", "select group_concat(id) from t"];
    expect(await askStock([pickMain(dir)], ...queries)).toEqual([["ok", "wal", "1,2,3"]]);
    expect(await askStock([pickMain(dir)], "insert into t values (4, '')", "select count(*) from t")).toEqual([["4"]]);
    const db = open(dir);
    await db.run("insert into t values (5, '')");
    expect(await ids(db)).toEqual([1, 2, 3, 4, 5]);
    expect(await db.check()).toBeUndefined();
    await db.close();
    await askStock([pickMain(dir)], "pragma journal_mode = delete");
    const again = open(dir);
    await again.run("insert into t values (6, '')");
    await again.close();
    expect(await askStock([pickMain(dir)], ...queries)).toEqual([["ok", "wal", "1,2,3,4,5,6"]]);
  });

  it.skipIf(!HAS_STOCK)("stock SQLite that opens and closes them beside the owner takes nothing away", async () => {
    const dir = await makeTempDir();
    const owner = open(dir, { watchMs: 20 });
    await owner.run(CREATE);
    await owner.run("insert into t values (1, '')");
    expect(await askStock([pickMain(dir)], "select count(*) from t")).toEqual([["1"]]);
    // It has removed the log. What a kill leaves now holds everything, and so does what it leaves after the next write.
    await expect.poll(() => existsSync(toLog(dir))).toBe(true);
    for (let n = 2; n < 6; n++) {
      await askStock([pickMain(dir)], "select count(*) from t");
      await owner.run("insert into t values (?, '')", [n]);
      expect(await askStock([pickMain(dir)], "select group_concat(id) from t")).toEqual([
        [Array.from({ length: n }, (_, i) => i + 1).join()],
      ]);
    }
    expect(await ids(owner)).toEqual([1, 2, 3, 4, 5]);
    await owner.close();
    expect(await askStock([pickMain(dir)], "pragma integrity_check", "select count(*) from t")).toEqual([["ok", "5"]]);
  });

  it("another SQLite program that removes the log between its making and its opening takes nothing away", async () => {
    for (const leavesEmpty of [false, true]) {
      const dir = await makeTempDir();
      let left = 2;
      const rename: typeof disk.rename = async (from, to) => {
        await disk.rename(from, to);
        if (to !== toLog(dir) || left === 0) return;
        left--;
        await rm(toLog(dir));
        if (leavesEmpty) await writeFile(toLog(dir), "");
      };
      const owner = open(dir, { calls: { ...disk, rename } });
      await owner.run(CREATE);
      await owner.run("insert into t values (1, '')");
      left = 1;
      await rm(toLog(dir));
      await owner.run("insert into t values (2, '')");
      expect(left).toBe(0);
      const killed = await makeTempDir();
      await cp(dir, killed, { recursive: true });
      expect(await ids(open(killed))).toEqual([1, 2]);
      await owner.close();
      expect(await ids(open(dir))).toEqual([1, 2]);
    }
  });

  it.skipIf(!HAS_STOCK)(
    "stock SQLite that opens them while the log is missing, and makes an empty one, takes nothing away",
    async () => {
      const dir = await makeTempDir();
      const owner = open(dir);
      await owner.run(CREATE);
      await owner.run("insert into t values (1, '')");
      await askStock([pickMain(dir)], "select count(*) from t");
      expect(existsSync(toLog(dir))).toBe(false);
      const close = await holdStock(pickMain(dir), "select 1 from sqlite_master");
      expect((await stat(toLog(dir))).size).toBe(0);
      await owner.run("insert into t values (2, '')");
      await close();
      await owner.run("insert into t values (3, '')");
      expect(await askStock([pickMain(dir)], "select group_concat(id) from t")).toEqual([["1,2,3"]]);
      await owner.close();
      expect(await askStock([pickMain(dir)], "pragma integrity_check", "select count(*) from t")).toEqual([
        ["ok", "3"],
      ]);
    },
  );

  it.skipIf(!HAS_STOCK)(
    "stock SQLite that keeps them open while the owner writes, and closes later, takes nothing away",
    async () => {
      const dir = await makeTempDir();
      const owner = open(dir, { logLimit: 20_000 });
      await owner.run(CREATE);
      await owner.run("insert into t values (0, '')");
      for (const again of [false, true]) {
        const close = await holdStock(pickMain(dir), "select count(*) from t");
        for (let n = 0; n < 30; n++) await owner.run("insert into t values (?, ?)", [n, "x".repeat(3_000)]);
        await owner.run("update t set text = 'y'");
        await close();
        if (again) await owner.run("delete from t where id = 7");
        const copy = await makeTempDir();
        await owner.run("delete from t where id = 8");
        await cp(dir, copy, { recursive: true });
        const queries = ["pragma integrity_check", "select count(*) from t", "select count(*) from t where text = 'y'"];
        const counts = again ? 57 : 30;
        expect(await askStock([pickMain(copy)], ...queries)).toEqual([["ok", String(counts), String(counts)]]);
      }
      await owner.close();
    },
  );

  it("an archive of the format before is refused with its remedy, untouched", async () => {
    const foreign = async (make: (dir: string) => Promise<unknown>) => {
      const dir = await makeTempDir();
      await make(dir);
      const before = await readdir(dir);
      await expect(open(dir).ready).rejects.toMatchObject({
        code: "ARCHIVE_FORMAT",
        fix: expect.stringContaining("sessarc import"),
      });
      expect(await readdir(dir)).toEqual(before);
    };
    await foreign((dir) => writeFile(join(dir, "catalog.journal"), "SESSARCJ"));
    await foreign(async (dir) => {
      const page = Buffer.alloc(16_384);
      page.write("SQLite format 3\0", "latin1");
      page.writeUInt16BE(16_384, 16);
      await writeFile(pickMain(dir), page);
    });
    await foreign(async (dir) => {
      const page = Buffer.from(emptyDatabase());
      page.writeUInt32BE(FORMAT - 1, FORMAT_AT);
      await writeFile(pickMain(dir), page);
    });
  });

  it("surfaces what is wrong in every call", async () => {
    const dir = await makeTempDir();
    await writeFile(pickMain(dir), "not a database at all");
    const db = open(dir);
    const wrong = { code: "CATALOG_DAMAGED", message: expect.stringContaining(pickMain(dir)) };
    await expect(db.ready).rejects.toMatchObject(wrong);
    await expect(db.all("select 1")).rejects.toMatchObject(wrong);
    await expect(db.run("create table t (a)")).rejects.toMatchObject(wrong);
    await db.close();
    expect(await readFile(pickMain(dir), "utf8")).toBe("not a database at all");
  });

  it("a log without its file is not taken for an archive", async () => {
    const { dir } = await crashed(2);
    await rm(pickMain(dir));
    await expect(open(dir).ready).rejects.toMatchObject({
      code: "CATALOG_DAMAGED",
      message: expect.stringMatching(/catalog\.db: it is missing/),
    });
  });
});

describe("torn ends and flipped bytes", () => {
  it("a log cut anywhere opens with the batches that are whole, and goes on", async () => {
    const { dir: source, ends } = await crashed(8, 3);
    const whole = await readFile(toLog(source));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0] as number, max: whole.length }), async (cut) => {
        const dir = await makeTempDir();
        await copyFile(pickMain(source), pickMain(dir));
        await writeFile(toLog(dir), whole.subarray(0, cut));
        const db = open(dir);
        const kept = ends.filter((end) => end <= cut).length - 1;
        expect(await ids(db)).toEqual(Array.from({ length: kept * 3 }, (_, i) => 1 + Math.floor(i / 3)));
        await db.run("insert into t values (99, 'next')");
        const after = await makeTempDir();
        await cp(dir, after, { recursive: true });
        await db.close();
        const again = open(after);
        expect((await ids(again)).at(-1)).toBe(99);
        await again.close();
      }),
      { numRuns: rounds(60) },
    );
  });

  it("a byte flipped anywhere in the log never changes an answer: it ends there", async () => {
    const { dir: source, ends } = await crashed(6, 2);
    const whole = await readFile(toLog(source));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: ends[0] as number, max: whole.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const dir = await makeTempDir();
          const bytes = Buffer.from(whole);
          bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
          await copyFile(pickMain(source), pickMain(dir));
          await writeFile(toLog(dir), bytes);
          const db = open(dir);
          const kept = ends.filter((end) => end <= at).length - 1;
          expect(await ids(db)).toEqual(Array.from({ length: kept * 2 }, (_, i) => 1 + Math.floor(i / 2)));
          await db.close();
        },
      ),
      { numRuns: rounds(80) },
    );
  });

  it("a file with a missing end is not opened, and is kept", async () => {
    const source = await makeTempDir();
    const db = open(source);
    await db.run(CREATE);
    for (let i = 0; i < 50; i++) await db.run("insert into t values (?, ?)", [i, "text ".repeat(80)]);
    await db.close();
    const whole = await readFile(pickMain(source));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 4_096), async (end) => {
        const dir = await makeTempDir();
        const bytes = whole.subarray(0, end);
        await writeFile(pickMain(dir), bytes);
        const damaged = open(dir);
        await expect(damaged.ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
        await damaged.close();
        expect((await readFile(pickMain(dir))).equals(bytes)).toBe(true);
      }),
      { numRuns: rounds(60) },
    );
  });
});

describe("reading beside a running owner", () => {
  it("sees what is on disk, and never writes", async () => {
    const dir = await makeTempDir();
    const owner = open(dir);
    await owner.run(CREATE);
    await owner.run("insert into t values (1, '')");
    await appendFile(toLog(dir), "half a frame");
    const before = await readFile(toLog(dir));
    const reader = open(dir, { readOnly: true });
    expect(await ids(reader)).toEqual([1]);
    await expect(reader.run("delete from t")).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    await reader.close();
    expect((await readFile(toLog(dir))).equals(before)).toBe(true);
    expect(await readdir(dir)).toEqual(["catalog.db", "catalog.db-wal"]);
    await owner.close();
  });

  it("finds no gap while the owner writes and updates its files, however long it reads", async () => {
    const dir = await makeTempDir();
    const owner = open(dir, { logLimit: 12_000 });
    await owner.run(CREATE);
    let acknowledged = 0;
    let stop = false;
    const writing = (async () => {
      for (let i = 1; !stop; i++) {
        await owner.run("insert into t values (?, ?)", [i, "some text ".repeat(40)]);
        acknowledged = i;
      }
    })();
    const long = open(dir, { readOnly: true });
    for (let round = 0; round < 25; round++) {
      for (const reader of [open(dir, { readOnly: true }), long]) {
        const least = reader === long ? 0 : acknowledged;
        const seen = await ids(reader);
        expect(seen.length).toBeGreaterThanOrEqual(least);
        expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
        if (reader !== long) await reader.close();
      }
    }
    stop = true;
    await writing;
    await owner.close();
    expect((await ids(long)).length).toBe(acknowledged);
    await long.close();
  });
});

describe("closing", () => {
  it("leaves the log where updating the file would take too long, and nothing is lost", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await db.run(CREATE);
    await db.run("insert into t values (1, '')");
    await db.close(0);
    expect(await readdir(dir)).toEqual(["catalog.db", "catalog.db-wal"]);
    const again = open(dir);
    expect(await ids(again)).toEqual([1]);
    await again.run("insert into t values (2, '')");
    await again.close(60_000);
    expect(await readdir(dir)).toEqual(["catalog.db"]);
  });
});
