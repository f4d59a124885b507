/**
 * The hooks that report waiting, in the real tools: each answers one prompt and ends. Which events reached the service, and whether they name
 * the session that the archive imports, is in the table at the end.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { WaitingEntry } from "../../plugins/notices/index.ts";
import { serveTest } from "../_setup.ts";
import { toTrustHash } from "../codex-trust.ts";
import type { Driven } from "./drive.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { inTerminal } from "./terminal.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { CLASSIC, codex } from "./tools/codex.ts";
import { copilot } from "./tools/copilot.ts";
import { droid } from "./tools/droid.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import { grok } from "./tools/grok.ts";
import { kilo } from "./tools/kilo.ts";
import { kimi } from "./tools/kimi.ts";
import { opencode } from "./tools/opencode.ts";
import { qwen } from "./tools/qwen.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  model?: string;
  /** The folder is trusted, or in Codex each hook. */
  trust?(tool: Driven): Promise<Record<string, string> | undefined>;
}

const CODEX = { PreToolUse: "pre_tool_use", PermissionRequest: "permission_request", Stop: "stop" };

const CASES: readonly Case[] = [
  {
    driver: claudeCode,
    async trust({ home, cwd }) {
      const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      const state = { hasCompletedOnboarding: true, projects: { [cwd]: project } };
      await writeFile(join(home, ".claude.json"), JSON.stringify(state));
      return undefined;
    },
  },
  {
    driver: codex,
    model: CLASSIC,
    async trust({ home }) {
      const [path, config] = [join(home, ".codex", "hooks.json"), join(home, ".codex", "config.toml")];
      const { hooks } = JSON.parse(await readFile(path, "utf8"));
      const states = Object.entries(CODEX).map(([list, event]) => {
        const [entry] = hooks[list];
        return `\n[hooks.state."${path}:${event}:0:0"]\ntrusted_hash = "${toTrustHash(entry, entry.hooks[0], event)}"\n`;
      });
      await writeFile(config, (await readFile(config, "utf8")) + states.join(""));
      return undefined;
    },
  },
  {
    driver: geminiCli,
    async trust({ home, cwd }) {
      await writeFile(join(home, ".gemini", "trustedFolders.json"), JSON.stringify({ [cwd]: "TRUST_FOLDER" }));
      return { GEMINI_CLI_TRUST_WORKSPACE: "true" };
    },
  },
  {
    driver: copilot,
    async trust({ home, cwd }) {
      await mkdir(join(home, ".copilot"), { recursive: true });
      await writeFile(join(home, ".copilot", "config.json"), JSON.stringify({ trusted_folders: [cwd] }));
      return undefined;
    },
  },
  ...[opencode, kilo, qwen, kimi, droid, grok].map((driver): Case => ({ driver })),
];

const rows: string[] = [];

describe.each(CASES.filter(({ driver }) => isPicked(driver)))(
  "waiting: $driver.name",
  ({ driver, model: name, trust }) => {
    it("reports the end of a turn, by the session's id in the archive", async () => {
      const { model, tool } = await stage(driver);
      const served = await serveTest({ plugins: defaultPlugins(), home: tool.home, flags: { sync: false } });
      const reported = vi.spyOn(served.kernel.inject("waiting"), "report");
      const post = (path: string, body: object) =>
        served.kernel.fetch(path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
      expect(
        await (await post("/api/security/install-hook", { tool: driver.name, waiting: true })).json(),
      ).toMatchObject({
        waiting: true,
      });
      const env = (await trust?.(tool)) ?? {};
      model.play({ main: [{ text: "done" }] });
      const ran = await tool.run({ prompt: "Say done", ...(name ? { model: name } : {}) }, env);
      await post("/api/import", { all: true });
      const { sessions } = (await (await served.kernel.fetch("/api/sessions")).json()) as {
        sessions: { id: string }[];
      };
      const events = reported.mock.calls.map(([, session, event]) => `${event} ${session}`);
      const known = sessions.map(({ id }) => id.slice(id.indexOf(":") + 1));
      rows.push(`| ${driver.name} ${tool.version} | ${events.map((one) => one.split(" ")[0]).join(", ")} |`);
      expect(events, `exit ${ran.code}: ${ran.stderr.slice(-1_000)}`).toContain(`answer ${known[0]}`);
    }, 300_000);
  },
);

it.runIf(isPicked(claudeCode))(
  "Claude Code asks on its screen: a permission is waited for until it is given",
  async () => {
    const { model, tool } = await stage(claudeCode);
    const served = await serveTest({ plugins: defaultPlugins(), home: tool.home });
    const reported = vi.spyOn(served.kernel.inject("waiting"), "report");
    const ask = async (path: string, init?: RequestInit) => (await served.kernel.fetch(path, init)).json();
    const body = JSON.stringify({ tool: "claude-code", waiting: true });
    const headers = { "content-type": "application/json" };
    await ask("/api/security/install-hook", { method: "POST", headers, body });
    await ask("/api/import", { method: "POST", headers, body: JSON.stringify({ all: true }) });
    const command = `touch ${join(tool.cwd, "made.txt")}`;
    model.play({
      main: [{ calls: [{ name: "Bash", input: { command, description: "Makes a file" } }] }, { text: "It is made." }],
    });
    const screen = await inTerminal(tool, ["--model", "claude-sonnet-4-5", "Make a file"]);
    onTestFinished(() => screen.close());
    const kinds = async () => ((await ask("/api/waiting")) as WaitingEntry[]).map(({ kind }) => kind);
    await screen.until((text) => /Do you want/.test(text));
    await expect.poll(kinds, { timeout: 60_000, interval: 200 }).toEqual(["permission"]);
    await screen.until((text) => text.includes("It is made."), "1");
    await expect.poll(kinds, { timeout: 60_000, interval: 200 }).toEqual(["answer"]);
    rows.push(
      `| claude-code ${tool.version}, on its screen | ${reported.mock.calls.map(([, , event]) => event).join(", ")} |`,
    );
  },
  300_000,
);

afterAll(() => {
  console.log(["| tool | events |", "|---|---|", ...rows].join("\n"));
});
