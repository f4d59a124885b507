/** Who may write: every acknowledged write is there in the end, whichever other process believed it owned the archive. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import * as disk from "node:fs/promises";
import { cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { createStorage } from "../../core/storage/index.ts";
import { acquireLock, type LockInfo, readLock } from "../../core/storage/lock.ts";
import { ownIdentity } from "../../core/storage/process-identity.ts";
import type { Storage } from "../../core/storage/types.ts";
import { LONG, rounds } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "sessarc-own-")), "data");
});
afterEach(() => rm(join(dir, ".."), { recursive: true, force: true }));

const lockFile = () => join(dir, "lock.json");
const open = async (notices: string[] = []) => {
  const storage = await createStorage({ dataDir: dir, onNotice: (line) => notices.push(line) });
  onTestFinished(() => storage.db.close());
  return storage;
};
const write = ({ db }: Storage, value: number) => db.run("insert into t values (?)", [value]);
const values = async ({ db }: Storage) =>
  (await db.all<{ a: number }>("select a from t order by a")).map((row) => row.a);
const left = async (token: string): Promise<LockInfo> => ({ ...(await ownIdentity()), startedAt: "", token });

describe("an owner whose lock another one took", () => {
  it("writes nothing any more, reports it, reads what the other writes, and leaves the other's files alone", async () => {
    const notices: string[] = [];
    const first = await open(notices);
    await first.db.run("create table t (a)");
    await write(first, 1);
    // As when the file was removed by hand, or its owner slept past the other's patience.
    await rm(lockFile());
    const second = await open();
    await write(second, 2);
    const before = await write(first, 3).catch((error: unknown) => error);
    expect(before).toMatchObject({ code: "ARCHIVE_LOCKED", params: { pid: process.pid } });
    await write(second, 4);
    await expect(write(first, 5)).rejects.toMatchObject({ code: "ARCHIVE_LOCKED" });
    expect(await values(first)).toEqual([1, 2, 4]);
    expect(notices).toEqual([expect.stringMatching(/open in another process.*Nothing is written any more/)]);
    await first.db.close();
    expect(JSON.parse(await readFile(lockFile(), "utf8"))).toMatchObject({ token: second.lock?.info.token });
    await write(second, 6);
    await second.db.close();
    const after = await open();
    expect(await values(after)).toEqual([1, 2, 4, 6]);
  });

  it("goes on when no process took it: a file that was removed, emptied or put back from a copy", async () => {
    const storage = await open();
    await storage.db.run("create table t (a)");
    await rm(lockFile());
    await write(storage, 1);
    await writeFile(lockFile(), JSON.stringify({ ...(await left("copy")), pid: await deadPid() }));
    await write(storage, 2);
    await writeFile(lockFile(), "");
    await utimes(lockFile(), 1, 1);
    await write(storage, 3);
    expect(JSON.parse(await readFile(lockFile(), "utf8"))).toMatchObject({ token: storage.lock?.info.token });
    await expect(createStorage({ dataDir: dir })).rejects.toMatchObject({ code: "ARCHIVE_LOCKED" });
    expect(await values(storage)).toEqual([1, 2, 3]);
  });

  it("notices one that came and went while it slept", async () => {
    const first = await open();
    await first.db.run("create table t (a)");
    await rm(lockFile());
    const second = await open();
    await write(second, 1);
    await second.db.close();
    await expect(write(first, 2)).rejects.toMatchObject({ code: "STORAGE_REPLACED" });
    expect(await values(first)).toEqual([1]);
    await first.db.close();
    expect(await values(await open())).toEqual([1]);
  });

  it("loses nothing that was acknowledged, in any order of writes, compactions, removed locks and takeovers", async () => {
    const step = fc.constantFrom("write", "write", "other", "compact", "unlock", "take", "close");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        await rm(dir, { recursive: true, force: true });
        const acknowledged: number[] = [];
        const owners: Storage[] = [await createStorage({ dataDir: dir, onNotice: () => {} })];
        await owners[0]?.db.run("create table t (a)");
        let next = 0;
        for (const one of steps) {
          const storage = owners.at(one === "other" ? 0 : -1) as Storage;
          if (one === "unlock") await rm(lockFile(), { force: true });
          else if (one === "take") {
            const taken = await createStorage({ dataDir: dir, onNotice: () => {} }).catch(() => undefined);
            if (taken) owners.push(taken);
          } else if (one === "close" && owners.length > 1) await owners.pop()?.db.close();
          else if (one === "compact") await storage.db.compact().catch(() => {});
          else {
            const value = next++;
            // Two at once: both owners may be in the middle of a write.
            const [done] = await Promise.allSettled([write(storage, value), write(owners[0] as Storage, -1)]);
            if (done.status === "fulfilled") acknowledged.push(value);
          }
        }
        for (const owner of owners) await owner.db.close();
        const last = await createStorage({ dataDir: dir });
        const found = (await values(last)).filter((value) => value >= 0);
        await last.db.close();
        expect(found).toEqual(expect.arrayContaining(acknowledged));
        expect(new Set(found).size).toBe(found.length);
      }),
      { numRuns: rounds(60) },
    );
  });
});

describe("a data directory that goes away", () => {
  it.each(["removed", "replaced by a copy of itself", "replaced by an empty one"])(
    "%s under its owner: nothing is acknowledged",
    async (how) => {
      const storage = await open();
      await storage.db.run("create table t (a)");
      await write(storage, 1);
      if (how === "replaced by a copy of itself") {
        await cp(dir, `${dir}-copy`, { recursive: true });
        await rm(dir, { recursive: true });
        await disk.rename(`${dir}-copy`, dir);
      } else {
        await rm(dir, { recursive: true });
        if (how === "replaced by an empty one") await disk.mkdir(dir);
      }
      await expect(write(storage, 2)).rejects.toMatchObject({ code: "STORAGE_REPLACED" });
      await expect(write(storage, 3)).rejects.toMatchObject({ code: "STORAGE_REPLACED" });
      if (how !== "replaced by a copy of itself")
        await expect(values(storage)).rejects.toMatchObject({ code: "STORAGE_REPLACED" });
      await storage.db.close();
    },
  );

  it("a batch that could not be stored is taken back though the folder is out of reach, and writing goes on with it", async () => {
    await disk.mkdir(dir);
    const { calls, faults } = failing();
    const db = openDatabase({ dir, calls, onNotice: () => {} });
    onTestFinished(() => db.close());
    await db.run("create table t (a)");
    await db.run("insert into t values (1)");
    faults.write = "ENOSPC";
    const refused = expect(db.run("insert into t values (2)")).rejects.toThrow();
    await refused;
    await disk.rename(dir, `${dir}-away`);
    expect(await db.all("select a from t")).toEqual([{ a: 1 }]);
    await disk.rename(`${dir}-away`, dir);
    faults.write = "";
    await db.run("insert into t values (3)");
    expect(await db.all("select a from t")).toEqual([{ a: 1 }, { a: 3 }]);
  });
});

describe("locks", () => {
  it("a copy of the directory has no owner, and is opened beside the original", async () => {
    const original = await open();
    await original.lock?.update({ url: "http://127.0.0.1:1/" });
    await original.db.run("create table t (a)");
    await write(original, 1);
    const copy = `${dir}-copy`;
    await cp(dir, copy, { recursive: true });
    expect(await readLock(copy)).toBeUndefined();
    const other = await createStorage({ dataDir: copy });
    await write(other, 2);
    await write(original, 3);
    expect([await values(original), await values(other)]).toEqual([
      [1, 3],
      [1, 2],
    ]);
    await other.db.close();
    expect((await readLock(dir))?.token).toBe(original.lock?.info.token);
  });

  it.each([
    ["the file before the log", ["catalog.db", "catalog.db-wal"]],
    ["the log before the file", ["catalog.db-wal", "catalog.db"]],
  ])("a copy that takes %s holds all that was written before it, whichever step comes in between", async (_, names) => {
    for (const before of [0, 1, 2, 3, 4, 5]) {
      await rm(dir, { recursive: true, force: true });
      const original = openDatabase({ dir, logLimit: 20_000, onNotice: () => {} });
      await original.run("create table t (a integer, text text)");
      let n = 0;
      const add = () => original.run("insert into t values (?, ?)", [n++, "x".repeat(9_000)]);
      for (let i = 0; i < 8 + before; i++) await add();
      const copy = `${dir}-copy`;
      await rm(copy, { recursive: true, force: true });
      await disk.mkdir(copy);
      const least = n;
      await cp(join(dir, names[0] ?? ""), join(copy, names[0] ?? ""));
      for (let i = 0; i < 2; i++) await add();
      await cp(join(dir, names[1] ?? ""), join(copy, names[1] ?? ""));
      const other = openDatabase({ dir: copy, onNotice: () => {} });
      expect(await other.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
      const found = (await other.all<{ a: number }>("select a from t order by a")).map(({ a }) => a);
      expect(found).toEqual(Array.from(found, (_, i) => i));
      expect(found.length).toBeGreaterThanOrEqual(least);
      await other.close();
      await original.close();
    }
  });

  const copies = LONG ? 40 : 4;
  it(`${copies} copies under writes open, each with all that was acknowledged before it was begun`, async () => {
    const original = await open();
    await original.db.run("create table t (a)");
    let acknowledged = 0;
    let running = true;
    const writer = (async () => {
      while (running) {
        await Promise.all(Array.from({ length: 8 }, (_, n) => write(original, acknowledged + n)));
        acknowledged += 8;
      }
    })();
    for (let n = 0; n < copies; n++) {
      const before = acknowledged;
      const copy = `${dir}-${n}`;
      await promisify(execFile)("cp", ["-r", dir, copy]);
      const other = await createStorage({ dataDir: copy });
      const found = await values(other);
      expect(found.length).toBeGreaterThanOrEqual(before);
      expect(found).toEqual(Array.from(found, (_, i) => i));
      await other.db.close();
    }
    running = false;
    await writer;
  });

  it("one that is dated in the future keeps no process out", async () => {
    await disk.mkdir(dir);
    const foreign = { ...(await left("far")), boot: "another", host: `not-${hostname()}` };
    await writeFile(lockFile(), JSON.stringify(foreign));
    const later = new Date(Date.now() + 86_400_000);
    await utimes(lockFile(), later, later);
    await (await acquireLock(dir)).release();
  });

  it("of many starts on a dead lock one gets it and the others hear so, though the winner sweeps", async () => {
    for (let round = 0; round < 5; round++) {
      await disk.mkdir(dir, { recursive: true });
      await writeFile(lockFile(), JSON.stringify({ ...(await left(`dead${round}`)), pid: await deadPid() }));
      const starts = await Promise.allSettled(Array.from({ length: 12 }, () => createStorage({ dataDir: dir })));
      const got = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
      expect(got).toHaveLength(1);
      for (const start of starts)
        if (start.status === "rejected") expect(start.reason).toMatchObject({ code: "ARCHIVE_LOCKED" });
      await got[0]?.db.close();
    }
    expect((await readdir(dir)).filter((name) => name.startsWith(".~"))).toEqual([]);
  });
});

async function deadPid(): Promise<number> {
  const child = spawn("true");
  await once(child, "exit");
  return child.pid as number;
}
