import { cp, readdir } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { CREATE, ids, open, toLog } from "./catalogue.ts";
import { failing } from "./failing-disk.ts";

describe("a disk that is full, read-only or broken", () => {
  const setup = async (options: Partial<DatabaseOptions> = {}) => {
    const dir = await makeTempDir();
    const disk = failing();
    const notices: string[] = [];
    const db = open(dir, { calls: disk.calls, onNotice: (text) => notices.push(text), ...options });
    await db.run(CREATE);
    await db.run("insert into t values (1, '')");
    return { dir, db, notices, ...disk };
  };

  for (const [what, faults] of [
    ["at once", { write: "ENOSPC" }],
    ["in the middle of a commit", { write: "ENOSPC", writeBytes: 30 }],
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
      const crash = await makeTempDir();
      await cp(dir, crash, { recursive: true });
      await db.close();
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
      message: expect.stringContaining(toLog(dir)),
    });
    faults.sync = undefined;
    await expect(db.run("insert into t values (3, '')")).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    expect(await ids(db)).toEqual([1]);
    await db.close();
    expect(notices).toEqual([]);
    const again = open(dir);
    expect((await ids(again))[0]).toBe(1);
    expect(await ids(again)).not.toContain(3);
    await again.close();
  });

  it("a directory that cannot be written reports it with its path", async () => {
    const dir = await makeTempDir();
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

  it.each(["write", "rename", "open", "sync"] as const)(
    "a file that cannot be updated (%s) is left as it was, and the log has the rest",
    async (fault) => {
      const { dir, db, faults, notices } = await setup();
      await db.run("insert into t values (2, '')");
      faults[fault] = "ENOSPC";
      await db.close();
      expect(notices.join()).toMatch(/the log has everything/);
      expect((await readdir(dir)).sort()).toEqual(["catalog.db", "catalog.db-wal"]);
      const again = open(dir);
      expect(await ids(again)).toEqual([1, 2]);
      await again.close();
    },
  );

  it("does not try to update the file at every batch while there is no room for it", async () => {
    const { dir, db, faults, notices } = await setup({ logLimit: 50_000 });
    faults.rename = "ENOSPC";
    for (let i = 0; i < 60; i++) await db.run("insert into t values (?, 'some text to fill')", [i]);
    expect(notices.length).toBeGreaterThan(0);
    expect(notices.length).toBeLessThan(8);
    faults.rename = undefined;
    for (let i = 0; i < 20; i++) await db.run("insert into t values (?, 'some text to fill')", [i]);
    await db.close();
    expect(await readdir(dir)).toEqual(["catalog.db"]);
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
      compact: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const dir = await makeTempDir();
        const { calls, faults } = failing();
        let db = open(dir, { calls, logLimit: 10_000, onNotice: () => undefined });
        await db.run(CREATE);
        const acknowledged: number[] = [];
        const unknown = new Set<number>();
        let id = 0;
        for (const { fault, batches, compact } of steps) {
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
              // After a failed fsync it is unknown what the disk holds.
              () => void ("sync" in fault && unknown.add(own)),
            );
          });
          if (compact) work.push(db.compact().catch(() => undefined));
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
