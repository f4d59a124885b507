import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStorage } from "../../core/storage/index.ts";
import { readLock } from "../../core/storage/lock.ts";
import { ownIdentity } from "../../core/storage/process-identity.ts";
import { tempName } from "../../core/utils/atomic.ts";
import { mountSmall } from "../small-disk.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), "sessarc-storage-")), "data");
});
afterEach(() => rm(join(dataDir, ".."), { recursive: true, force: true }));

/** What a crash leaves of the one before. */
async function leaveLock(): Promise<void> {
  const dead = { ...(await ownIdentity()), ticks: "1", boot: "earlier", startedAt: "", token: "dead" };
  await writeFile(join(dataDir, "lock.json"), JSON.stringify(dead));
}

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
    expect((await readdir(dataDir)).sort()).toEqual(["catalog.db", "files"]);
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

  it("clears what an owner that crashed left half written, and nothing that is not its own", async () => {
    const claim = (letter: string) => `lock.json.${letter.repeat(24)}`;
    const [top, lower] = [
      [tempName(), claim("a"), `${claim("b")}.${"c".repeat(24)}`],
      [`files/a/${tempName()}`, `transcripts/00/${tempName()}`, `index/${tempName()}`, `guard/${tempName()}`],
    ];
    // A sandbox is a copy of the user's files.
    const others = [`replay/s/tree/${tempName()}`, "notes.tmp", "lock.json.bak", `${claim("a")}.txt`];
    const fill = async (paths: string[]) => {
      for (const path of paths) {
        await mkdir(join(dataDir, path, ".."), { recursive: true });
        await writeFile(join(dataDir, path), "half");
      }
    };
    const left = async (paths: string[]) => {
      const names = new Set(await readdir(dataDir, { recursive: true }));
      return paths.filter((path) => names.has(path));
    };
    await fill([...top, ...lower, ...others]);
    // A folder is no file in the making, whatever its name.
    await mkdir(join(dataDir, tempName()));
    await leaveLock();
    await (await createStorage({ dataDir })).db.close();
    expect(await left([...top, ...lower, ...others])).toEqual(others);

    // A start that died before it had the lock leaves none that would tell of it.
    await fill(top);
    const storage = await createStorage({ dataDir });
    expect(await left([...top, ...others])).toEqual(others);
    await storage.db.close();
  });

  it.skipIf(process.platform === "win32")(
    "starts after a crash though folders in it may not be read: a volume's `lost+found`, what was made as root",
    async () => {
      const [foreign, ours] = [join(dataDir, "lost+found"), join(dataDir, "transcripts", "00")];
      for (const path of [foreign, ours]) await mkdir(path, { recursive: true });
      await leaveLock();
      const isRoot = process.getuid?.() === 0;
      if (isRoot) await chmod(join(dataDir, ".."), 0o755);
      for (const path of isRoot ? [dataDir, join(dataDir, "transcripts")] : []) await chown(path, 65_534, 65_534);
      for (const path of [foreign, ours]) await chmod(path, 0);
      // Root may read everything.
      if (isRoot) process.seteuid?.(65_534);
      try {
        const storage = await createStorage({ dataDir });
        await storage.db.run("create table t (a)");
        await storage.db.close();
      } finally {
        if (isRoot) process.seteuid?.(0);
        for (const path of [foreign, ours]) await chmod(path, 0o700);
      }
    },
  );

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

describe("a disk that is really full", () => {
  it("undoes what did not fit and goes on when there is room (needs the right to mount)", async (context) => {
    await mkdir(dataDir, { recursive: true });
    const unmount = mountSmall(dataDir, "256k");
    if (!unmount) return context.skip();
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
      unmount();
    }
  });
});
