/** A SIGKILL before any call that changes something on the disk: the next start finds everything, or makes it, whole. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { childScript, runKilled } from "../scripts.ts";
import { startConfigs } from "./_configs.ts";

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("mcp-hub/takeover-child");
});

const FILES: Readonly<Record<string, string>> = {
  ".claude.json": '{ "mcpServers": { "a": { "command": "a", "env": { "KEY": "value-of-a" } } } }\n',
  ".codex/config.toml": '# b\n[mcp_servers.b]\ncommand = "b"\n',
  ".cursor/mcp.json": '{ "mcpServers": { "c": { "url": "https://c.example/mcp" } } }\n',
};
const NAMES = ["a", "b", "c"];

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  return home;
}

const texts = (home: string) => Promise.all(Object.keys(FILES).map((path) => readFile(join(home, path), "utf8")));

/** Answers how many calls there were, when it was not killed. */
const runChild = (home: string, killAt: number, action: "takeover" | "connect" | "restore") =>
  runKilled(script, { home, killAt, action });

/** All in the long run; else one, which differs from run to run. */
function steps(calls: number): number[] {
  const all = Array.from({ length: calls }, (_, i) => i + 1);
  if (LONG) return all;
  return [1 + Math.floor(Math.random() * calls)];
}

async function leftovers(home: string): Promise<string[]> {
  const all = await readdir(home, { recursive: true });
  return all.filter((path) => /\.tmp$|\.sessarc-/.test(path) && !path.startsWith("data/transcripts"));
}

describe("killed in the middle", () => {
  /** One that is not killed. */
  let calls = 0;
  let after: string[] = [];
  beforeAll(async () => {
    const done = await newHome();
    calls = (await runChild(done, 0, "takeover")) ?? 0;
    after = await texts(done);
    await rm(done, { recursive: true });
  });

  it("a takeover is done, or taken back at the next start", async () => {
    expect(calls).toBeGreaterThan(20);
    for (const killAt of steps(calls)) {
      const home = await newHome();
      expect([killAt, await runChild(home, killAt, "takeover")]).toEqual([killAt, undefined]);
      const t = await startConfigs({ home });
      const now = await texts(home);
      const isDone = now[0] === after[0];
      expect([killAt, now]).toEqual([killAt, isDone ? after : Object.values(FILES)]);
      const services = (await t.kernel.inject("mcp").services.list()).map(({ id }) => id);
      expect([killAt, services]).toEqual([killAt, [...(isDone ? NAMES : []), "sessarc"]]);
      const { entries } = await t.scan();
      expect([killAt, entries.map(({ class: of }) => of)]).toEqual([killAt, isDone ? [] : ["New", "New", "New"]]);
      expect([killAt, await leftovers(home)]).toEqual([killAt, []]);
      const backups = await t.backups();
      expect([killAt, backups.length]).toEqual([killAt, isDone ? 3 : 0]);
      if (!isDone) expect((await t.takeAll()).status).toBe(200);
      expect((await t.restore((await t.backups()).map(({ id }) => id))).status).toBe(200);
      expect(await texts(home)).toEqual(Object.values(FILES));
      await t.close();
      await rm(home, { recursive: true });
    }
  });

  it("what others wrote before the next start stays, with the entries back in it", async () => {
    const home = await newHome();
    // Before the rename that says it is done: all files are edited by then.
    expect(await runChild(home, calls - 1, "takeover")).toBe(undefined);
    const [claude = "", codex = ""] = await texts(home);
    expect(claude).toContain("sessarc");
    await writeFile(join(home, ".claude.json"), claude.replace("{", '{ "numStartups": 7,'));
    const broken = `${codex}\n[cut`;
    await writeFile(join(home, ".codex/config.toml"), broken);
    const t = await startConfigs({ home });
    const ids = async () => (await t.kernel.inject("mcp").services.list()).map(({ id }) => id);
    // One cannot be read: its servers live on in the hub, and its original is kept.
    expect(JSON.parse(await t.read(".claude.json"))).toEqual({
      numStartups: 7,
      ...JSON.parse(FILES[".claude.json"] ?? ""),
    });
    expect(await t.read(".codex/config.toml")).toBe(broken);
    expect(await t.read(".cursor/mcp.json")).toBe(FILES[".cursor/mcp.json"]);
    expect(await ids()).toEqual([...NAMES, "sessarc"]);
    await t.put(".codex/config.toml", codex);
    expect(
      (
        await t.restore(
          (await t.backups()).map(({ id }) => id),
          { merge: true },
        )
      ).status,
    ).toBe(200);
    expect(await t.read(".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
    await t.close();
    await rm(home, { recursive: true });
  });

  it("a restore leaves each file whole, and can be made again", async () => {
    const prepare = async () => {
      const home = await newHome();
      const t = await startConfigs({ home });
      expect((await t.takeAll()).status).toBe(200);
      const after = await texts(home);
      await t.close();
      return { home, after };
    };
    const { home: done } = await prepare();
    const calls = (await runChild(done, 0, "restore")) ?? 0;
    await rm(done, { recursive: true });
    for (const killAt of steps(calls)) {
      const { home, after } = await prepare();
      expect([killAt, await runChild(home, killAt, "restore")]).toEqual([killAt, undefined]);
      const t = await startConfigs({ home });
      for (const [i, text] of (await texts(home)).entries())
        expect([after[i], Object.values(FILES)[i]]).toContain(text);
      expect([killAt, await leftovers(home)]).toEqual([killAt, []]);
      const states = (await t.backups()).map(
        ({ state, restoredAt }) => (state === "restored") === (restoredAt !== null),
      );
      expect([killAt, states]).toEqual([killAt, [true, true, true]]);
      expect((await t.restore((await t.backups()).map(({ id }) => id))).status).toBe(200);
      expect(await texts(home)).toEqual(Object.values(FILES));
      const services = await t.kernel.inject("mcp").services.list();
      expect(services.flatMap(({ sources }) => sources.map(({ takenOver }) => takenOver))).toEqual([
        false,
        false,
        false,
      ]);
      await t.close();
      await rm(home, { recursive: true });
    }
  });

  it("a file that is made is whole, or gone with its folders; so is one that is removed again", async () => {
    const config = ".config/opencode/opencode.json";
    const begin = async () => {
      const home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
      await mkdir(join(home, ".local/share/opencode/storage"), { recursive: true });
      return home;
    };
    const stands = async (home: string) => {
      const names = await readdir(home);
      if (!names.includes(".config")) return false;
      return (await readFile(join(home, config), "utf8")).includes("client=opencode");
    };
    const whole = await begin();
    const made = (await runChild(whole, 0, "connect")) ?? 0;
    expect(await stands(whole)).toBe(true);
    const removed = (await runChild(whole, 0, "restore")) ?? 0;
    expect(await stands(whole)).toBe(false);
    await rm(whole, { recursive: true });
    for (const killAt of steps(made)) {
      const home = await begin();
      expect([killAt, await runChild(home, killAt, "connect")]).toEqual([killAt, undefined]);
      const t = await startConfigs({ home });
      const backups = await t.backups();
      expect([killAt, await stands(home)]).toEqual([killAt, backups.length === 1]);
      expect([killAt, await leftovers(home)]).toEqual([killAt, []]);
      await t.restore(backups.map(({ id }) => id));
      expect([killAt, await stands(home)]).toEqual([killAt, false]);
      await t.close();
      await rm(home, { recursive: true });
    }
    for (const killAt of steps(removed)) {
      const home = await begin();
      await runChild(home, 0, "connect");
      expect([killAt, await runChild(home, killAt, "restore")]).toEqual([killAt, undefined]);
      const t = await startConfigs({ home });
      const [backup] = await t.backups();
      expect([killAt, await stands(home)]).toEqual([killAt, backup?.state === "taken over"]);
      await t.restore([backup?.id ?? ""]);
      expect([killAt, await readdir(home)]).toEqual([killAt, expect.not.arrayContaining([".config"])]);
      await t.close();
      await rm(home, { recursive: true });
    }
  });
});
