/** Homes on the other side of Windows and WSL: found in made folder trees, with a stand-in for wsl.exe. */
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findBackups } from "../../plugins/archive/places/backups.ts";
import { findNeighbours } from "../../plugins/archive/places/neighbours.ts";
import { makeTempDir } from "../_setup.ts";
import { claudePath, claudeRows, codexPath, codexRows, startIn, writeLog } from "../rescue/_logs.ts";

const said = { key: "aaaaaaaa-0000-4000-8000-000000000001", cwd: "/w/app", turns: 1 };

/** A machine with folders for either side; `list` is what wsl.exe prints. */
async function machine(list: Buffer, code = 0) {
  const home = await makeTempDir();
  const t = await startIn(home);
  const bin = join(home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "list"), list);
  const script = `#!/bin/sh\necho "$@" >> "${join(bin, "calls")}"\n/bin/cat "${join(bin, "list")}"\nexit ${code}\n`;
  await writeFile(join(bin, "wsl.exe"), script);
  await chmod(join(bin, "wsl.exe"), 0o755);
  const places = { distributions: join(home, "wsl"), drives: join(home, "mnt"), version: join(home, "version") };
  const find = (platform: NodeJS.Platform, read: string[] = []) =>
    findNeighbours(t.kernel.registry.adapters.values(), { home, platform, env: { PATH: bin } }, read, places);
  return { home, t, places, find, calls: () => readFile(join(bin, "calls"), "utf8") };
}
const utf16 = (text: string) => Buffer.from(text, "utf16le");

it("offers homes of running distributions on Windows, and starts none", async () => {
  const { t, places, find, calls } = await machine(utf16("\uFEFFUbuntu\r\nDebian\r\ndocker-desktop\r\n\r\n"));
  const ann = join(places.distributions, "Ubuntu/home/ann");
  await writeLog(claudePath(ann, said), claudeRows(said));
  await writeLog(codexPath(ann, said), codexRows(said));
  // Not running, not in the list; without logs; of a program.
  for (const other of ["Stopped/home/bob", "docker-desktop/home/root"])
    await writeLog(claudePath(join(places.distributions, other), said), claudeRows(said));
  await mkdir(join(places.distributions, "Debian/home/empty"), { recursive: true });
  const offered = await find("win32");
  expect(offered).toEqual([
    {
      ...{ system: "wsl", name: "Ubuntu", user: "ann", path: ann },
      tools: [
        { tool: "claude-code", label: "Claude Code" },
        { tool: "codex", label: "Codex CLI" },
      ],
    },
  ]);
  expect(await calls()).toBe("-l --running -q\n");
  // Each of them can be added, and is no longer offered then.
  for (const { tool } of offered[0]?.tools ?? [])
    expect(await t.send("POST", "/api/sources", { tool, path: ann })).toMatchObject({
      status: 200,
      body: { sessions: 1 },
    });
  expect(await find("win32", [ann])).toEqual([]);
});

it("offers Windows homes inside WSL, and nothing on another system", async () => {
  const { places, find } = await machine(Buffer.alloc(0));
  for (const user of ["ann", "Public", "Default"])
    await writeLog(claudePath(join(places.drives, "c/Users", user), said), claudeRows(said));
  await symlink(join(places.drives, "c/Users/ann"), join(places.drives, "c/Users/All Users"));
  expect(await find("linux")).toEqual([]);
  await writeFile(places.version, "Linux version 6.8.0-generic (gcc)");
  expect(await find("linux")).toEqual([]);
  await writeFile(places.version, "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@x)");
  expect(await find("linux")).toMatchObject([
    {
      system: "windows",
      name: "c",
      user: "ann",
      path: join(places.drives, "c/Users/ann"),
      tools: [{ tool: "claude-code" }],
    },
  ]);
  expect(await find("darwin")).toEqual([]);
});

it("leaves out names that are other paths, and a wsl.exe that fails or prints anything", async () => {
  const names = ["..", "a/b", "a\\b", "../../etc", "C:", "evil\u202Egnp", "x".repeat(200), "-l", "ok;rm", ""];
  const hostile = await machine(utf16(names.join("\r\n")));
  await writeLog(claudePath(join(hostile.places.distributions, "a/b/home/ann"), said), claudeRows(said));
  await writeLog(claudePath(join(hostile.home, "home/ann"), said), claudeRows(said));
  expect(await hostile.find("win32")).toEqual([]);
  const failing = await machine(utf16("Ubuntu\r\n"), 1);
  await writeLog(claudePath(join(failing.places.distributions, "Ubuntu/home/ann"), said), claudeRows(said));
  expect(await failing.find("win32")).toEqual([]);
  const plain = await machine(Buffer.from("Ubuntu\n"));
  await writeLog(claudePath(join(plain.places.distributions, "Ubuntu/home/bad\nname"), said), claudeRows(said));
  await writeLog(claudePath(join(plain.places.distributions, "Ubuntu/home/ann"), said), claudeRows(said));
  expect((await plain.find("win32")).map(({ user }) => user)).toEqual(["ann"]);
});

it("GET /sources answers what is offered", async () => {
  const t = await startIn(await makeTempDir());
  expect(await t.json("/api/sources")).toMatchObject({ offered: [] });
});

it("offers backups of this home and of an assistant's folder in it, each of which can be added", async () => {
  const base = await makeTempDir();
  const home = join(base, "ann");
  const t = await startIn(home);
  const mounts = join(base, "mnt");
  const copies = [join(base, "ann.bak"), join(home, "home-backup-2026"), join(mounts, "disk/snapshots/latest", home)];
  for (const copy of copies) await writeLog(claudePath(copy, said), claudeRows(said));
  const folder = join(home, ".claude.bak-20260101");
  await writeLog(join(folder, "projects/-w-app", `${said.key}.jsonl`), claudeRows(said));
  // Of another user, without logs, and no backup.
  await writeLog(claudePath(join(base, "bob.bak"), said), claudeRows(said));
  await mkdir(join(home, ".codex.bak/sessions-not"), { recursive: true });
  await writeLog(claudePath(join(home, "work"), said), claudeRows(said));
  const find = (read: string[] = []) =>
    findBackups(t.kernel.registry.adapters.values(), { home, platform: "linux", env: {} }, read, {
      mounts: [mounts],
      volumes: join(base, "Volumes"),
    });
  const offered = await find();
  expect(offered.map(({ system, path, tools }) => [system, path, tools.map(({ tool }) => tool)])).toEqual(
    [...copies, folder].map((path) => ["backup", path, ["claude-code"]]),
  );
  for (const { path } of offered)
    expect(await t.send("POST", "/api/sources", { tool: "claude-code", path })).toMatchObject({ status: 200 });
  expect(await find([...copies.map((path) => join(path, ".claude/projects")), folder])).toEqual([]);
});
