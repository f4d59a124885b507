/** A SIGKILL before any call that changes something on the disk: the settings are whole, and the original comes back byte for byte. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { beforeAll, describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { StatuslineRemoved, StatuslineStatus } from "../../plugins/statusline/index.ts";
import { LONG } from "../rounds.ts";
import { childScript, runKilled } from "../scripts.ts";

const BEFORE = '{\n  // mine\n  "model": "opus"\n}\n';
const LINE = /"statusLine"/;
type Action = "install" | "change" | "uninstall";
const ACTIONS: readonly Action[] = ["install", "change", "uninstall"];

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("statusline/crash-child");
});

const child = (home: string, tool: string, action: Action, killAt: number) =>
  runKilled(script, { home, killAt, action, tool });

/** With what comes before the action done. */
async function newHome(tool: string, action: Action, before: string | undefined): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
  if (before !== undefined) await put(home, tool, before);
  if (action !== "install") await child(home, tool, "install", 0);
  return home;
}

const fileOf = (home: string, tool: string) =>
  join(home, tool === "copilot" ? ".copilot/settings.json" : ".claude/settings.json");
async function put(home: string, tool: string, text: string): Promise<void> {
  await mkdir(dirname(fileOf(home, tool)), { recursive: true });
  await writeFile(fileOf(home, tool), text);
}
const textOf = (home: string, tool: string) => readFile(fileOf(home, tool), "utf8").catch(() => undefined);

describe.each([
  ["claude-code", BEFORE],
  ["copilot", undefined],
])("killed in the middle, %s", (tool, before) => {
  it.each(ACTIONS)("%s: nothing is half done afterwards", async (action) => {
    const done = await newHome(tool, action, before);
    const calls = (await child(done, tool, action, 0)) ?? 0;
    await rm(done, { recursive: true });
    expect(calls).toBeGreaterThan(3);
    const all = Array.from({ length: calls }, (_, i) => i + 1);
    for (const killAt of LONG ? all : [1 + Math.floor(Math.random() * calls)]) {
      const home = await newHome(tool, action, before);
      expect([killAt, await child(home, tool, action, killAt)]).toEqual([killAt, undefined]);
      const left = await textOf(home, tool);
      const hasLine = left !== undefined && LINE.test(left);
      if (!hasLine) expect([killAt, left]).toEqual([killAt, before]);
      const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
      const status = await t.json<StatuslineStatus[]>("/api/statusline");
      expect([killAt, status.find((one) => one.tool === tool)?.installed]).toEqual([killAt, hasLine]);
      const { body } = await t.send<StatuslineRemoved>("DELETE", `/api/statusline/install?tool=${tool}`);
      expect([killAt, body]).toMatchObject([killAt, { removed: hasLine, restored: hasLine }]);
      expect([killAt, await textOf(home, tool)]).toEqual([killAt, before]);
      await t.close();
      const names = await readdir(home, { recursive: true });
      expect([killAt, names.filter((name) => name.endsWith(".tmp"))]).toEqual([killAt, []]);
      if (before === undefined)
        expect([killAt, names.filter((name) => name.startsWith(".copilot"))]).toEqual([killAt, []]);
      await rm(home, { recursive: true });
    }
  });
});
