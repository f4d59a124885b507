/** What takes long with a large catalogue: an update's steps, snapshots when nobody writes, and none when the service has to end. */
import { cp, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";
import { migrate } from "../../core/storage/migrate.ts";
import type { Blocks } from "../../core/storage/snapshot.ts";
import { createPool, type Pool } from "../../core/workers/pool.ts";
import { failing } from "./failing-disk.ts";

/** Every catalogue is a large one, and two blocks are all that stay. */
const LARGE: Blocks = { from: 0, keep: 2 };
const ROWS = 400;

let dir: string;
let notices: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-large-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  notices = [];
});
async function openIt(options: Partial<DatabaseOptions> = {}) {
  const db = openDatabase({ dir, blocks: LARGE, restMs: 1 << 30, onNotice: (line) => notices.push(line), ...options });
  onTestFinished(() => db.close());
  await db.ready;
  return db;
}
/** 400 rows of 1 KB, in a snapshot. */
async function filled(options: Partial<DatabaseOptions> = {}) {
  const db = await openIt();
  await db.run("create table t (n integer primary key, text text)");
  await db.batch(Array.from({ length: ROWS }, (_, n) => ["insert into t values (?, ?)", [n, `${n} `.repeat(300)]]));
  await db.close();
  return openIt(options);
}
const count = "select count(*) as n, sum(length(text)) as length from t";
const whole = "pragma integrity_check";

describe("a step of an update over a large catalogue", () => {
  /** The pool as it is without threads; `tasks` are those it was given. */
  function counted() {
    const own = createPool({ threads: 0 });
    const tasks: string[] = [];
    const pool: Pool = {
      ...own,
      run(task, ...args) {
        tasks.push(task.export);
        return own.run(task, ...args);
      },
    };
    return { pool, tasks };
  }
  const STEP =
    "create index by_text on t (text); alter table t add column size integer; update t set size = length(text)";

  it("is made off the main thread, after what is not in the snapshot yet, and stands in the journal as any batch", async () => {
    const { pool, tasks } = counted();
    const db = await filled({ pool });
    await db.run("insert into t values (1000, 'before it')");
    await migrate(db, "sizes", [STEP]);
    expect(tasks).toEqual(["replayBatches"]);
    await db.run("insert into t values (1001, 'after it', 8)");
    const there = await db.all("select n, size from t order by n");
    expect(there).toHaveLength(ROWS + 2);
    expect(there.slice(-2)).toEqual([
      { n: 1000, size: 9 },
      { n: 1001, size: 8 },
    ]);
    expect(await db.all(whole)).toEqual([{ integrity_check: "ok" }]);
    const copy = `${dir}-killed`;
    await cp(dir, copy, { recursive: true });
    onTestFinished(() => rm(copy, { recursive: true, force: true }));
    // What a kill leaves, and what closing does.
    const killed = openDatabase({ dir: copy, blocks: LARGE, onNotice: () => {} });
    onTestFinished(() => killed.close());
    expect(await killed.all("select n, size from t order by n")).toEqual(there);
    await db.close();
    const again = await openIt();
    expect(await again.all("select n, size from t order by n")).toEqual(there);
    expect(again.stats.journalBytes).toBe(24);
  });

  it("that fails, or that the disk does not take, is nowhere", async () => {
    const { calls, faults } = failing();
    const db = await filled({ pool: counted().pool, calls });
    const before = await db.all<{ n: number; length: number }>(count);
    await expect(migrate(db, "sizes", ["update t set text = ''; select nothing from t"])).rejects.toThrow(/nothing/);
    expect(await db.all(count)).toEqual(before);
    faults.write = "ENOSPC";
    await expect(migrate(db, "sizes", [STEP])).rejects.toMatchObject({ code: "STORAGE_FULL" });
    expect(await db.all("select name from sqlite_master order by name")).toEqual([{ name: "t" }]);
    delete faults.write;
    await migrate(db, "sizes", [STEP]);
    expect(await db.get("select sum(size) as length from t")).toEqual({ length: before[0]?.length });
  });
});

describe("a snapshot of a large catalogue", () => {
  const journal = () => stat(join(dir, "catalog.journal")).then(({ size }) => size);
  const snapshot = () => stat(join(dir, "catalog.db")).then(({ ino }) => ino);

  it("is written once nobody writes, where few words changed many rows: not each start is to do that again", async () => {
    const flushed = new Promise(
      (resolve) =>
        void filled({ restMs: 0, journalLimit: 10_000, onFlushed: resolve }).then((db) =>
          db.run("update t set text = 'x' where n < 200"),
        ),
    );
    await flushed;
    expect(await journal()).toBe(24);
    const again = await openIt({ restMs: 0, journalLimit: 1 << 20, onFlushed: () => notices.push("written") });
    await again.run("update t set text = 'y' where n = 0");
    await again.close();
    expect(await again.stats.journalBytes).toBeGreaterThan(24);
    expect(notices).toEqual([]);
  });

  it("is given up by a close that takes too long; nothing is lost, nothing of it stays", async () => {
    const db = await filled();
    await db.run("update t set text = 'x'");
    const before = await snapshot();
    await db.close(0);
    expect(await snapshot()).toBe(before);
    expect((await readdir(dir)).sort()).toEqual(["catalog.db", "catalog.journal"]);
    expect(notices).toEqual([]);
    const again = await openIt();
    expect(await again.get(count)).toEqual({ n: ROWS, length: ROWS });
    await again.close(60_000);
    expect(await snapshot()).not.toBe(before);
    expect(await journal()).toBe(24);
  });

  it("that is being written is given up as well", async () => {
    const { calls } = failing();
    let opened = () => {};
    const begun = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const db = await filled({
      calls: {
        ...calls,
        async open(path, ...rest) {
          const file = await calls.open(path, ...rest);
          if (String(path).endsWith(".tmp")) opened();
          return file;
        },
      },
    });
    await db.run("update t set text = 'x'");
    const written = db.flush();
    await begun;
    await Promise.all([expect(written).rejects.toMatchObject({ name: "AbortError" }), db.close(0)]);
    expect((await readdir(dir)).sort()).toEqual(["catalog.db", "catalog.journal"]);
    expect(await (await openIt()).get(count)).toEqual({ n: ROWS, length: ROWS });
  });
});
