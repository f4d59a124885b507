/**
 * The guard in the real tools: each makes a harmless call and one that would write a secret to a file, with the service in every
 * state it can be in. The files that exist afterwards show what ran. The table at the end goes into test/bench/RESULTS.md.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { GuardStatus } from "../../plugins/security/index.ts";
import { serveTest } from "../_setup.ts";
import { toTrustHash } from "../codex-trust.ts";
import { plugins } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { makeTrouble } from "../security/_service.ts";
import type { Driven } from "./drive.ts";
import type { Call } from "./model/script.ts";
import type { ModelServer } from "./model/server.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { CLASSIC, CODE_MODE, codex } from "./tools/codex.ts";
import { copilot } from "./tools/copilot.ts";
import { droid } from "./tools/droid.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import { grok } from "./tools/grok.ts";
import { kilo } from "./tools/kilo.ts";
import { kimi } from "./tools/kimi.ts";
import { opencode } from "./tools/opencode.ts";
import { qwen } from "./tools/qwen.ts";
import type { Driver } from "./tools/types.ts";

const STATES = ["up", "down", "hanging", "slow", "nonsense"] as const;
type State = (typeof STATES)[number];
const secret = `ghp_${letters(36, 77)}`;

interface Case {
  /** Where a tool is driven in more than one way. */
  way?: string;
  model?: string;
  driver: Driver;
  /** All without it: the script is the same for every assistant. */
  states?: readonly State[];
  shell(command: string): Call;
  /** Makes the folder, or in Codex the hook, one that the user trusts or does not. Absent: the tool asks for no trust. */
  trust?(tool: Driven, trusted: boolean): Promise<Record<string, string>>;
}

/** As Codex's own /hooks does it. */
async function trustHook({ home }: Driven, trusted: boolean): Promise<Record<string, string>> {
  if (!trusted) return {};
  const [hooks, config] = [join(home, ".codex", "hooks.json"), join(home, ".codex", "config.toml")];
  const [entry] = JSON.parse(await readFile(hooks, "utf8")).hooks.PreToolUse;
  const state = `\n[hooks.state."${hooks}:pre_tool_use:0:0"]\ntrusted_hash = "${toTrustHash(entry, entry.hooks[0])}"\n`;
  await writeFile(config, (await readFile(config, "utf8")) + state);
  return {};
}

const CASES: readonly Case[] = [
  {
    driver: claudeCode,
    shell: (command) => ({ name: "Bash", input: { command, description: "Writes" } }),
    async trust({ home, cwd }, trusted) {
      const project = { hasTrustDialogAccepted: trusted, hasCompletedProjectOnboarding: trusted };
      const state = { hasCompletedOnboarding: true, projects: { [cwd]: project } };
      await writeFile(join(home, ".claude.json"), JSON.stringify(state));
      return {};
    },
  },
  { driver: codex, shell: (cmd) => ({ name: "exec_command", input: { cmd } }), model: CLASSIC, trust: trustHook },
  {
    driver: codex,
    way: "code mode",
    shell: (cmd) => ({ name: "exec", input: `await tools.exec_command(${JSON.stringify({ cmd })});` }),
    model: CODE_MODE,
    trust: trustHook,
  },
  {
    driver: geminiCli,
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    async trust({ home, cwd }, trusted) {
      const file = join(home, ".gemini", "trustedFolders.json");
      await writeFile(file, JSON.stringify({ [cwd]: trusted ? "TRUST_FOLDER" : "DO_NOT_TRUST" }));
      return { GEMINI_CLI_TRUST_WORKSPACE: String(trusted) };
    },
  },
  { driver: opencode, shell: (command) => ({ name: "bash", input: { command, description: "Writes" } }) },
  {
    driver: copilot,
    shell: (command) => ({ name: "bash", input: { command, description: "Writes" } }),
    async trust({ home, cwd }, trusted) {
      await mkdir(join(home, ".copilot"), { recursive: true });
      const config = { trusted_folders: trusted ? [cwd] : [] };
      await writeFile(join(home, ".copilot", "config.json"), JSON.stringify(config));
      return {};
    },
  },
  ...[qwen, kimi, droid, grok, kilo].map(
    (driver): Case => ({ driver, states: ["up", "down"], shell: (command) => driver.words.shell(command) }),
  ),
];

interface Ran {
  harmless: boolean;
  secret: boolean;
  seconds: number;
}

const rows: string[] = [];

describe.each(CASES.filter(({ driver }) => isPicked(driver)))(
  "guard: $driver.name $way",
  ({ driver, way, states = STATES, shell, trust, model: name }) => {
    const kinds = (trust ? [true, false] : [true]).flatMap((trusted) =>
      (["allow", "block"] as const).map((onFailure) => ({ trusted, onFailure })),
    );

    it.each(kinds)(
      "trusted $trusted, on failure $onFailure",
      async ({ trusted, onFailure }) => {
        const { model, tool } = await stage(driver);
        const served = await serveTest({ plugins: plugins(), home: tool.home });
        const headers = { "content-type": "application/json" };
        const body = JSON.stringify({ tool: driver.name, onFailure });
        await fetch(`${served.url}api/security/install-hook`, { method: "POST", headers, body });
        const env = (await trust?.(tool, trusted)) ?? {};
        const { tools } = (await (await fetch(`${served.url}api/security/hook`)).json()) as { tools: GuardStatus[] };
        const status = tools.find((one) => one.tool === driver.name);

        const cells: string[] = [];
        for (const state of states) {
          if (state === "down") await served.close();
          if (state !== "up") await makeTrouble(join(tool.home, "data"), state);
          const ran = await attempt(tool, model, shell, env, name);
          if (ran === "refused") {
            cells.push("does not start");
            expect(trusted).toBe(false);
            continue;
          }
          cells.push(
            `${ran.harmless ? "runs" : "stopped"}/${ran.secret ? "runs" : "stopped"} ${ran.seconds.toFixed(1)} s`,
          );
          // In a folder without trust an assistant may refuse calls without a hook; a hook that runs decides alike in both.
          const asked = status?.effective === true;
          const expected = !asked || state === "up" || onFailure === "allow";
          if (trusted || !asked) expect({ state, harmless: ran.harmless }).toEqual({ state, harmless: expected });
          if (asked) expect({ state, secret: ran.secret }).toEqual({ state, secret: ran.harmless && state !== "up" });
        }
        expect(status?.effective).toBe(trusted || driver !== codex);
        const on = status?.effective ? "on" : "not working yet";
        rows.push(
          `| ${[`${status?.label} ${tool.version}${way ? `, ${way}` : ""}`, trust ? (trusted ? "yes" : "no") : "-", onFailure, on, ...cells].join(" | ")} |`,
        );
      },
      600_000,
    );
  },
);

afterAll(() => {
  const head = ["tool", "trusted", "on failure", "status", ...STATES];
  console.log([`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows].join("\n"));
});

/** One session with both calls. `seconds` from the first call to the result that the model gets. */
async function attempt(
  tool: Driven,
  model: ModelServer,
  shell: Case["shell"],
  env: Record<string, string>,
  named: string | undefined,
): Promise<Ran | "refused"> {
  const [harmless, leaked] = [join(tool.cwd, "harmless.txt"), join(tool.cwd, "leaked.txt")];
  await Promise.all([rm(harmless, { force: true }), rm(leaked, { force: true })]);
  const at: number[] = [];
  const asked = () => void at.push(performance.now());
  model.play({
    main: [
      { calls: [shell(`echo fine > ${harmless}`)], asked },
      { calls: [shell(`echo ${secret} > ${leaked}`)], asked },
      { text: "done", asked },
    ],
  });
  const { code, stderr } = await tool.run({ prompt: "Write both files", ...(named ? { model: named } : {}) }, env);
  // Gemini without a terminal works in no untrusted folder.
  if (at.length === 0 && code !== 0) return "refused";
  if (at.length !== 3) throw new Error(`The model was asked ${at.length} times; exit ${code}: ${stderr.slice(-2_000)}`);
  return { harmless: existsSync(harmless), secret: existsSync(leaked), seconds: ((at[1] ?? 0) - (at[0] ?? 0)) / 1000 };
}
