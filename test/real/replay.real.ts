/**
 * Sessions in which real assistants work with git, replayed in the sandbox: each must end at the tree that the assistant committed. And the
 * prompts of a session given to a real assistant with `sessarc replay --with`.
 */
import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { EndState, PlanReport, RerunResult, SandboxInfo, StepReport } from "../../plugins/replay/index.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";
import type { Driven } from "./drive.ts";
import type { Call } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { toAssistantCommand } from "./sandboxed.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import type { Driver } from "./tools/types.ts";

/** A command, a file that is written, or an edit of README.md. */
type Deed = string | { write: string; text: string } | { from: string; to: string };

const SESSIONS: readonly [name: string, deeds: readonly Deed[]][] = [
  ["a move and a commit", ["mkdir docs && git mv README.md docs/guide.md", "git commit -m 'move the guide'"]],
  [
    "a branch",
    ["git checkout -b feature", { write: "new.txt", text: "new\n" }, "git add new.txt", "git commit -m 'add new'"],
  ],
  ["commit -am", [{ from: "# App", to: "# Application" }, "git commit -am 'rename the app'"]],
  ["mv and add -A", [{ write: "a.txt", text: "a\n" }, "mv lib.txt library.txt && git add -A && git commit -m tidy"]],
  [
    "an amended commit",
    [
      { write: "one.txt", text: "1\n" },
      "git add one.txt && git commit -m one",
      { from: "# App", to: "# One" },
      "git commit -a --amend --no-edit",
    ],
  ],
  [
    "a merge",
    [
      "git checkout -b work",
      { write: "work.txt", text: "w\n" },
      "git add . && git commit -m work",
      "git checkout main && git merge --no-ff -m merged work",
    ],
  ],
  [
    "a removal",
    ["git rm -q lib.txt", { write: "lib/index.txt", text: "lib\n" }, "git add lib && git commit -m 'lib is a folder'"],
  ],
];

const drivers = [claudeCode, codex, geminiCli].filter(isPicked);
const WHO = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
const rows: string[] = [];
afterAll(() => console.log(rows.join("\n")));

const start = (driver: Driver) => stage(driver, { files: { "lib.txt": "lib\n" } });

function toCall(tool: Driven, deed: Deed): Call {
  const { words } = tool.driver;
  if (typeof deed === "string") return words.shell(deed);
  return "write" in deed ? words.write(tool, deed.write, deed.text) : words.edit(tool, "README.md", deed.from, deed.to);
}

/** Imports the home; answers the one session in it. */
async function imported(home: string) {
  const kernel = await createTestKernel({ home, plugins: defaultPlugins() });
  await kernel.send("POST", "/api/import", { all: true });
  const { sessions } = await kernel.json<{ sessions: { id: string }[] }>("/api/sessions");
  expect(sessions).toHaveLength(1);
  return { kernel, sessionId: sessions[0]?.id ?? "" };
}

describe.each(drivers)("a session of $name with", (driver) => {
  it.each(SESSIONS)("%s replays to the tree that was committed", async (name, deeds) => {
    const { tool, model } = await start(driver);
    // An edit tool of some assistants requires that the file was read.
    const edits = deeds.some((deed) => typeof deed !== "string" && "from" in deed);
    const read =
      edits && driver === claudeCode ? [{ name: "Read", input: { file_path: `${tool.cwd}/README.md` } }] : [];
    const calls = [...read, ...deeds.map((deed) => toCall(tool, deed))];
    model.play({ main: [...calls.map((call) => ({ calls: [call] })), { text: "Done." }] });
    const ran = await tool.run({ prompt: "Change the project" }, WHO);
    expect([ran.code, git(tool.cwd, "status", "--porcelain")], ran.stderr.slice(-2_000)).toEqual([0, ""]);
    expect(Number(git(tool.cwd, "rev-list", "--count", "HEAD"))).toBeGreaterThan(1);

    const { kernel, sessionId } = await imported(tool.home);
    const started = await kernel.send<SandboxInfo & { isolation: string }>("POST", "/api/replay/start", {
      sessionId,
      allowUnisolated: true,
    });
    expect(started.status, JSON.stringify(started.body)).toBe(200);
    const { steps } = await kernel.json<PlanReport>(`/api/sessions/${sessionId}/replay-plan`);
    for (const { seq, command, due } of steps) {
      if (!due) continue;
      const confirm = command === null ? {} : { confirmCommand: command };
      const { status, body } = await kernel.send<StepReport>("POST", "/api/replay/step", {
        sessionId,
        seq,
        ...confirm,
      });
      expect([command, status, body.state, body.exitCode ?? 0], JSON.stringify(body)).toEqual([
        command,
        200,
        "done",
        0,
      ]);
    }
    const end = await kernel.json<EndState>(`/api/replay/result?sessionId=${sessionId}`);
    expect(end).toMatchObject({ differs: 0, missing: 0, extra: 0, head: { sameTree: true } });
    const tree = (cwd: string) => git(cwd, "rev-parse", "HEAD^{tree}");
    expect(tree(started.body.path)).toBe(tree(tool.cwd));
    rows.push(`${driver.name} ${tool.version} | ${name} | ${steps.length} steps | ${started.body.isolation}`);
  });
});

it.each(drivers)("the prompts of a session are given to $name with `sessarc replay --with`", async (driver) => {
  const { tool, model } = await start(driver);
  model.play({ main: [{ text: "First." }] });
  expect((await tool.run({ prompt: "Write a note" }, WHO)).code).toBe(0);
  // The settings of the home are not in the sandbox's: what an assistant needs is in its command and its variables.
  const { command, env, flags } = toAssistantCommand(tool);
  const run = (...args: string[]) => runCommand(args, tool.home, env);
  expect((await run("import", "--all")).code).toBe(0);
  const { sessions } = JSON.parse((await run("sessions", "--json")).stdout) as { sessions: { id: string }[] };
  const [{ id } = { id: "" }] = sessions;

  model.play({ main: [{ calls: [toCall(tool, { write: "note.txt", text: "a note\n" })] }, { text: "Written." }] });
  const done = await run("replay", id, "--with", command, "--confirm", command, ...flags, "--json");
  expect(done.stderr).toBe("");
  const result = JSON.parse(done.stdout) as RerunResult;
  expect(result.turns[0]?.exitCode, JSON.stringify(result.turns)).toBe(0);
  expect(result).toMatchObject({ changed: ["note.txt"], left: 0 });
  expect(result.run.usage, "the logs in the sandbox's home").not.toBeNull();
  rows.push(`${driver.name} ${tool.version} | --with | ${result.isolation} | ${JSON.stringify(result.run.usage)}`);
});
