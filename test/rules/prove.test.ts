/** Old prompts given to an assistant in the sandbox, with the line and without it: a line is proved where the mistake goes. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { ProofPlan, Proposal, RuleOverview } from "../../plugins/rules/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { withoutIsolation, writeCommits } from "../replay/_replay.ts";
import { type Step, writeFixtures } from "./_fixtures.ts";

type Refused = { code?: string; message?: string };

/**
 * An assistant of shell: it runs `make test`, unless the instructions name `make check`, writes a log as Claude Code does, and prints its cost.
 * `stubborn` reads no instructions, `careful` needs none, `broken` fails.
 */
const ASSISTANT = `#!/bin/sh
prompt=$(cat)
[ "$prompt" = "$SESSARC_PROMPT" ] || exit 9
echo "$1 $(cat AGENTS.md 2>/dev/null)" >> "RUNS"
case "$1" in broken) echo "no key" >&2; exit 4;; slow) touch begun; sleep 600;; esac
bad=yes
[ "$1" = careful ] && bad=no
[ "$1" = stubborn ] || { grep -q "make check" AGENTS.md 2>/dev/null && bad=no; }
command="make check"; error=false
[ $bad = yes ] && { command="make test"; error=true; }
mkdir -p "$HOME/.claude/projects/-p"
row='"sessionId":"s","timestamp":"2026-01-03T00:00:00.000Z","cwd":"/p"'
cat > "$HOME/.claude/projects/-p/s.jsonl" <<EOR
{"type":"user","uuid":"a",$row,"message":{"role":"user","content":"x"}}
{"type":"assistant","uuid":"b","parentUuid":"a","requestId":"r",$row,"message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"$command"}}],"usage":{"input_tokens":100,"output_tokens":7}}}
{"type":"user","uuid":"d","parentUuid":"b",$row,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done","is_error":$error}]}}
EOR
echo '{"type":"result","total_cost_usd":0.25}'
`;

const slipping: Step[] = [
  { user: "Run the checks" },
  { run: "make test", out: "No rule to make target 'test'", fails: true },
  { run: "make check", out: "ok" },
];

async function bench(): Promise<{ t: TestKernel; home: string; rule: Proposal; program: string }> {
  const home = await makeTempDir();
  const folder = join(home, "work/app");
  await writeCommits(folder, [{ at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\n")]]) }]);
  const sessions = Array.from({ length: 5 }, () => slipping);
  await writeFixtures(home, [{ name: "app", what: "", planted: null, sessions }], Date.now() - 30 * 86_400_000);
  const program = join(home, "bin/assistant");
  await mkdir(join(home, "bin"));
  await writeFile(program, ASSISTANT, { mode: 0o755 });
  const t = await createTestKernel({ plugins: defaultPlugins(), home });
  await t.send("POST", "/api/import", { all: true });
  const { proposals } = await t.json<RuleOverview>("/api/rules/proposals");
  return { t, home, rule: proposals[0] as Proposal, program };
}

const toQuery = ({ id, project }: Proposal) => `id=${id}&project=${project.id}`;
const plan = (t: TestKernel, rule: Proposal) => t.json<ProofPlan>(`/api/rules/proof?${toQuery(rule)}`);
const begin = (t: TestKernel, { id, project }: Proposal, command: string, more: object = {}) =>
  t.send<Refused>("POST", "/api/rules/proof", {
    ...{ id, project: project.id, command, confirmCommand: command, allowUnisolated: true, network: true },
    ...more,
  });
async function ended(t: TestKernel, rule: Proposal): Promise<ProofPlan> {
  for (;;) {
    const found = await plan(t, rule);
    if (found.run === null && (found.proof !== null || found.failure !== null)) return found;
    await delay(20);
  }
}

describe("without isolation", () => {
  withoutIsolation();

  it("shows the prompts and the price before anything runs, and runs nothing that is not confirmed", async () => {
    const { t, rule, program, home } = await bench();
    const shown = await plan(t, rule);
    expect(shown).toMatchObject({ line: rule.line, runs: 4, run: null, failure: null, proof: null });
    expect(shown.prompts.map(({ text, seq }) => [text, seq])).toEqual([
      ["Run the checks", 0],
      ["Run the checks", 0],
    ]);
    // Two replies of 900 and 40 tokens at 3 and 15 dollars a million, for each of two prompts, twice.
    expect(shown.usd).toBeCloseTo(4 * 2 * (900 * 3e-6 + 40 * 15e-6), 6);
    for (const confirmCommand of [undefined, true, `${program} `]) {
      const { status, body } = await begin(t, rule, `${program} plain`, { confirmCommand });
      expect([status, body.code]).toEqual([409, "RULE_PROOF_NOT_CONFIRMED"]);
    }
    expect(existsSync(join(home, "data/replay"))).toBe(false);
  });

  it.each([
    ["plain", "proved", [true, false], [true, false], 1],
    ["stubborn", "refuted", [true, true], [true, true], 1],
    ["careful", "not-shown", [false, null], [false, null], 0.5],
  ] as const)("of an assistant that is %s, the line is %s", async (kind, verdict, first, second, usd) => {
    const { t, rule, program } = await bench();
    expect((await begin(t, rule, `${program} ${kind}`)).body).toEqual({ started: true });
    const { proof } = await ended(t, rule);
    expect(proof).toMatchObject({ verdict, usd });
    expect(proof?.trials.map((trial) => [trial.without.failed, trial.with?.failed ?? null])).toEqual([first, second]);
    const { proposals } = await t.json<RuleOverview>("/api/rules/proposals");
    expect(proposals[0]?.proof?.verdict).toBe(verdict);
    const accepted = await t.send<Refused>("POST", "/api/rules/accept", { id: rule.id, project: rule.project.id });
    expect([accepted.status, accepted.body.code]).toEqual(
      verdict === "refuted" ? [409, "RULE_REFUTED"] : [200, undefined],
    );
  });

  it("reports an assistant that fails, and can be stopped", async () => {
    const { t, rule, program } = await bench();
    await begin(t, rule, `${program} broken`);
    expect(await ended(t, rule)).toMatchObject({ proof: null, failure: expect.stringContaining("no key") });
    await begin(t, rule, `${program} slow`);
    expect((await begin(t, rule, `${program} slow`)).body.code).toBe("RULE_PROOF_RUNNING");
    while ((await plan(t, rule)).run !== 1) await delay(20);
    expect((await t.send("POST", "/api/rules/proof/stop", { id: rule.id })).body).toEqual({ stopped: true });
    expect(await plan(t, rule)).toMatchObject({ run: null, proof: null, failure: "The proof was stopped." });
  });

  it("`sessarc rules --prove` prints the price first, and runs only with --yes", async () => {
    const { t, program, home } = await bench();
    await t.close();
    const run = (...more: string[]) =>
      runCommand(
        ["rules", "--prove", "1", "--with", `${program} plain`, "--allow-unisolated", "--network", ...more],
        home,
      );
    await runCommand(["import", "--all"], home);
    const asked = await run();
    expect([asked.code, asked.stdout]).toEqual([1, ""]);
    expect(asked.stderr).toContain("Runs your assistant 4 times in a sandbox, for about $0.0264");
    expect(asked.stderr).toContain("Pass --yes to confirm.");
    const done = await run("--yes");
    expect([done.code, done.stdout], done.stderr).toEqual([
      0,
      "proved: the mistake was made without the line and not with it (4 runs, $1.0000)\n",
    ]);
  });
});

describe("a correction", () => {
  it("that no call shows cannot be proved", async () => {
    const home = await makeTempDir();
    const saying = (text: string): Step[] => [
      { user: "Explain it" },
      { reply: "So." },
      { user: text },
      { reply: "Yes." },
    ];
    const sessions = ["never use emojis", "don't use emojis", "no emojis please"].map(saying);
    await writeFixtures(home, [{ name: "app", what: "", planted: null, sessions }], Date.now() - 30 * 86_400_000);
    const t = await createTestKernel({ plugins: defaultPlugins(), home });
    await t.send("POST", "/api/import", { all: true });
    const { proposals } = await t.json<RuleOverview>("/api/rules/proposals");
    const refused = await t.fetch(`/api/rules/proof?${toQuery(proposals[0] as Proposal)}`);
    expect([refused.status, ((await refused.json()) as Refused).code]).toEqual([422, "RULE_NOT_PROVABLE"]);
  });
});
