/**
 * Takeover in the real tools: what each lists before, with the hub in its file, and after a restore. The hub is served, so a tool that
 * looks whether a server answers finds it answering.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type { WireBackup, WireScan } from "../../plugins/mcp-hub/index.ts";
import { serveTest } from "../_setup.ts";
import { ADAPTERS } from "../mcp-hub/_configs.ts";
import { HUB } from "../mcp-hub/_hub.ts";
import type { Driven } from "./drive.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import { copilot } from "./tools/copilot.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import { opencode } from "./tools/opencode.ts";
import type { Driver } from "./tools/types.ts";

const server = [process.execPath, fileURLToPath(new URL("../mcp-hub/echo-server.mjs", import.meta.url))] as const;

interface Case {
  driver: Driver;
  file: string;
  /** Has a server called `echo` written into the file: by the tool itself where it can. */
  add(tool: Driven): Promise<unknown>;
  list: readonly string[];
}

/** Into a file that the tool's own settings are in already. */
async function into({ home }: Driven, file: string, key: string, value: object): Promise<void> {
  const path = join(home, file);
  await mkdir(dirname(path), { recursive: true });
  const before = JSON.parse(await readFile(path, "utf8").catch(() => "{}")) as Record<string, object>;
  await writeFile(path, `${JSON.stringify({ ...before, [key]: { ...before[key], ...value } }, null, 2)}\n`);
}

const CASES: readonly Case[] = [
  {
    driver: claudeCode,
    file: ".claude.json",
    add: (tool) => tool.command(["mcp", "add", "-s", "user", "echo", "-e", "KEY=value-of-key", "--", ...server]).ended,
    list: ["mcp", "list"],
  },
  {
    driver: codex,
    file: ".codex/config.toml",
    add: (tool) => tool.command(["mcp", "add", "echo", "--env", "KEY=value-of-key", "--", ...server]).ended,
    list: ["mcp", "list"],
  },
  {
    driver: geminiCli,
    file: ".gemini/settings.json",
    add: (tool) => tool.command(["mcp", "add", "-s", "user", "-e", "KEY=value-of-key", "echo", ...server]).ended,
    list: ["mcp", "list"],
  },
  {
    driver: opencode,
    file: ".config/opencode/opencode.json",
    add: (tool) =>
      into(tool, ".config/opencode/opencode.json", "mcp", {
        echo: { type: "local", command: [...server], environment: { KEY: "value-of-key" } },
      }),
    list: ["mcp", "list"],
  },
  {
    driver: copilot,
    file: ".copilot/mcp-config.json",
    add: (tool) =>
      into(tool, ".copilot/mcp-config.json", "mcpServers", {
        echo: { type: "local", command: server[0], args: [server[1]], env: { KEY: "value-of-key" }, tools: ["*"] },
      }),
    list: ["mcp", "list"],
  },
];

const table: string[] = [];
afterAll(() => console.log(table.join("\n")));

describe("takeover in the real tools", () => {
  const cases = CASES.filter(({ driver }) => isPicked(driver));
  it.each(cases)("$driver.name", async ({ driver, file, add, list }) => {
    const { tool } = await stage(driver);
    await add(tool);
    const path = join(tool.home, file);
    const names = async () => {
      const { stdout, stderr, code } = await tool.command(list).ended;
      const text = stdout + stderr;
      return { code, text, echo: /\becho\b/.test(text), hub: /\bsessarc\b/.test(text) };
    };
    const before = await readFile(path);
    expect(await names()).toMatchObject({ code: 0, echo: true, hub: false });
    // The tool may have written the file itself while it listed.
    const original = await readFile(path);
    const { kernel } = await serveTest({ home: tool.home, plugins: [...ADAPTERS(), ...HUB()] });
    const post = async (route: string, body: object) => {
      const answer = await kernel.fetch(route, { method: "POST", body: JSON.stringify(body) });
      expect(answer.status, await answer.clone().text()).toBe(200);
    };
    const { entries } = (await (await kernel.fetch("/api/mcp/scan")).json()) as WireScan;
    expect(entries.map((entry) => [entry.name, entry.reasons])).toEqual([["echo", []]]);
    await post("/api/mcp/takeover", {
      entries: entries.map(({ key }) => ({ key })),
      fileHashes: Object.fromEntries(entries.map((entry) => [entry.file, entry.fileHash])),
      mode: "replace",
    });
    const taken = await names();
    expect([taken.code, taken.echo, taken.hub], taken.text).toEqual([0, false, true]);
    const { backups } = (await (await kernel.fetch("/api/mcp/backups")).json()) as { backups: WireBackup[] };
    const untouched = backups.every(({ state }) => state === "taken over");
    await post("/api/mcp/restore", { ids: backups.map(({ id }) => id), merge: !untouched });
    if (untouched) expect((await readFile(path)).equals(original)).toBe(true);
    expect(await names()).toMatchObject({ code: 0, echo: true, hub: false });
    table.push(
      [
        driver.name,
        tool.version,
        untouched ? "byte for byte" : "merged",
        before.equals(original) ? "" : "writes its file while it lists",
        taken.text
          .trim()
          .split("\n")
          .find((line) => line.includes("sessarc")) ?? "",
      ].join(" | "),
    );
  });
});
