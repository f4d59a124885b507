/** A SIGKILL before any call that changes something on the disk: settings are whole, and the original comes back byte for byte. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeAll, describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { GuardStatus } from "../../plugins/security/index.ts";
import type { StatuslineStatus } from "../../plugins/statusline/index.ts";
import { LONG } from "../rounds.ts";
import { childScript, runKilled } from "../scripts.ts";

type Action = "install" | "change" | "uninstall";
const ACTIONS: readonly Action[] = ["install", "change", "uninstall"];

interface Placed {
  tool: string;
  file: string;
  before: string | undefined;
  /** What the settings have once it is placed. */
  ours: RegExp;
  route: string;
  isInstalled(t: TestKernel, tool: string): Promise<boolean | undefined>;
}

const line = {
  ours: /"statusLine"/,
  route: "/api/statusline/install",
  isInstalled: async (t: TestKernel, tool: string) =>
    (await t.json<StatuslineStatus[]>("/api/statusline")).find((one) => one.tool === tool)?.installed,
};
const guard = {
  ours: /hook\.sh/,
  route: "/api/security/install-hook",
  isInstalled: async (t: TestKernel, tool: string) =>
    (await t.json<{ tools: GuardStatus[] }>("/api/security/hook")).tools.find((one) => one.tool === tool)?.installed,
};
const MINE = '{\n  // mine\n  "model": "opus"\n}\n';

const CASES: readonly [string, Placed][] = [
  ["the status line", { ...line, tool: "claude-code", file: ".claude/settings.json", before: MINE }],
  ["a status line in a new file", { ...line, tool: "copilot", file: ".copilot/settings.json", before: undefined }],
  ["the guard", { ...guard, tool: "gemini-cli", file: ".gemini/settings.json", before: MINE }],
  ["the guard in a new file", { ...guard, tool: "copilot", file: ".copilot/hooks/sessarc.json", before: undefined }],
];

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("core/placement-child");
});

describe.each(CASES)("killed in the middle: %s", (_, { tool, file, before, ours, route, isInstalled }) => {
  const child = (home: string, action: Action, killAt: number) =>
    runKilled(script, { home, killAt, action, route, tool });
  const textIn = (home: string) => readFile(join(home, file), "utf8").catch(() => undefined);

  /** With what comes before the action done. */
  async function newHome(action: Action): Promise<string> {
    const home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
    if (before !== undefined) {
      await mkdir(dirname(join(home, file)), { recursive: true });
      await writeFile(join(home, file), before);
    }
    if (action !== "install") await child(home, "install", 0);
    return home;
  }

  it.each(ACTIONS)("%s: nothing is half done afterwards", async (action) => {
    const done = await newHome(action);
    const calls = (await child(done, action, 0)) ?? 0;
    await rm(done, { recursive: true });
    expect(calls).toBeGreaterThan(3);
    const all = Array.from({ length: calls }, (_, i) => i + 1);
    for (const killAt of LONG ? all : [1 + Math.floor(Math.random() * calls)]) {
      const home = await newHome(action);
      expect([killAt, await child(home, action, killAt)]).toEqual([killAt, undefined]);
      const left = await textIn(home);
      const isThere = left !== undefined && ours.test(left);
      if (!isThere) expect([killAt, left]).toEqual([killAt, before]);
      const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
      expect([killAt, await isInstalled(t, tool)]).toEqual([killAt, isThere]);
      const { body } = await t.send("DELETE", `${route}?tool=${tool}`);
      expect([killAt, body]).toMatchObject([killAt, { removed: isThere, restored: isThere }]);
      expect([killAt, await textIn(home)]).toEqual([killAt, before]);
      await t.close();
      const names = await readdir(home, { recursive: true });
      expect([killAt, names.filter((name) => name.endsWith(".tmp"))]).toEqual([killAt, []]);
      if (before === undefined) expect([killAt, names]).toEqual([killAt, expect.not.arrayContaining([".copilot"])]);
      await rm(home, { recursive: true });
    }
  });
});
