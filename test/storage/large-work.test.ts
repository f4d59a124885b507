/** Snapshots of a large catalogue: when no write comes, and none when the service has to end. */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { DatabaseOptions } from "../../core/storage/database-options.ts";
import { failing } from "./failing-disk.ts";

const ROWS = 400;

let dir: string;
let notices: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-large-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  notices = [];
});
async function openIt(options: Partial<DatabaseOptions> = {}) {
  const db = openDatabase({ dir, largeFrom: 0, restMs: 1 << 30, onNotice: (line) => notices.push(line), ...options });
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

describe("a snapshot of a large catalogue", () => {
  const journal = () => stat(join(dir, "catalog.journal")).then(({ size }) => size);
  const snapshot = () => stat(join(dir, "catalog.db")).then(({ ino }) => ino);

  it("is written when no write comes for a while, once the journal is not short", async () => {
    const flushed = new Promise(
      (resolve) =>
        void filled({ restMs: 0, journalLimit: 10_000, onFlushed: resolve }).then((db) =>
          db.run("insert into t values (1000, ?)", ["x".repeat(8_000)]),
        ),
    );
    await flushed;
    expect(await journal()).toBe(24);
    const again = await openIt({ restMs: 0, journalLimit: 1 << 20, onFlushed: () => notices.push("written") });
    await again.run("update t set text = 'y' where n = 0");
    await again.close();
    expect(again.stats.journalBytes).toBeGreaterThan(24);
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
    await again.run("insert into t values (1000, ?)", ["y".repeat(20_000)]);
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
