/** The prompts of a session given to another assistant, in a sandbox, beside the recording. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Json } from "sessarc";
import { describe, expect, it } from "vitest";
import claude from "../../plugins/claude-code/index.ts";
import type { PlanReport, RerunPlan, RerunResult, SandboxInfo } from "../../plugins/replay/index.ts";
import { findIsolation } from "../../plugins/replay/run/isolation.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { replayKernel, toEcho, withoutIsolation, writeCommits } from "./_replay.ts";

const TOOLS = { tools: { put: "write" } } as const;
type Refused = { code?: string; message?: string; fix?: string };

/**
 * An assistant of shell: writes the prompt to a file, commits it, logs a reply as Claude Code does, and prints what it cost. It fails at a
 * prompt that asks for it.
 */
const ASSISTANT = `#!/bin/sh
prompt=$(cat)
[ "$prompt" = "$SESSARC_PROMPT" ] || exit 9
case "$prompt" in *fail*) echo "cannot" >&2; exit 3;; *wait*) sleep 600;; esac
echo "$prompt ($1)" > "answer-$SESSARC_TURN.txt"
git add -A && git commit -qm "answer $SESSARC_TURN"
mkdir -p "$HOME/.claude/projects/-p"
echo '{"type":"assistant","uuid":"u'$SESSARC_TURN'","sessionId":"s","timestamp":"2026-01-03T00:00:00.000Z","requestId":"r'$SESSARC_TURN'","cwd":"/p","message":{"id":"m'$SESSARC_TURN'","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":100,"output_tokens":7}}}' >> "$HOME/.claude/projects/-p/s.jsonl"
echo '{"type":"result","total_cost_usd":0.25,"key":"'$MY_KEY'"}'
`;

async function bench(prompts: readonly string[], env: Record<string, string> = {}, home?: string) {
  const folder = await makeTempDir();
  const t = await replayKernel([toEcho("echo", TOOLS), claude(undefined)], { readable: [folder] }, home, env);
  const root = join(t.home, "work/project");
  await writeCommits(root, [
    { at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\n")]]) },
    {
      at: "2026-01-05T00:00:00Z",
      files: new Map([
        ["a.txt", Buffer.from("one\n")],
        ["answer-1.txt", Buffer.from("say hello (first)\n")],
        ["other.txt", Buffer.from("x")],
      ]),
    },
  ]);
  const at = (i: number) => new Date(Date.parse("2026-01-02T00:00:00Z") + i * 1_000).toISOString();
  const rows: Json[] = [
    { head: { cwd: root, startedAt: at(0), endedAt: at(9) } },
    ...prompts.map((text, i) => ({ event: { kind: "user", text: text.replaceAll("{root}", root), at: at(i) } })),
  ];
  await mkdir(join(t.home, ".logs/echo"), { recursive: true });
  await writeFile(join(t.home, ".logs/echo/s.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const program = join(folder, "assistant");
  await writeFile(program, ASSISTANT, { mode: 0o755 });
  await t.send("POST", "/api/import", { all: true });
  const sessionId = "echo:s";
  const plan = () => t.json<RerunPlan>(`/api/replay/with?sessionId=${sessionId}`);
  return {
    t,
    root,
    program,
    sessionId,
    plan,
    begin: (more: object) =>
      t.send<{ started: true } & Refused>("POST", "/api/replay/with", {
        ...{ sessionId, allowUnisolated: true, network: true },
        ...more,
      }),
    async ended(): Promise<RerunResult> {
      for (;;) {
        const { turn, failure, result } = await plan();
        expect(failure).toBeNull();
        if (turn === null && result) return result;
        await delay(20);
      }
    },
  };
}

describe("without isolation", () => {
  withoutIsolation();

  it("gives each prompt to the command, and shows result, cost and difference beside the recording", async () => {
    const { t, root, program, sessionId, plan, begin, ended } = await bench(["say hello", "look at {root}/a.txt"], {
      MY_KEY: "k1",
      OTHER_KEY: "k2",
    });
    const shown = await plan();
    expect(shown).toMatchObject({ prompts: [{ text: "say hello" }, { seq: 1 }], result: null, turn: null });
    expect(shown.base?.at).toBe("2026-01-01T00:00:00.000Z");
    const command = `${program} first`;
    const followUp = `${program} again`;
    // The recorded replay has a sandbox of its own, which stays as it is.
    const started = await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId });
    const confirmCommand = `${command}\n${followUp}`;
    expect((await begin({ command, followUp, confirmCommand, env: ["MY_KEY"] })).body).toEqual({ started: true });
    const result = await ended();
    expect(result.turns.map(({ seq, exitCode, ended: why }) => [seq, exitCode, why])).toEqual([
      [0, 0, null],
      [1, 0, null],
    ]);
    expect(result.turns[0]?.stdout).toContain('"key":"k1"');
    expect(result).toMatchObject({ left: 0, changed: ["answer-1.txt", "answer-2.txt"], network: true });
    expect(result.diff).toContain("+++ b/answer-1.txt\n@@ -0,0 +1,1 @@\n+say hello (first)\n");
    // A prompt that names the project means the sandbox.
    expect(result.diff).not.toContain(root);
    expect(result.diff).toContain("/a.txt (again)");
    expect(result.run).toMatchObject({
      printedUsd: 0.5,
      usage: { "claude-sonnet-4-5": { input: 200, output: 14 } },
    });
    expect(result.recorded).toMatchObject({ usage: {}, ms: expect.any(Number) });
    expect(result.end.files).toEqual([
      { path: "answer-1.txt", state: "same" },
      { path: "answer-2.txt", state: "extra" },
      { path: "other.txt", state: "missing" },
    ]);
    expect(result.end.head).toMatchObject({ sameTree: false });
    expect(await readdir(root)).toEqual([".git", "a.txt", "answer-1.txt", "other.txt"]);
    expect(await readdir(started.body.path)).toEqual(["a.txt"]);
    expect((await t.json<PlanReport>(`/api/sessions/${sessionId}/replay-plan`)).sandbox?.path).toBe(started.body.path);
  });

  it("runs nothing that is not confirmed to the letter, and makes no sandbox then", async () => {
    const { t, program, begin } = await bench(["say hello"]);
    const command = `${program} x`;
    for (const [more, status, code] of [
      [{}, 409, "REPLAY_WITH_NOT_CONFIRMED"],
      [{ confirmCommand: true }, 409, "REPLAY_WITH_NOT_CONFIRMED"],
      [{ confirmCommand: `${command} ` }, 409, "REPLAY_WITH_NOT_CONFIRMED"],
      [{ confirmCommand: command, followUp: "other" }, 409, "REPLAY_WITH_NOT_CONFIRMED"],
      [{ confirmCommand: command, env: ["NOT_THERE"] }, 400, "INVALID_INPUT"],
      [{ confirmCommand: command, env: ["A=B"] }, 400, "INVALID_INPUT"],
      [{ confirmCommand: command, cwd: "/" }, 400, "VALIDATION_FAILED"],
    ] as const) {
      const answer = await begin({ command, ...more });
      expect([more, answer.status]).toEqual([more, status]);
      if (status === 409) expect(answer.body.code).toBe(code);
    }
    expect(existsSync(join(t.home, "data/replay"))).toBe(false);
  });

  it("asks for the network where it cannot be kept away, and for isolation where there is none", async () => {
    const { program, begin, plan } = await bench(["say hello"]);
    expect((await plan()).isolation).toBe("none");
    const command = `${program} x`;
    const ask = async (more: object) => (await begin({ command, confirmCommand: command, ...more })).body.code;
    expect(await ask({ allowUnisolated: false })).toBe("REPLAY_NO_ISOLATION");
    expect(await ask({ network: false })).toBe("REPLAY_NETWORK_OPEN");
  });

  it("ends at the first prompt that fails, and can be stopped", async () => {
    const { program, begin, ended, plan, t, sessionId } = await bench(["one", "fail now", "three"]);
    const command = `${program} x`;
    await begin({ command, confirmCommand: command });
    const result = await ended();
    expect(result.turns.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [0, ""],
      [3, "cannot\n"],
    ]);
    expect([result.left, result.changed]).toEqual([1, ["answer-1.txt"]]);
    const slow = `sh -c 'touch begun; sleep 600' ${program}`;
    await begin({ command: slow, confirmCommand: slow });
    expect((await begin({ command: slow, confirmCommand: slow })).body.code).toBe("REPLAY_WITH_RUNNING");
    while (!existsSync(join(result.path, "begun"))) await delay(20);
    expect((await plan()).turn).toBe(1);
    expect((await t.send("POST", "/api/replay/with/stop", { sessionId })).body).toEqual({ stopped: true });
    expect((await ended()).turns).toMatchObject([{ exitCode: null, ended: "it was stopped" }]);
  });

  it("`sessarc replay --with` shows the run beside the recording, once the command is confirmed", async () => {
    const home = await makeTempDir();
    const { t, program } = await bench(["say hello"], {}, home);
    await t.close();
    // The sample session of Claude Code is what the command line can read.
    const logs = join(home, ".claude/projects/-w");
    await mkdir(logs, { recursive: true });
    const row = { uuid: "u", parentUuid: null, sessionId: "cli", timestamp: "2026-01-02T00:00:00.000Z" };
    const prompt = {
      ...row,
      cwd: join(home, "work/project"),
      type: "user",
      message: { role: "user", content: "say hi" },
    };
    await writeFile(join(logs, "cli.jsonl"), `${JSON.stringify(prompt)}\n`);
    const run = (...args: string[]) => runCommand(args, home);
    expect((await run("import", "--all")).code).toBe(0);
    const command = `${program} cli`;
    const unconfirmed = await run("replay", "cli", "--with", command);
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining("not confirmed")]);
    const flags = ["--confirm", command, "--allow-unisolated", "--network"];
    const done = await run("replay", "cli", "--with", command, ...flags);
    expect([done.code, done.stderr], done.stdout).toEqual([0, "Prompt 1 of 1\n"]);
    expect(done.stdout).toContain("+say hi (cli)");
    expect(done.stdout).toMatch(/Cost +\$0\.2500 +/);
    expect(done.stdout).toMatch(/Tokens +107 +0/);
    const json = JSON.parse((await run("replay", "cli", "--with", command, ...flags, "--json")).stdout) as RerunResult;
    expect(json.changed).toEqual(["answer-1.txt"]);
    expect(await readFile(join(json.path, "answer-1.txt"), "utf8")).toBe("say hi (cli)\n");
    for (const args of [
      ["replay", "cli", "--network"],
      ["replay", "cli", "--with", "x", "--all-edits"],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 2]);
  });
});

const isolation = await findIsolation({ platform: process.platform, path: process.env.PATH ?? "", readable: [] });
if (isolation.kind === "none") console.warn(`The test of an isolated assistant is skipped: ${isolation.reason}`);

it.skipIf(isolation.kind === "none")(
  "isolated, it has the sandbox, a home of its own, and no network unless allowed",
  async () => {
    const { root, program, begin, ended } = await bench(["look at {root}/a.txt"]);
    const command = `cat /proc/net/dev | wc -l; ls -A ..; ${program} x`;
    await begin({ command, confirmCommand: command, allowUnisolated: false, network: false });
    const result = await ended();
    expect(result).toMatchObject({ network: false, changed: ["answer-1.txt"], run: { printedUsd: 0.25 } });
    // The two lines of the head, and the loopback.
    expect(result.turns[0]?.stdout).toMatch(/^3\nproject\n/);
    expect(result.run.usage).toMatchObject({ "claude-sonnet-4-5": { input: 100 } });
    expect(result.diff).toContain(`${root}/a.txt`);
  },
);

it.skipIf(isolation.kind === "none")(
  "isolated, it reads the folders that the request names, and no others",
  async () => {
    const { t, sessionId, begin, ended } = await bench(["say hello"]);
    const folder = await makeTempDir();
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "my-tool"), "#!/bin/sh\necho found\n", { mode: 0o755 });
    const command = "my-tool";
    const asked = { command, confirmCommand: command, allowUnisolated: false, network: false };
    await begin(asked);
    expect((await ended()).turns[0]).toMatchObject({ exitCode: 127 });
    await begin({ ...asked, readable: [folder] });
    await expect.poll(async () => (await ended()).turns[0]).toMatchObject({ exitCode: 0, stdout: "found\n" });
    for (const path of ["/", "relative", join(folder, "bin", "my-tool"), join(folder, "missing")]) {
      const refused = await t.send("POST", "/api/replay/with", { sessionId, ...asked, readable: [path] });
      expect([path, refused.status]).toEqual([path, 400]);
    }
  },
);
