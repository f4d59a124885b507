import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createStorage } from "unstorage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { durableFs } from "../../core/storage/durable-fs.ts";
import { tempName, writeFileAtomic } from "../../core/utils/atomic.ts";
import { rounds } from "../rounds.ts";
import { failing } from "./failing-disk.ts";

let home: string;
let base: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-fs-"));
  base = join(home, "files");
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe("durableFs", () => {
  it("is a driver of unstorage", async () => {
    const storage = createStorage({ driver: durableFs({ base }) });
    await storage.setItem("shares:one", { a: 1 });
    await storage.setItemRaw("backups:x:settings.json", Buffer.from([1, 2, 255]));
    expect(await storage.getItem("shares:one")).toEqual({ a: 1 });
    expect(Buffer.from((await storage.getItemRaw("backups:x:settings.json")) as Uint8Array)).toEqual(
      Buffer.from([1, 2, 255]),
    );
    expect((await storage.getKeys()).sort()).toEqual(["backups:x:settings.json", "shares:one"]);
    expect(await storage.getKeys("shares")).toEqual(["shares:one"]);
    expect(await storage.hasItem("shares:two")).toBe(false);
    expect(await storage.getItem("shares:two")).toBeNull();
    await storage.removeItem("shares:one");
    await storage.removeItem("shares:one");
    expect(await storage.getKeys()).toEqual(["backups:x:settings.json"]);
    await storage.clear();
    expect(await storage.getKeys()).toEqual([]);
  });

  it("keeps files and folders to their owner", async () => {
    await durableFs({ base }).setItem("a:b", "x");
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    if (process.platform === "win32") return;
    expect([await mode(base), await mode(join(base, "a")), await mode(join(base, "a/b"))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
  });

  it("reads a range and nothing else", async () => {
    const fs = durableFs({ base });
    await fs.setItemRaw("big", Buffer.from("0123456789"));
    const text = async (offset: number, length: number) =>
      Buffer.from((await fs.readRange("big", offset, length)) ?? []).toString();
    expect(await text(3, 4)).toBe("3456");
    expect(await text(8, 10)).toBe("89");
    expect(await text(20, 1)).toBe("");
    expect(await fs.readRange("none", 0, 1)).toBeNull();
  });

  it("S4, S8: no key leads out of the folder", async () => {
    await writeFile(join(home, "secret"), "secret");
    await mkdir(join(home, "outside"));
    await mkdir(base);
    await symlink(join(home, "outside"), join(base, "linked"));
    await symlink(join(home, "secret"), join(base, "link"));
    const fs = durableFs({ base });
    for (const key of [
      "..:secret",
      "a:..:..:secret",
      "../secret",
      "a/b",
      "a\\b",
      "",
      ":a",
      "a::b",
      ".",
      "a\0b",
      join(home, "secret"),
      "linked:x",
      tempName(),
    ]) {
      await expect(fs.setItem(key, "owned"), key).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
      await expect(fs.getItem(key), key).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
      await expect(fs.removeItem(key), key).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
    }
    await expect(fs.getItem("link")).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
    expect(await fs.getKeys()).toEqual([]);
    await fs.setItem("link", "own");
    expect(await fs.getItem("link")).toBe("own");
    expect(await readdir(join(home, "outside"))).toEqual([]);
    expect((await stat(join(home, "secret"))).size).toBe(6);
  });

  it("stays inside for any key", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom("a", ".", ":", "/", "\\", "\0", "~") }), async (key) => {
        const fs = durableFs({ base });
        const stored = await fs.setItem(key, key).then(
          () => true,
          (error: { code: string }) => {
            expect(error.code).toBe("PATH_OUTSIDE");
            return false;
          },
        );
        if (stored) expect(await fs.getItem(key)).toBe(key);
        expect(await readdir(home)).toEqual(stored || (await readdir(home)).length ? ["files"] : []);
        await rm(base, { recursive: true, force: true });
      }),
      { numRuns: rounds(150) },
    );
  });

  it("sweeps what an interrupted write left, and never lists it", async () => {
    const fs = durableFs({ base });
    await fs.setItem("a:b", "x");
    await writeFile(join(base, "a", tempName()), "half");
    expect(await fs.getKeys()).toEqual(["a:b"]);
    expect(await fs.sweep()).toBe(1);
    expect(await readdir(join(base, "a"))).toEqual(["b"]);
  });

  it.skipIf(process.platform === "win32")(
    "folders that may not be read are passed over, and all others are not",
    async () => {
      const fs = durableFs({ base });
      const names = Array.from({ length: 12 }, (_, n) => `folder-${n}`);
      const shut = names.filter((_, n) => n % 2 === 0).map((name) => join(base, name));
      for (const name of names) {
        await fs.setItem(`${name}:a`, "x");
        await writeFile(join(base, name, tempName()), "half");
      }
      const isRoot = process.getuid?.() === 0;
      // Root may read everything.
      for (const path of isRoot ? [home, base, ...names.map((name) => join(base, name))] : [])
        await chown(path, 65_534, 65_534);
      for (const path of shut) await chmod(path, 0);
      if (isRoot) process.seteuid?.(65_534);
      try {
        expect((await fs.getKeys()).length).toBe(6);
        expect(await fs.sweep()).toBe(6);
      } finally {
        if (isRoot) process.seteuid?.(0);
        for (const path of shut) await chmod(path, 0o700);
      }
      expect(await fs.sweep()).toBe(6);
    },
  );

  it("keeps the old value when the disk is full or the write cannot be made durable", async () => {
    const good = durableFs({ base });
    await good.setItem("a", "old");
    for (const call of ["write", "sync", "rename"] as const) {
      const { calls } = failing({ [call]: "ENOSPC" });
      await expect(durableFs({ base, calls }).setItem("a", "new")).rejects.toMatchObject({ code: "STORAGE_FULL" });
      expect(await good.getItem("a")).toBe("old");
      expect(await readdir(base)).toEqual(["a"]);
    }
    const { calls } = failing({ open: "EROFS" });
    await expect(durableFs({ base, calls }).setItem("a", "new")).rejects.toMatchObject({
      code: "STORAGE_READ_ONLY",
      message: expect.stringContaining(base),
    });
    await expect(durableFs({ base, readOnly: true }).setItem("a", "new")).rejects.toMatchObject({
      code: "STORAGE_READ_ONLY",
    });
  });
});

describe("writeFileAtomic", () => {
  it("gives exactly the mode asked for", async () => {
    if (process.platform === "win32") return;
    const path = join(home, "x");
    await writeFile(path, "old");
    await chmod(path, 0o644);
    await writeFileAtomic(path, "new", { mode: 0o666 });
    expect((await stat(path)).mode & 0o777).toBe(0o666);
    await writeFileAtomic(path, "new");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(["x"]);
  });

  it("replaces a link and leaves its target alone", async () => {
    await writeFile(join(home, "target"), "mine");
    await symlink(join(home, "target"), join(home, "link"));
    await writeFileAtomic(join(home, "link"), "new");
    expect((await stat(join(home, "target"))).size).toBe(4);
  });
});
