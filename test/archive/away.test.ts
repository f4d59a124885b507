/** Added folders in a WSL distribution that does not run: they are not read, and nothing of their sessions is gone. A stand-in for wsl.exe. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { PLACES } from "../../plugins/archive/places/neighbours.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import live from "../../plugins/live/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { claudePath, claudeRows, importAll, writeLog } from "../rescue/_logs.ts";

const said = (n: number) => ({ key: `aaaaaaaa-0000-4000-8000-00000000000${n}`, cwd: "/w/app", turns: 1 });
const { distributions } = PLACES;
let home: string;
let bin: string;
beforeEach(async () => {
  home = await makeTempDir();
  bin = join(home, "bin");
  await mkdir(bin);
  const script = `#!/bin/sh\necho "$@" >> "${join(bin, "calls")}"\n/bin/cat "${join(bin, "list")}"\nexit $(/bin/cat "${join(bin, "code")}")\n`;
  await writeFile(join(bin, "wsl.exe"), script);
  await chmod(join(bin, "wsl.exe"), 0o755);
  await runs("Ubuntu\r\n");
  PLACES.distributions = join(home, "wsl");
});
afterEach(() => {
  PLACES.distributions = distributions;
});
const runs = async (names: string, code = 0) => {
  await writeFile(join(bin, "list"), Buffer.from(names, "utf16le"));
  await writeFile(join(bin, "code"), String(code));
};
const calls = async () => (await readFile(join(bin, "calls"), "utf8").catch(() => "")).split("\n").filter(Boolean);

async function start(): Promise<TestKernel> {
  const t = await createTestKernel({ home, env: { PATH: bin }, plugins: [archive(), claude(), codex(), live()] });
  Object.assign(t.kernel.env, { platform: "win32" });
  return t;
}
const missing = async (t: TestKernel) =>
  Object.fromEntries(
    (await t.kernel.storage.db.all<{ id: string; missing: number }>("select id, missing from session order by id")).map(
      ({ id, missing }) => [id.at(-1), missing],
    ),
  );
interface Listed {
  tools: { tool: string; sources: { path: string; exists: boolean; away?: true; sessions: number }[] }[];
}
const source = async (t: TestKernel, path: string) =>
  (await t.json<Listed>("/api/sources")).tools.flatMap((one) => one.sources).find((one) => one.path === path);
const roots = ({ kernel }: TestKernel) => kernel.registry.adapters.get("claude-code")?.roots(kernel.env) ?? [];

describe.skipIf(process.platform === "win32")("a source in a distribution of WSL", () => {
  it("is away while the distribution does not run: not read, nothing of it gone, and back when it runs", async () => {
    const ann = join(home, "wsl/Ubuntu/home/ann");
    await writeLog(claudePath(ann, said(1)), claudeRows(said(1)));
    await writeLog(claudePath(home, said(2)), claudeRows(said(2)));
    const t = await start();
    await importAll(t);
    // Without such a source nothing is asked.
    expect(await calls()).toEqual([]);
    expect(await t.send("POST", "/api/sources", { tool: "claude-code", path: ann })).toMatchObject({
      status: 200,
      body: { sessions: 1, exists: true },
    });
    await importAll(t);
    expect(await missing(t)).toEqual({ 1: 0, 2: 0 });
    expect(new Set(await calls())).toEqual(new Set(["-l --running -q"]));
    const inAnn = roots(t).filter((path) => path.startsWith(ann));
    expect(inAnn.length).toBeGreaterThan(0);

    // It stops: a read of its folder would find nothing here, and start it on Windows.
    await runs("Debian\r\n");
    await rename(join(home, "wsl/Ubuntu"), join(home, "stopped"));
    await importAll(t);
    expect(roots(t).filter((path) => path.startsWith(ann))).toEqual([]);
    expect(await missing(t)).toEqual({ 1: 0, 2: 0 });
    expect(await source(t, ann)).toMatchObject({ exists: false, away: true, sessions: 0 });
    // A change that was reported just before.
    await t.kernel.inject("importer").runPaths(inAnn, () => []);
    expect(await missing(t)).toEqual({ 1: 0, 2: 0 });
    await importAll(t);
    expect(await t.json("/api/sync")).toMatchObject({ behind: null });

    await rename(join(home, "stopped"), join(home, "wsl/Ubuntu"));
    await writeLog(claudePath(ann, said(3)), claudeRows(said(3)));
    await rm(claudePath(home, said(2)));
    await runs("ubuntu\r\n");
    await importAll(t);
    expect(await source(t, ann)).toMatchObject({ exists: true, sessions: 2 });
    expect(await missing(t)).toEqual({ 1: 0, 2: 1, 3: 0 });
  });

  it("is away when wsl.exe fails, after a restart too, and can be removed then", async () => {
    const ann = join(home, "wsl/Ubuntu/home/ann");
    await writeLog(claudePath(ann, said(1)), claudeRows(said(1)));
    const before = await start();
    await before.send("POST", "/api/sources", { tool: "claude-code", path: ann });
    await importAll(before);
    await before.kernel.close();
    await runs("Ubuntu\r\n", 1);
    await rm(join(home, "wsl"), { recursive: true });
    const t = await start();
    await importAll(t);
    expect(await missing(t)).toEqual({ 1: 0 });
    expect(await source(t, ann)).toMatchObject({ away: true });
    const query = new URLSearchParams({ tool: "claude-code", path: ann });
    expect((await t.send("DELETE", `/api/sources?${query}`)).status).toBe(200);
    expect(await source(t, ann)).toBeUndefined();
  });
});
