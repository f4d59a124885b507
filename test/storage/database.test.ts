import { appendFile, copyFile, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { openSqliteFile } from "../../core/storage/sqlite-file.ts";
import { openInThread } from "../../core/storage/thread.ts";
import { makeTempDir } from "../_setup.ts";
import { testDatabase } from "../database.ts";
import { rounds } from "../rounds.ts";
import { CREATE, ids, journalOf, open, snapshotOf, threadEntry } from "./catalogue.ts";
import { failing } from "./failing-disk.ts";

testDatabase("sql.js", { dir: makeTempDir, open: (dir) => openDatabase({ dir }) });
testDatabase("sql.js, a snapshot after every few batches", {
  dir: makeTempDir,
  open: (dir) => openDatabase({ dir, journalLimit: 200 }),
});

const entry = await threadEntry();
testDatabase("sql.js in its own thread", { dir: makeTempDir, open: (dir) => openInThread({ dir, entry }) });

/** A directory whose journal holds one group for each of `count` batches, as a crash leaves it; and where each group ends. */
async function crashed(count: number, rowsPerBatch = 1): Promise<{ dir: string; ends: number[] }> {
  const [work, dir] = [await makeTempDir(), await makeTempDir()];
  const db = open(work);
  await db.run(CREATE);
  const ends = [db.stats.journalBytes];
  for (let i = 1; i <= count; i++) {
    await db.batch(
      Array.from({ length: rowsPerBatch }, () => ["insert into t values (?, ?)", [i, `batch ${i}`]] as const),
    );
    ends.push(db.stats.journalBytes);
  }
  await copyFile(journalOf(work), journalOf(dir));
  await db.close();
  return { dir, ends };
}

describe("journal and snapshot", () => {
  it("writes nothing before the first batch", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    expect(await db.all("select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
    expect(await readdir(dir)).toEqual([]);
  });

  it("shares one fsync between batches that come together", async () => {
    const { calls, counts } = failing();
    const db = open(await makeTempDir(), { calls });
    await db.run(CREATE);
    counts.syncs = 0;
    await Promise.all(Array.from({ length: 200 }, (_, i) => db.run("insert into t values (?, '')", [i])));
    expect(counts.syncs).toBeLessThanOrEqual(2);
    expect((await ids(db)).length).toBe(200);
    await db.close();
  });

  it("P1: a batch writes its own bytes, not the database", async () => {
    const { calls, counts } = failing();
    const db = open(await makeTempDir(), { calls });
    await db.run(CREATE);
    await db.batch(
      Array.from({ length: 5000 }, (_, i) => ["insert into t values (?, ?)", [i, "x".repeat(200)]] as const),
    );
    counts.bytes = 0;
    await db.run("insert into t values (1, 'small')");
    expect(counts.bytes).toBeLessThan(200);
    await db.close();
  });

  it("keeps the snapshot readable to any SQLite tool", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await db.run(CREATE);
    await db.run("insert into t values (1, 'one')");
    await db.close();
    const file = await openSqliteFile(snapshotOf(dir));
    expect(file.all("select * from t")).toEqual([{ id: 1, text: "one" }]);
    expect(file.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    file.close();
    if (process.platform !== "win32") {
      expect((await stat(snapshotOf(dir))).mode & 0o777).toBe(0o600);
      expect((await stat(journalOf(dir))).mode & 0o777).toBe(0o600);
    }
  });

  it("writes a snapshot when the journal passes its limit, and starts the journal again", async () => {
    const dir = await makeTempDir();
    const flushed: number[] = [];
    const db = open(dir, { journalLimit: 20_000, onFlushed: ({ bytes }) => flushed.push(bytes) });
    await db.run(CREATE);
    for (let i = 0; i < 300; i++) await db.run("insert into t values (?, ?)", [i, "y".repeat(150)]);
    expect(flushed.length).toBeGreaterThan(1);
    expect(db.stats.journalBytes).toBeLessThan(40_000);
    await db.close();
    const again = open(dir);
    expect((await ids(again)).length).toBe(300);
    await again.close();
  });

  it("does not write a snapshot when nothing changed", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await db.run(CREATE);
    await db.close();
    const { calls, counts } = failing();
    const again = open(dir, { calls });
    await again.all("select * from t");
    await again.flush();
    await again.close();
    expect(counts).toEqual({ syncs: 0, bytes: 0 });
  });

  it("repeats nothing after a crash between the snapshot and the new journal", async () => {
    const { dir } = await crashed(5);
    const before = await readFile(journalOf(dir));
    const db = open(dir);
    await db.flush();
    await db.run("insert into t values (6, 'after')");
    await db.close();
    const newest = await readFile(journalOf(dir));
    await writeFile(journalOf(dir), before);
    const again = open(dir);
    expect(await ids(again)).toEqual([1, 2, 3, 4, 5, 6]);
    await again.run("insert into t values (7, 'goes on')");
    await again.close();
    const last = open(dir);
    expect(await ids(last)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await last.close();
    expect(newest.length).toBeGreaterThan(0);
  });

  it("notices a snapshot that is older than its journal, or missing, or another one", async () => {
    const { dir } = await crashed(3);
    const db = open(dir);
    await db.flush();
    const old = await readFile(snapshotOf(dir));
    await db.run("insert into t values (4, '')");
    await db.close();
    const journal = await readFile(journalOf(dir));
    const code = () =>
      open(dir).ready.then(
        () => "",
        (error: { code: string }) => error.code,
      );
    expect(await code()).toBe("");
    await writeFile(snapshotOf(dir), old);
    expect(await code()).toBe("CATALOG_DAMAGED");
    await rm(snapshotOf(dir));
    expect(await code()).toBe("CATALOG_DAMAGED");
    const other = await makeTempDir();
    const second = open(other);
    for (const sql of [
      CREATE,
      "insert into t values (9, '')",
      "select 1",
      "delete from t",
      "insert into t values (8, '')",
      "drop table t",
    ]) {
      await second.run(sql).catch(() => undefined);
    }
    await second.close();
    await copyFile(snapshotOf(other), snapshotOf(dir));
    await writeFile(journalOf(dir), journal);
    expect(await code()).toBe("CATALOG_DAMAGED");
  });

  it("surfaces what is wrong in every call", async () => {
    const dir = await makeTempDir();
    await writeFile(snapshotOf(dir), "not a database at all");
    const db = open(dir);
    const wrong = { code: "CATALOG_DAMAGED", message: expect.stringContaining(snapshotOf(dir)) };
    await expect(db.ready).rejects.toMatchObject(wrong);
    await expect(db.all("select 1")).rejects.toMatchObject(wrong);
    await expect(db.run("create table t (a)")).rejects.toMatchObject(wrong);
    await db.close();
    expect(await readFile(snapshotOf(dir), "utf8")).toBe("not a database at all");
  });
});

describe("torn ends and flipped bytes", () => {
  it("a journal cut anywhere opens with the batches that are whole, and puts the rest aside", async () => {
    const { dir: source, ends } = await crashed(8, 3);
    const whole = await readFile(journalOf(source));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0] as number, max: whole.length }), async (cut) => {
        const dir = await makeTempDir();
        await writeFile(journalOf(dir), whole.subarray(0, cut));
        const notices: string[] = [];
        const db = open(dir, { onNotice: (text) => notices.push(text) });
        const kept = ends.filter((end) => end <= cut).length - 1;
        expect(await ids(db)).toEqual(Array.from({ length: kept * 3 }, (_, i) => 1 + Math.floor(i / 3)));
        await db.run("insert into t values (99, 'next')");
        const torn = cut - (ends[kept] as number);
        expect(notices.length).toBe(torn > 0 ? 1 : 0);
        if (torn > 0) expect((await stat(`${journalOf(dir)}.torn`)).size).toBe(torn);
        await copyFile(journalOf(dir), join(dir, "copy"));
        await db.close();

        const after = await makeTempDir();
        await copyFile(join(dir, "copy"), journalOf(after));
        const again = open(after);
        expect((await ids(again)).at(-1)).toBe(99);
        await again.close();
      }),
      { numRuns: rounds(60) },
    );
  });

  it("a byte flipped anywhere in the journal never changes an answer: it is noticed, or the last batch is missing", async () => {
    const { dir: source, ends } = await crashed(6, 2);
    const whole = await readFile(journalOf(source));
    const all = Array.from({ length: 12 }, (_, i) => 1 + Math.floor(i / 2));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const dir = await makeTempDir();
        const bytes = Buffer.from(whole);
        bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
        await writeFile(journalOf(dir), bytes);
        const db = open(dir, { onNotice: () => undefined });
        const answer = await ids(db).catch((error: { code: string; message: string }) => {
          expect(error).toMatchObject({ code: "CATALOG_DAMAGED", message: expect.stringContaining("catalog.journal") });
          return undefined;
        });
        if (at < (ends.at(-2) as number)) {
          expect(answer).toBeUndefined();
          expect(Buffer.compare(await readFile(journalOf(dir)), bytes)).toBe(0);
        } else expect(answer).toEqual(all.slice(0, -2));
        await db.close();
      }),
      { numRuns: rounds(80) },
    );
  });

  it("a snapshot with a flipped byte or a missing end is not opened, and is kept", async () => {
    const source = await makeTempDir();
    const db = open(source);
    await db.run(CREATE);
    for (let i = 0; i < 50; i++) await db.run("insert into t values (?, ?)", [i, "text ".repeat(40)]);
    await db.close();
    const whole = await readFile(snapshotOf(source));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, mask) => {
        const dir = await makeTempDir();
        const bytes = mask === 0 ? whole.subarray(0, at) : Buffer.from(whole);
        if (mask > 0) bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
        await writeFile(snapshotOf(dir), bytes);
        await copyFile(journalOf(source), journalOf(dir));
        const damaged = open(dir);
        await expect(damaged.all("select * from t")).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
        await damaged.close();
        expect(Buffer.compare(await readFile(snapshotOf(dir)), bytes)).toBe(0);
      }),
      { numRuns: rounds(60) },
    );
  });

  it("does not take a foreign or newer file for a journal", async () => {
    for (const bytes of [Buffer.from(""), Buffer.from("hello"), Buffer.alloc(64)]) {
      const dir = await makeTempDir();
      await writeFile(journalOf(dir), bytes);
      await expect(open(dir).ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    }
    const { dir } = await crashed(1);
    await truncate(journalOf(dir), 10);
    await expect(open(dir).ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    await appendFile(journalOf(dir), "x");
  });
});

describe("reading beside a running owner", () => {
  it("sees what is on disk, and never writes", async () => {
    const dir = await makeTempDir();
    const owner = open(dir);
    await owner.run(CREATE);
    await owner.run("insert into t values (1, '')");
    await appendFile(journalOf(dir), "half a rec");
    const before = await readFile(journalOf(dir));
    const reader = open(dir, { readOnly: true });
    expect(await ids(reader)).toEqual([1]);
    await expect(reader.run("delete from t")).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    await reader.flush();
    await reader.close();
    expect(Buffer.compare(await readFile(journalOf(dir)), before)).toBe(0);
    expect(await readdir(dir)).toEqual(["catalog.journal"]);
    await owner.close();
  });

  it("finds no gap while the owner writes and replaces its files", async () => {
    const dir = await makeTempDir();
    const owner = open(dir, { journalLimit: 300 });
    await owner.run(CREATE);
    let acknowledged = 0;
    let stop = false;
    const writing = (async () => {
      for (let i = 1; !stop; i++) {
        await owner.run("insert into t values (?, 'some text')", [i]);
        acknowledged = i;
      }
    })();
    for (let round = 0; round < 25; round++) {
      const least = acknowledged;
      const reader = open(dir, { readOnly: true });
      const seen = await ids(reader);
      expect(seen.length).toBeGreaterThanOrEqual(least);
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
      await reader.close();
    }
    stop = true;
    await writing;
    await owner.close();
  });
});
