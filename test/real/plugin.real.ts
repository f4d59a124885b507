/**
 * The agent plugin in real assistants: installed by `sessarc agent-plugin install`, with `sessarc` on the PATH and a service in the home. The
 * model calls the hub's tool `recall` through the plugin's bridge, and the answer is in its next request; so is the plugin's skill.
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isRecord, toText } from "sessarc";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { PluginPlan } from "../../plugins/index.ts";
import { builtPackage, CLI, runCli, startService } from "../built.ts";
import { fails, says, shell, user, writeSessions } from "../recall/sessions.ts";
import type { Driven } from "./drive.ts";
import type { Call, ModelRequest } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  /** What the model does while the request has no tool of the hub: it searches for tools that are not in the request. */
  search?: Call;
}

const ERROR = "connect ECONNREFUSED 127.0.0.1:5432";
const FIX = "docker compose up -d";

const CASES: readonly Case[] = [
  { driver: claudeCode, search: { name: "ToolSearch", input: { query: "+sessarc recall" } } },
  { driver: codex, search: { name: "tool_search", input: { query: "recall earlier work" } } },
];

/** The hub's `recall` as the request offers it, alone or in a group of tools; undefined where it does not. */
function findTool(tools: unknown, namespace?: string): Omit<Call, "input"> | undefined {
  if (!Array.isArray(tools)) return undefined;
  for (const tool of tools) {
    if (!isRecord(tool)) continue;
    const { name } = tool;
    const within = findTool(tool.tools ?? tool.functionDeclarations, toText(name));
    if (within) return within;
    if (typeof name === "string" && /sessarc\w*_recall$/.test(name)) return { name, ...(namespace && { namespace }) };
  }
  return undefined;
}

const rows: string[] = [];
afterAll(() => console.log(rows.join("\n")));
beforeAll(builtPackage, 600_000);

/** A folder with the built `sessarc` as its only command. */
async function makeBin(home: string): Promise<string> {
  const folder = join(home, "bin");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "sessarc"), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  await chmod(join(folder, "sessarc"), 0o755);
  return folder;
}

const past = (cwd: string) => [
  {
    ...{ n: 1, cwd, at: new Date(Date.now() - 3 * 86_400_000).toISOString() },
    turns: [
      user("run the migrations"),
      fails("./migrate.sh", `Error: ${ERROR}`),
      shell(FIX),
      shell("./migrate.sh"),
      says("The database had to be started first."),
    ],
  },
];

/** Installs it as a user would: by the command, then by the commands of the assistant that it prints. */
async function install(tool: Driven, path: string): Promise<PluginPlan> {
  const { name } = tool.driver;
  const { code, stdout, stderr } = await runCli(["agent-plugin", "install", "--tool", name, "--json"], tool.home, {
    PATH: path,
  });
  expect([code, stderr]).toEqual([0, ""]);
  const plan = JSON.parse(stdout) as PluginPlan;
  expect(plan.onPath).toBe(true);
  for (const line of plan.commands) {
    const [, ...args] = line.split(" ");
    const ran = await tool.command(args, { PATH: path }).ended;
    expect(ran.code, ran.stderr).toBe(0);
  }
  return plan;
}

describe.each(CASES.filter(({ driver }) => isPicked(driver)))("the agent plugin in $driver.name", (one) => {
  it("lets the model ask the archive, and its next request holds the answer", async () => {
    const { tool, model } = await stage(one.driver);
    const path = [await makeBin(tool.home), tool.env.PATH].join(delimiter);
    await writeSessions(tool.home, past(tool.cwd));
    const service = await startService([], tool.home, { PATH: path });
    onTestFinished(async () => void (await service.stop()));
    expect((await runCli(["import", "--all"], tool.home, { PATH: path })).code).toBe(0);
    await install(tool, path);

    const bodies: string[] = [];
    let callAt = -1;
    const calls = ({ body }: ModelRequest): readonly Call[] => {
      bodies.push(JSON.stringify(body));
      if (callAt >= 0) return [];
      // Codex gives what a search found in an item of the input.
      const found = findTool([body, ...(Array.isArray(body.input) ? body.input : [])]);
      if (!found) return one.search ? [one.search] : [];
      callAt = bodies.length;
      return [{ ...found, input: { command: "./migrate.sh" } }];
    };
    model.play({ main: Array.from({ length: 8 }, () => ({ text: "I look.", calls })) });
    const ran = await tool.run({ prompt: "Why does it fail?" }, { PATH: path });
    const said = `${ran.stdout}${ran.stderr}`.slice(-3_000);
    expect(
      [ran.code, callAt > 0],
      `${said}${bodies
        .join("\n")
        .match(/[^"]*recall[^"]*/g)
        ?.join("\n")}`,
    ).toEqual([0, true]);
    expect(bodies[0]?.includes("Recall what earlier coding sessions on this machine decided"), "the skill").toBe(true);
    const answer = bodies
      .at(-1)
      ?.slice(-4_000)
      .match(/.{0,300}recall.{0,1500}/s)?.[0];
    const holds = bodies.map((body) => body.includes(FIX));
    expect(holds, answer).toEqual(bodies.map((_, i) => i >= callAt));
    rows.push(`| ${tool.driver.name} ${tool.version} | recall in request ${callAt} | ${Math.round(ran.ms)} ms |`);
    const { calls: known } = (await (await fetch(new URL("api/mcp/calls", service.url))).json()) as {
      calls: { tool: string; client: string }[];
    };
    expect(known).toMatchObject([{ client: tool.driver.name }]);
  });
});
