import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStorage, readLock } from "../../core/storage/index.ts";
import { ownIdentity } from "../../core/storage/process-identity.ts";
import { tempName } from "../../core/utils/atomic.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), "sessarc-storage-")), "data");
});
afterEach(() => rm(join(dataDir, ".."), { recursive: true, force: true }));

describe("createStorage", () => {
  it("holds the directory until the catalogue is closed", async () => {
    const storage = await createStorage({ dataDir });
    await expect(createStorage({ dataDir })).rejects.toMatchObject({
      code: "ARCHIVE_LOCKED",
      params: { pid: process.pid },
    });
    await storage.lock?.update({ url: "http://127.0.0.1:1/" });
    expect((await readLock(dataDir))?.url).toBe("http://127.0.0.1:1/");
    await storage.db.run("create table t (a)");
    await storage.files.setItem("shares:a", { title: "x" });
    await storage.db.close();
    expect(await readLock(dataDir)).toBeUndefined();
    const again = await createStorage({ dataDir });
    expect(await again.files.getItem("shares:a")).toEqual({ title: "x" });
    await again.db.close();
    expect((await readdir(dataDir)).sort()).toEqual(["catalog.db", "catalog.journal", "files"]);
  });

  it("reads beside the owner without the lock, and cannot write", async () => {
    const owner = await createStorage({ dataDir });
    await owner.db.run("create table t (a)");
    await owner.db.run("insert into t values (1)");
    const reader = await createStorage({ dataDir, readOnly: true });
    expect(await reader.db.all("select a from t")).toEqual([{ a: 1 }]);
    await expect(reader.files.setItem("x", "y")).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    await reader.db.close();
    expect(await readLock(dataDir)).toBeDefined();
    await owner.db.close();
  });

  it("gives the lock back though the catalogue cannot be opened", async () => {
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, "catalog.db"), "broken");
    const storage = await createStorage({ dataDir });
    await expect(storage.db.ready).rejects.toMatchObject({ code: "CATALOG_DAMAGED" });
    await storage.db.close();
    expect(await readLock(dataDir)).toBeUndefined();
  });

  it("clears what an owner that crashed left half written", async () => {
    const leftovers = [
      join(dataDir, tempName()),
      join(dataDir, "files", "a", tempName()),
      join(dataDir, "transcripts", "00", tempName()),
      join(dataDir, "index", tempName()),
    ];
    for (const path of leftovers) {
      await mkdir(join(path, ".."), { recursive: true });
      await writeFile(path, "half");
    }
    const dead = { ...(await ownIdentity()), ticks: "1", boot: "earlier", startedAt: "", token: "dead" };
    await writeFile(join(dataDir, "lock.json"), JSON.stringify(dead));
    const storage = await createStorage({ dataDir });
    expect((await readdir(dataDir, { recursive: true })).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    await storage.db.close();
  });

  it("keeps files with another driver of unstorage when told to", async () => {
    const storage = await createStorage({
      dataDir,
      driver: { name: "fs-lite", options: { base: join(dataDir, "elsewhere") } },
    });
    await storage.files.setItem("shares:a", "x");
    expect(await storage.files.getKeys()).toEqual(["shares:a"]);
    expect(await readdir(join(dataDir, "elsewhere"))).toEqual(["files"]);
    await storage.db.close();
  });
});

/** A file system of 256 KB, where the system lets us make one. */
function mountSmall(path: string): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a disk that is really full", () => {
  it("undoes what did not fit and goes on when there is room (needs the right to mount)", async (context) => {
    await mkdir(dataDir, { recursive: true });
    if (!mountSmall(dataDir)) return context.skip();
    try {
      const storage = await createStorage({ dataDir, onNotice: () => {} });
      await storage.db.run("create table t (id integer, text text)");
      const filler = join(dataDir, "filler");
      let written = 0;
      let error: unknown;
      while (!error && written < 200) {
        await storage.db.run("insert into t values (?, ?)", [written, "x".repeat(4000)]).then(
          () => written++,
          (e: unknown) => {
            error = e;
          },
        );
      }
      expect(error).toMatchObject({ code: "STORAGE_FULL" });
      expect(await storage.db.get("select count(*) as n from t")).toEqual({ n: written });
      await expect(storage.files.setItem("big", "y".repeat(200_000))).rejects.toMatchObject({ code: "STORAGE_FULL" });
      await rm(filler, { force: true });
      await storage.db.close();
      const again = await createStorage({ dataDir, onNotice: () => {} });
      expect(await again.db.get("select count(*) as n, max(id) as last from t")).toEqual({
        n: written,
        last: written - 1,
      });
      await again.db.close();
    } finally {
      execFileSync("umount", ["-l", dataDir]);
    }
  });
});
