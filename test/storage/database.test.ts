import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type DatabaseOptions, openDatabase } from "../../core/storage/database.ts";
import { openSqliteFile } from "../../core/storage/sqlite-file.ts";
import { testDatabase } from "../database.ts";
import { rounds } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

const dirs: string[] = [];
const makeDir = async () => {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-db-"));
  dirs.push(dir);
  return dir;
};
afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true });
});

testDatabase("sql.js", { dir: makeDir, open: (dir) => openDatabase({ dir }) });
testDatabase("sql.js, a snapshot after every few batches", {
  dir: makeDir,
  open: (dir) => openDatabase({ dir, journalLimit: 200 }),
});

const open = (dir: string, options: Partial<DatabaseOptions> = {}) => openDatabase({ dir, ...options });
const ids = async (db: ReturnType<typeof openDatabase>) =>
  (await db.all<{ id: number }>("select id from t order by rowid")).map((row) => row.id);
const journalOf = (dir: string) => join(dir, "catalog.journal");
const snapshotOf = (dir: string) => join(dir, "catalog.db");
const CREATE = "create table t (id integer, text text)";

/** A directory whose journal holds one group for each of `count` batches, as a crash leaves it; and where each group ends. */
async function crashed(count: number, rowsPerBatch = 1): Promise<{ dir: string; ends: number[] }> {
  const [work, dir] = [await makeDir(), await makeDir()];
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
    const dir = await makeDir();
    const db = open(dir);
    expect(await db.all("select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
    expect(await readdir(dir)).toEqual([]);
  });

  it("shares one fsync between batches that come together", async () => {
    const { calls, counts } = failing();
    const db = open(await makeDir(), { calls });
    await db.run(CREATE);
    counts.syncs = 0;
    await Promise.all(Array.from({ length: 200 }, (_, i) => db.run("insert into t values (?, '')", [i])));
    expect(counts.syncs).toBeLessThanOrEqual(2);
    expect((await ids(db)).length).toBe(200);
    await db.close();
  });

  it("P1: a batch writes its own bytes, not the database", async () => {
    const { calls, counts } = failing();
    const db = open(await makeDir(), { calls });
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
    const dir = await makeDir();
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

  it("writes a snapshot when the journal passes its limit, and starts the journal anew", async () => {
    const dir = await makeDir();
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
    const dir = await makeDir();
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
    const other = await makeDir();
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
    const dir = await makeDir();
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
        const dir = await makeDir();
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

        const after = await makeDir();
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
        const dir = await makeDir();
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
    const source = await makeDir();
    const db = open(source);
    await db.run(CREATE);
    for (let i = 0; i < 50; i++) await db.run("insert into t values (?, ?)", [i, "text ".repeat(40)]);
    await db.close();
    const whole = await readFile(snapshotOf(source));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, mask) => {
        const dir = await makeDir();
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
      const dir = await makeDir();
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
    const dir = await makeDir();
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
    const dir = await makeDir();
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

describe("a disk that is full, read-only or broken", () => {
  const setup = async (options: Partial<DatabaseOptions> = {}) => {
    const dir = await makeDir();
    const disk = failing();
    const notices: string[] = [];
    const db = open(dir, { calls: disk.calls, onNotice: (text) => notices.push(text), ...options });
    await db.run(CREATE);
    await db.run("insert into t values (1, '')");
    return { dir, db, notices, ...disk };
  };

  for (const [what, faults] of [
    ["at once", { write: "ENOSPC" }],
    ["in the middle of a record", { write: "ENOSPC", writeBytes: 30 }],
    ["and the end cannot be cut off", { write: "ENOSPC", writeBytes: 30, truncate: "EIO" }],
  ] as const) {
    it(`a full disk (${what}): the batch is undone in memory too, and writing goes on when there is room`, async () => {
      const { dir, db, faults: active } = await setup();
      const before = db.generation;
      Object.assign(active, faults);
      const lost = await Promise.allSettled(
        [2, 3, 4].map((id) => db.run("insert into t values (?, 'a longer text to be lost')", [id])),
      );
      for (const result of lost)
        expect(result).toMatchObject({ status: "rejected", reason: { code: "STORAGE_FULL", status: 507 } });
      expect(await ids(db)).toEqual([1]);
      expect(db.generation).toBeGreaterThan(before);
      for (const key of Object.keys(active)) delete active[key as keyof typeof active];
      await db.run("insert into t values (5, '')");
      expect(await ids(db)).toEqual([1, 5]);
      await copyFile(journalOf(dir), join(dir, "as-after-a-crash"));
      await db.close();

      const crash = await makeDir();
      await copyFile(join(dir, "as-after-a-crash"), journalOf(crash));
      for (const home of [dir, crash]) {
        const again = open(home, { onNotice: () => undefined });
        expect(await ids(again)).toEqual([1, 5]);
        await again.close();
      }
    });
  }

  it("a failed fsync ends writing until the next start; reads go on with what was acknowledged", async () => {
    const { dir, db, faults, notices } = await setup();
    faults.sync = "EIO";
    await expect(db.run("insert into t values (2, '')")).rejects.toMatchObject({
      code: "STORAGE_READ_ONLY",
      message: expect.stringContaining(journalOf(dir)),
    });
    faults.sync = undefined;
    await expect(db.run("insert into t values (3, '')")).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    expect(await ids(db)).toEqual([1]);
    await db.close();
    expect(notices.length).toBeGreaterThan(0);
    const again = open(dir);
    expect((await ids(again))[0]).toBe(1);
    expect(await ids(again)).not.toContain(3);
    await again.close();
  });

  it("a directory that cannot be written says so with its path", async () => {
    const dir = await makeDir();
    const { calls } = failing({ open: "EROFS" });
    const db = open(dir, { calls });
    await expect(db.run(CREATE)).rejects.toMatchObject({
      code: "STORAGE_READ_ONLY",
      message: expect.stringContaining(dir),
      fix: expect.any(String),
    });
    expect(await db.all("select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
  });

  it("a snapshot that cannot be written leaves the old one, and the journal has the rest", async () => {
    const { dir, db, faults, notices } = await setup();
    await db.flush();
    await db.run("insert into t values (2, '')");
    for (const fault of ["write", "rename", "open"] as const) {
      faults[fault] = "ENOSPC";
      await expect(db.flush(), fault).rejects.toMatchObject({ code: "STORAGE_FULL" });
      faults[fault] = undefined;
      await db.run("insert into t values (3, '')");
    }
    faults.rename = "ENOSPC";
    await db.close();
    expect(notices.join()).toMatch(/journal has everything/);
    expect((await readdir(dir)).sort()).toEqual(["catalog.db", "catalog.journal"]);
    const again = open(dir);
    expect(await ids(again)).toEqual([1, 2, 3, 3, 3]);
    await again.close();
  });

  it("does not try a snapshot at every batch while there is no room for it", async () => {
    const { db, faults, notices } = await setup({ journalLimit: 500 });
    faults.rename = "ENOSPC";
    for (let i = 0; i < 60; i++) await db.run("insert into t values (?, 'some text to fill')", [i]);
    expect(notices.length).toBeGreaterThan(0);
    expect(notices.length).toBeLessThan(8);
    await db.close();
  });

  it("whatever fails when: acknowledged batches stay, refused ones are gone, none is there by half", async () => {
    const step = fc.record({
      fault: fc.constantFrom(
        {},
        {},
        {},
        { write: "ENOSPC" },
        { write: "ENOSPC", writeBytes: 25 },
        { rename: "EIO" },
        { sync: "EIO" },
        { open: "ENOSPC" },
        { write: "ENOSPC", writeBytes: 9, truncate: "EIO" },
      ),
      batches: fc.integer({ min: 1, max: 3 }),
      flush: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const dir = await makeDir();
        const { calls, faults } = failing();
        let db = open(dir, { calls, journalLimit: 400, onNotice: () => undefined });
        await db.run(CREATE);
        const acknowledged: number[] = [];
        const unknown = new Set<number>();
        let id = 0;
        for (const { fault, batches, flush } of steps) {
          Object.assign(
            faults,
            {
              write: undefined,
              writeBytes: undefined,
              rename: undefined,
              sync: undefined,
              open: undefined,
              truncate: undefined,
            },
            fault,
          );
          const work: Promise<unknown>[] = Array.from({ length: batches }, () => {
            const own = ++id;
            const row = ["insert into t values (?, 'half')", [own]] as const;
            return db.batch([row, row]).then(
              () => void acknowledged.push(own),
              // After a failed fsync nobody knows what the disk holds.
              () => void ("sync" in fault && unknown.add(own)),
            );
          });
          if (flush) work.push(db.flush().catch(() => undefined));
          await Promise.all(work);
          expect(await ids(db)).toEqual(acknowledged.flatMap((n) => [n, n]));
        }
        Object.assign(faults, {
          write: undefined,
          rename: undefined,
          sync: undefined,
          open: undefined,
          truncate: undefined,
        });
        await db.close();
        db = open(dir, { onNotice: () => undefined });
        const found = await ids(db);
        expect(found.filter((n) => !unknown.has(n))).toEqual(acknowledged.flatMap((n) => [n, n]));
        for (const n of unknown) expect([0, 2]).toContain(found.filter((m) => m === n).length);
        await db.close();
      }),
      { numRuns: rounds(60) },
    );
  });
});
