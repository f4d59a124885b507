/**
 * The net, undelete and traces with real assistants. Every line of `test/undelete/_lines.ts` runs in an assistant whose guard stores what it
 * destroys; sessions write and edit files that are then removed; typed prompts come back after their logs were deleted.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileAtVersion, LostFile, NetCatch, PutBack } from "../../plugins/undelete/index.ts";
import { serveTest } from "../_setup.ts";
import { toTrustHash } from "../codex-trust.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LINES, makeTree } from "../undelete/_lines.ts";
import type { Driven } from "./drive.ts";
import type { Reply } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { inTerminal } from "./terminal.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  /** Where the logs are. */
  logs: string;
  /** Has the assistant run the hook. */
  trust?(tool: Driven): Promise<void>;
  /** Of a screen with this first prompt. */
  screen(prompt: string): readonly string[];
  /** What it may ask before, and the keys that answer. */
  asks?: { shows: string; keys: string };
}

async function trustHook({ home }: Driven): Promise<void> {
  const [hooks, config] = [join(home, ".codex", "hooks.json"), join(home, ".codex", "config.toml")];
  const [entry] = JSON.parse(await readFile(hooks, "utf8")).hooks.PreToolUse;
  const state = `\n[hooks.state."${hooks}:pre_tool_use:0:0"]\ntrusted_hash = "${toTrustHash(entry, entry.hooks[0])}"\n`;
  await writeFile(config, (await readFile(config, "utf8")) + state);
}

const CASES: readonly Case[] = [
  {
    driver: claudeCode,
    logs: ".claude/projects",
    screen: (prompt) => ["--model", "claude-sonnet-4-5", prompt],
  },
  {
    driver: codex,
    logs: ".codex/sessions",
    trust: trustHook,
    screen: (prompt) => ["--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.5", prompt],
    asks: { shows: "Use existing model", keys: "\x1b[B\r" },
  },
];
/** Whose logs are deleted. */
const SESSIONS = Number(process.env.SESSARC_REAL_SESSIONS ?? 3);
const picked = CASES.filter(({ driver }) => isPicked(driver));

const table: string[] = [];
afterAll(() => console.log(table.join("\n")));
afterEach(() => {
  vi.useRealTimers();
});

/** Not the working folder itself: the assistant would have none afterwards. */
const lines = LINES.filter(([line]) => !line.includes("$PWD"));

function refill(cwd: string, tree: string): void {
  for (const name of readdirSync(cwd)) rmSync(join(cwd, name), { recursive: true, force: true });
  cpSync(tree, cwd, { recursive: true, preserveTimestamps: true });
}

describe.each(picked)("$driver.name", ({ driver, logs, trust, screen, asks }) => {
  it("the net stores what each line destroys", async () => {
    const { model, tool } = await stage(driver);
    const served = await serveTest({ plugins: defaultPlugins(), home: tool.home, flags: { net: { ms: 10_000 } } });
    const ask = async <T>(path: string, body?: object): Promise<T> => {
      const headers = { "content-type": "application/json" };
      const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
      return (await (await fetch(new URL(`api/${path}`, served.url), init)).json()) as T;
    };
    await ask("security/install-hook", { tool: driver.name, net: true });
    await trust?.(tool);
    const tree = makeTree().root;
    const replies = lines.map(
      ([line]): Reply => ({
        asked: () => refill(tool.cwd, tree),
        // Of a `cd` in the line before an assistant may remember the folder.
        calls: [driver.words.shell(`cd '${tool.cwd}'\n${line}`)],
      }),
    );
    model.play({ main: [...replies, { text: "done" }] });
    const { code, stderr } = await tool.run({ prompt: "Go on" });
    expect(code, stderr).toBe(0);
    const caught = (await ask<NetCatch[]>("files/net")).reverse();
    let stored = 0;
    const wrong: string[] = [];
    for (const [line, files] of lines) {
      const one = caught.find(({ command }) => command?.endsWith(`\n${line}`));
      if (files.length === 0) continue;
      if (!one) {
        wrong.push(`${line}: nothing is stored`);
        continue;
      }
      const to = join(tool.home, "back", one.id);
      const back = await ask<PutBack>("files/put-back", { net: one.id, to });
      const places = new Map(back.files.map((file) => [file.path, file.to]));
      for (const name of files) {
        const place = places.get(join(tool.cwd, name)) ?? "";
        if (existsSync(place) && readFileSync(place).equals(readFileSync(join(tree, name)))) stored++;
        else wrong.push(`${line}: ${name}`);
      }
    }
    table.push(`${driver.name} ${tool.version} | net | ${lines.length} lines, ${stored} files byte-equal`);
    expect(wrong).toEqual([]);
  }, 600_000);

  it("what a session wrote, edited and removed is known and comes back", async () => {
    const { model, tool } = await stage(driver);
    for (const n of [1, 2, 3]) {
      const { words } = driver;
      model.play({
        main: [
          { calls: [words.write(tool, `plan${n}.md`, `one ${n}\ntwo\nthree\n`)] },
          { calls: [words.edit(tool, `plan${n}.md`, "two", `two of ${n}`)] },
          { calls: [words.shell(`rm plan${n}.md`)] },
          { text: "done" },
        ],
      });
      expect((await tool.run({ prompt: `Write plan ${n}` })).code).toBe(0);
    }
    const t = await open(tool);
    await t.send("POST", "/api/import", { all: true });
    for (const n of [1, 2, 3]) {
      const path = join(tool.cwd, `plan${n}.md`);
      const version = await t.json<FileAtVersion>(`/api/files/at?${new URLSearchParams({ path })}`);
      expect(version).toMatchObject({ source: "edit", text: `one ${n}\ntwo of ${n}\nthree\n` });
    }
    const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/sessions?limit=100");
    const lost = await Promise.all(
      sessions.map(({ id }) => t.json<LostFile[]>(`/api/sessions/${encodeURIComponent(id)}/lost-files`)),
    );
    expect(lost.flat().map(({ path, how }) => [path.slice(tool.cwd.length + 1), how])).toEqual(
      expect.arrayContaining([1, 2, 3].map((n) => [`plan${n}.md`, "rm"])),
    );
    table.push(`${driver.name} ${tool.version} | undelete | 3 sessions, 3 files as they were`);
  }, 600_000);

  it(
    "every typed prompt is back after its log is deleted, and none is twice when the log returns",
    async () => {
      const { model, tool } = await stage(driver);
      const typed: string[] = [];
      for (let n = 1; n <= SESSIONS; n++) {
        // A title or another request of its own may come between.
        model.play({ main: Array.from({ length: 8 }, () => ({ text: `Owl ${n}.` })) });
        const [owl, heron] = [`What does owl ${n} say?`, `And what does heron ${n} say?`];
        const shown = await inTerminal(tool, screen(owl));
        onTestFinished(() => shown.close());
        const answered = (text: string) => text.includes(`Owl ${n}.`);
        const first = await shown.until((text) => answered(text) || (asks !== undefined && text.includes(asks.shows)));
        if (!answered(first)) shown.type(asks?.keys ?? "");
        await shown.until(answered);
        shown.type(heron);
        await shown.until((text) => text.includes(heron));
        await shown.until((text) => text.split(`Owl ${n}.`).length > 2, "\r");
        await shown.close();
        typed.push(owl, heron);
      }
      const home = join(tool.home, logs);
      const whole = await figures(tool);
      await rename(home, `${home}-away`);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 86_400_000 });
      const t = await open(tool);
      await t.send("POST", "/api/import", { all: true });
      const found = await t.json<{ prompts: number; traces: { id: string; cwd: string | null }[] }>(
        "/api/traces?limit=999",
      );
      const texts: string[] = [];
      for (const { id } of found.traces) {
        const { messages } = await t.json<{ messages: { text: string; at: string }[] }>(
          `/api/traces/${encodeURIComponent(id)}`,
        );
        texts.push(...messages.map(({ text }) => text));
        for (const { at } of messages) expect(Date.now() - Date.parse(at)).toBeLessThan(3 * 86_400_000);
      }
      table.push(`${driver.name} ${tool.version} | traces | ${texts.length} of ${typed.length} prompts back`);
      expect(texts.sort()).toEqual([...typed].sort());
      expect(found.traces).toHaveLength(SESSIONS);
      expect((await t.json<{ sessions: object[] }>("/api/sessions")).sessions).toEqual([]);
      await rename(`${home}-away`, home);
      await t.send("POST", "/api/import", { all: true });
      expect(await t.json("/api/traces")).toMatchObject({ sessions: 0, prompts: 0 });
      expect(await t.json("/api/usage")).toMatchObject({ totals: whole });
    },
    SESSIONS * 200_000,
  );
});

async function open(tool: Driven): Promise<TestKernel> {
  const t = await createTestKernel({ home: tool.home, plugins: defaultPlugins(), env: { ...tool.env } });
  onTestFinished(() => t.close());
  return t;
}

/** Totals of an archive that saw the logs alone. */
async function figures(tool: Driven): Promise<object> {
  const dataDir = join(tool.home, "other-data");
  const t = await createTestKernel({
    home: tool.home,
    plugins: defaultPlugins(),
    env: { ...tool.env },
    config: { dataDir },
  });
  await t.send("POST", "/api/import", { all: true });
  const { totals } = await t.json<{ totals: { sessions: number; usage: object } }>("/api/usage");
  await t.close();
  await rm(dataDir, { recursive: true, force: true });
  return { sessions: totals.sessions, usage: totals.usage };
}
