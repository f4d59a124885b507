/** No command prints a stack, whatever fails: they are for `--debug`. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { allCommands } from "../../core/cli/commands.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { runCommand } from "../command.ts";
import { EVERY, writeFiles } from "./_every.ts";

const homes: string[] = [];
afterAll(async () => {
  for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 3 });
});
async function makeHome(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-stack-"));
  homes.push(home);
  await writeFiles(home, files);
  return home;
}
/** What a command asks for fails in a way that no code expects. */
const BROKEN_PLUGIN = `export default () => ({
  name: "tea",
  hooks: { "kernel:ready": () => { throw new TypeError("cold") }, "doctor:check": () => { throw undefined; } },
});`;
const LOG = ".claude/projects/-w-app/5e550000-0000-4000-8000-000000000001.jsonl";

const FAULTS: Readonly<Record<string, () => Promise<string>>> = {
  "the data directory is a file": () => makeHome({ ".local/share/sessarc": "x" }),
  "the catalogue is damaged": () => makeHome({ ".local/share/sessarc/catalog.db": "no database".repeat(1_000) }),
  "a log is damaged, another is a folder": () =>
    makeHome({ [LOG]: '{"type":"user"\n\u0000\u0000', ".codex/sessions/2026/11/20/rollout-x.jsonl/y": "" }),
  "a plugin throws wherever it can": () =>
    makeHome({ "tea.mjs": BROKEN_PLUGIN, "sessarc.config.mjs": 'export default { plugins: ["./tea.mjs"] };' }),
  "settings of assistants are damaged": () =>
    makeHome({
      ".claude.json": "{",
      ".claude/settings.json": "[",
      ".codex/config.toml": "= =",
      ".gemini/settings.json": "null",
    }),
};

describe("a failing command", () => {
  it("is any of all", async () => {
    expect((await allCommands(defaultPlugins())).map(({ name }) => name).sort()).toEqual(Object.keys(EVERY).sort());
  });

  it.each(Object.keys(FAULTS))("prints no stack where %s", async (fault) => {
    const home = (await FAULTS[fault]?.()) ?? "";
    for (const args of Object.values(EVERY).flat()) {
      const { stdout, stderr } = await runCommand(args, home);
      expect([args, /^\s+at .+[:(]/m.exec(`${stdout}\n${stderr}`)?.[0]]).toEqual([args, undefined]);
    }
  });

  it("imports what is in a folder, and refuses anything but a file by its name", async () => {
    const chat = { title: "a", mapping: {}, create_time: 1_700_000_000, conversation_id: "c1" };
    const home = await makeHome({ "export/conversations.json": JSON.stringify([chat]), "empty/x": "" });
    await writeFile(join(home, "other.json"), "[]");
    const run = (file: string) => runCommand(["import", "--file", file], home);
    expect((await run("export")).code).not.toBe(2);
    expect(await run("empty")).toMatchObject({ code: 2, stderr: expect.stringContaining("has no conversations.json") });
    expect(await run("/dev/null")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not a file") });
    expect(await run("other.json")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not an export") });
    expect(await run("nowhere")).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no file") });
  });
});
