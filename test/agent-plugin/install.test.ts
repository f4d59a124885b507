/** The plugin in each assistant's form: valid, written as a whole, and removed byte for byte. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parseRecord } from "sessarc";
import { describe, expect, it } from "vitest";
import agentPlugin from "../../plugins/agent-plugin/index.ts";
import aider from "../../plugins/aider/index.ts";
import claudeCode from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import type { PluginPlan, PluginStatus, Scan } from "../../plugins/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import skills from "../../plugins/skills/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { startHub } from "../mcp-hub/_hub.ts";
import { picture } from "../skills/world.ts";
import { MCP_SCHEMA, PLUGIN_SCHEMA } from "./_schema.ts";

const start = () =>
  startHub({ plugins: [aider(), claudeCode(), codex(), cursor(), gemini(), opencode(), skills(), agentPlugin()] });
const readJson = async (path: string) => parseRecord(await readFile(path, "utf8"));

describe("agent-plugin: forms", () => {
  it("the open one is valid by the closed schemas, with a skill whose name is its folder's", async () => {
    const home = await makeTempDir();
    const built = await runCommand(["agent-plugin", "build", join(home, "out")], home);
    expect(built.code).toBe(0);
    const ajv = new Ajv2020();
    const [plugin, mcp] = [ajv.compile(PLUGIN_SCHEMA), ajv.compile(MCP_SCHEMA)];
    expect([plugin(await readJson(join(home, "out/plugin.json"))), plugin.errors]).toEqual([true, null]);
    expect([mcp(await readJson(join(home, "out/mcp.json"))), mcp.errors]).toEqual([true, null]);
    // No word of a tool's name: Codex adds it to every tool's description, and a search for that tool would find all of them alike.
    expect(await readJson(join(home, "out/plugin.json"))).toMatchObject({ name: "sessarc" });
    // The schema refuses what it should.
    expect(plugin({ ...(await readJson(join(home, "out/plugin.json"))), hooks: {} })).toBe(false);
    expect(await readFile(join(home, "out/skills/recall/SKILL.md"), "utf8")).toMatch(
      /^---\nname: recall\ndescription: /,
    );
    const again = await runCommand(["agent-plugin", "build", join(home, "out")], home);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is not an empty folder")]);
    const unknown = await runCommand(["agent-plugin", "build", join(home, "b"), "--form", "toString"], home);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("--form is one of agent-plugin")]);
  });

  it.each(["claude-marketplace", "claude-code", "codex", "gemini-cli", "copilot", "cursor"])(
    "of %s is built from JSON that parses and the one skill",
    async (form) => {
      const home = await makeTempDir();
      expect((await runCommand(["agent-plugin", "build", join(home, "out"), "--form", form], home)).code).toBe(0);
      const files = Object.keys(await picture(join(home, "out"))).filter((path) => /\.(json|md)$/.test(path));
      for (const path of files.filter((one) => one.endsWith(".json")))
        expect([path, await readJson(join(home, "out", path))]).toEqual([path, expect.any(Object)]);
      expect(files.filter((path) => path.endsWith("skills/recall/SKILL.md"))).toHaveLength(1);
    },
  );
});

describe("agent-plugin: list", () => {
  it("has what is installed, then the assistants of this machine, and names the others", async () => {
    const home = await makeTempDir();
    for (const folder of [".grok/sessions", ".codex/sessions", ".claude/projects"])
      await mkdir(join(home, folder), { recursive: true });
    expect((await runCommand(["agent-plugin", "install", "--tool", "codex"], home)).code).toBe(0);
    const { stdout, stderr } = await runCommand(["agent-plugin"], home, {}, 80);
    const rows = stripVTControlCharacters(stdout).trimEnd().split("\n").slice(1);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ["codex", "plugin", "installed"],
      ["claude-code", "plugin", "not installed"],
      ["grok", "skill alone", "not installed"],
    ]);
    for (const row of rows) expect(row.length, row).toBeLessThanOrEqual(80);
    expect(stderr.replace(/\s+/g, " ")).toMatch(/^Not on this machine, as far as is known: cursor, opencode, /);
    expect(stderr).toContain("agent-plugin install --tool claude-code");
    const all = JSON.parse((await runCommand(["agent-plugin", "--json"], home)).stdout) as PluginStatus[];
    expect(all.slice(0, 4).map(({ tool, present }) => [tool, present])).toEqual([
      ["codex", true],
      ["claude-code", true],
      ["grok", true],
      ["cursor", false],
    ]);
  });
});

describe("agent-plugin: install", () => {
  const tools = {
    "claude-code": ".claude/skills/sessarc",
    cursor: ".cursor/plugins/local/sessarc",
    "gemini-cli": ".gemini/extensions/sessarc",
    opencode: ".config/opencode/skills/sessarc-recall",
  };

  it.each(Object.entries(tools))(
    "writes nothing as a dry run, then all, and leaves %s as it was",
    async (tool, folder) => {
      const t = await start();
      await mkdir(join(t.home, dirname(folder)), { recursive: true });
      await writeFile(join(t.home, dirname(folder), "other.json"), "{ }");
      const before = await picture(join(t.home, dirname(folder)));
      const dry = await t.send<PluginPlan>("POST", "/api/agent-plugin/install", { tool, dryRun: true });
      expect([dry.status, dry.body.files.every(({ change }) => change === "create")]).toEqual([200, true]);
      expect(await picture(join(t.home, dirname(folder)))).toEqual(before);
      const done = await t.send<PluginPlan>("POST", "/api/agent-plugin/install", { tool });
      expect(done.body).toEqual(dry.body);
      for (const { path, text } of done.body.files) {
        expect(path.startsWith(join(t.home, folder))).toBe(true);
        expect(await readFile(path, "utf8")).toBe(text);
      }
      const { body: status } = await t.send<PluginStatus[]>("GET", "/api/agent-plugin");
      expect(status.find((one) => one.tool === tool)).toMatchObject({ installed: true, outdated: false });
      // Where an assistant has plugins among its skills, the plugin is not a skill that is broken.
      const { body: scan } = await t.send<Scan>("GET", "/api/skills/scan");
      expect(scan.entries.filter((one) => one.class === "broken")).toEqual([]);
      const again = await t.send<PluginPlan>("POST", "/api/agent-plugin/install", { tool });
      expect(again.body.files.every(({ change }) => change === "none")).toBe(true);
      const removed = await t.send("POST", "/api/agent-plugin/uninstall", { tool });
      expect(removed.body).toEqual({ removed: true, commands: [] });
      expect(await picture(join(t.home, dirname(folder)))).toEqual(before);
      expect((await t.send("POST", "/api/agent-plugin/uninstall", { tool })).body).toMatchObject({ removed: false });
    },
  );

  it("replaces no file of someone else, and removes none that was edited", async () => {
    const t = await start();
    const folder = join(t.home, tools["gemini-cli"]);
    const file = join(folder, "gemini-extension.json");
    await mkdir(folder, { recursive: true });
    await writeFile(file, "mine");
    const taken = await t.send<{ code: string }>("POST", "/api/agent-plugin/install", { tool: "gemini-cli" });
    expect([taken.status, taken.body.code]).toEqual([409, "AGENT_PLUGIN_IN_THE_WAY"]);
    expect(await picture(folder)).toEqual({ "gemini-extension.json": expect.stringContaining("file") });
    await t.send("POST", "/api/agent-plugin/install", { tool: "cursor" });
    const edited = join(t.home, tools.cursor, "mcp.json");
    await writeFile(edited, "{}");
    const kept = await t.send<{ code: string }>("POST", "/api/agent-plugin/uninstall", { tool: "cursor" });
    expect([kept.status, kept.body.code, await readFile(edited, "utf8")]).toEqual([409, "SETTINGS_CHANGED", "{}"]);
    const unknown = await t.send<{ code: string }>("POST", "/api/agent-plugin/install", { tool: "../x" });
    expect([unknown.status, unknown.body.code]).toEqual([400, "INVALID_INPUT"]);
    const formless = await t.send<{ code: string }>("POST", "/api/agent-plugin/install", { tool: "aider" });
    expect([formless.status, formless.body.code]).toEqual([404, "AGENT_PLUGIN_TOOL_UNKNOWN"]);
  });

  it("names the commands of an assistant that copies plugins itself, with the files outside of its folders", async () => {
    const t = await start();
    const { body } = await t.send<PluginPlan>("POST", "/api/agent-plugin/install", { tool: "codex" });
    expect(body.folder).toBe(join(t.home, "data/agent-plugin/codex"));
    expect(body.commands).toEqual([`codex plugin marketplace add ${body.folder}`, "codex plugin add sessarc@sessarc"]);
    expect(existsSync(join(t.home, ".codex"))).toBe(false);
    expect((await t.send("POST", "/api/agent-plugin/uninstall", { tool: "codex" })).body).toEqual({
      removed: true,
      commands: ["codex plugin remove sessarc@sessarc", "codex plugin marketplace remove sessarc"],
    });
  });
});
