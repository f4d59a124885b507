/**
 * `sessarc rules --prove` with real assistants: sessions in which a command fails first and is then run otherwise, the line they propose, and
 * old prompts given to the assistant in a sandbox without the line and with it. The model makes the mistake unless the line is in its request;
 * the line is then kept. Where the model makes it all the same, the line is refused.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AcceptedLine, Proof, RuleOverview } from "../../plugins/rules/index.ts";
import { runCommand } from "../command.ts";
import type { Driven } from "./drive.ts";
import type { Call, ModelRequest, Reply } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { toAssistantCommand } from "./sandboxed.ts";
import { type Stage, stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import type { Driver } from "./tools/types.ts";

/** The file that the assistant reads at its start. */
const CASES: readonly { driver: Driver; file: string }[] = [
  { driver: claudeCode, file: "CLAUDE.md" },
  { driver: codex, file: "AGENTS.md" },
];

const MAKEFILE = "check:\n\t@echo all checks passed\n";
const BEFORE = "# App\n\nKeep the README short.\n";
const WRONG = "make test";
const RIGHT = "make check";
/** A rule needs five mistakes in two sessions. */
const MISTAKES = [3, 2];

const rows: string[] = [];
afterAll(() => console.log(rows.join("\n")));

/** A project in whose sessions the mistake recurs, imported. */
async function start({ driver, file }: (typeof CASES)[number]) {
  const { tool, model } = await stage(driver, { files: { Makefile: MAKEFILE, [file]: BEFORE } });
  const shell = (command: string): Reply => ({ calls: [tool.driver.words.shell(command)] });
  for (const times of MISTAKES) {
    const mistakes = Array.from({ length: times }, () => [shell(WRONG), shell(RIGHT)]).flat();
    model.play({ main: [...mistakes, { text: "All checks pass." }] });
    const ran = await tool.run({ prompt: "Run the checks" });
    expect([ran.code, model.left()], ran.stderr.slice(-2_000)).toEqual([0, {}]);
  }
  model.takeLedger();
  const { command, env, flags } = toAssistantCommand(tool);
  const run = (...args: string[]) => runCommand(args, tool.home, env);
  expect((await run("import", "--all")).code).toBe(0);
  const { proposals } = JSON.parse((await run("rules", "--json")).stdout) as RuleOverview;
  expect(proposals).toHaveLength(1);
  const rule = proposals[0] as RuleOverview["proposals"][number];
  expect(rule).toMatchObject({ times: 5, sessions: 2, path: join(tool.cwd, file), proof: null });
  expect(rule.line).toContain(RIGHT);
  const prove = (...more: string[]) => run("rules", "--prove", rule.id, "--with", command, ...flags, ...more);
  return { tool, model, rule, run, prove, path: join(tool.cwd, file) };
}

/** Plays a model that sees to it whether the line is in its request; answers what each run did. */
function playModel({ tool, model }: Stage, line: string, isObedient: boolean) {
  const runs: { hasLine: boolean; command: string }[] = [];
  const first = (request: ModelRequest): readonly Call[] => {
    const hasLine = JSON.stringify(request.body).includes(JSON.stringify(line).slice(1, -1));
    const command = hasLine && isObedient ? RIGHT : WRONG;
    runs.push({ hasLine, command });
    return [tool.driver.words.shell(command)];
  };
  model.play({ main: Array.from({ length: 4 }, () => [{ calls: first }, { text: "Done." }]).flat() });
  return runs;
}

const toRow = ({ driver, version }: Driven, { verdict, trials, usd }: Proof) =>
  `| ${driver.name} ${version} | ${verdict} | ${trials.flatMap((trial) => [trial.without.ms, trial.with?.ms ?? []].flat()).join(", ")} ms | ${usd} |`;

describe.each(CASES.filter(({ driver }) => isPicked(driver)))("rules: $driver.name", (one) => {
  it("shows the price, runs nothing without a yes, and keeps the line with which the mistake goes", async () => {
    const { tool, model, rule, run, prove, path } = await start(one);
    const runs = playModel({ tool, model }, rule.line, true);
    const asked = await prove();
    expect([asked.code, asked.stdout]).toEqual([1, ""]);
    expect(asked.stderr).toMatch(/Runs your assistant 4 times in a sandbox, for (?:about \$\d|an unknown price)/);
    expect(asked.stderr).toContain("Pass --yes to confirm.");
    expect(model.ledger).toEqual([]);

    const done = await prove("--yes", "--json");
    expect(done.code, done.stderr).toBe(0);
    const proof = JSON.parse(done.stdout) as Proof;
    expect(proof.verdict).toBe("proved");
    expect(proof.trials.map((trial) => [trial.without.failed, trial.with?.failed])).toEqual([
      [true, false],
      [true, false],
    ]);
    expect(runs).toEqual([
      { hasLine: false, command: WRONG },
      { hasLine: true, command: RIGHT },
      { hasLine: false, command: WRONG },
      { hasLine: true, command: RIGHT },
    ]);
    rows.push(toRow(tool, proof));
    // The proof is in the sandbox alone.
    expect(await readFile(path, "utf8")).toBe(BEFORE);

    const accepted = await run("rules", "--accept", rule.id, "--yes", "--json");
    expect(accepted.code, accepted.stderr).toBe(0);
    const { backupPath } = JSON.parse(accepted.stdout) as AcceptedLine;
    expect(await readFile(backupPath ?? "", "utf8")).toBe(BEFORE);
    const text = await readFile(path, "utf8");
    expect(text.startsWith(BEFORE)).toBe(true);
    expect(text).toContain(`- ${rule.line}\n`);

    // The next session of the assistant has the line, and does it right.
    const later = playModel({ tool, model }, rule.line, true);
    expect((await tool.run({ prompt: "Run the checks" })).code).toBe(0);
    expect(later).toEqual([{ hasLine: true, command: RIGHT }]);
    await run("import", "--all");
    const { accepted: lines } = JSON.parse((await run("rules", "--json")).stdout) as RuleOverview;
    expect(lines[0]).toMatchObject({ id: rule.id, effect: { after: { times: 0, sessions: 1 } } });
    expect(lines[0]?.effect.saved).toBeGreaterThan(0);

    expect((await run("rules", "--undo", rule.id)).code).toBe(0);
    expect(await readFile(path, "utf8")).toBe(BEFORE);
  });

  it("does not keep a line with which the mistake is made all the same", async () => {
    const { tool, model, rule, run, prove, path } = await start(one);
    const runs = playModel({ tool, model }, rule.line, false);
    const done = await prove("--yes", "--json");
    expect(done.code, done.stderr).toBe(1);
    const proof = JSON.parse(done.stdout) as Proof;
    expect(proof.verdict).toBe("refuted");
    expect(runs.map(({ hasLine, command }) => [hasLine, command])).toEqual([
      [false, WRONG],
      [true, WRONG],
      [false, WRONG],
      [true, WRONG],
    ]);
    rows.push(toRow(tool, proof));
    const refused = await run("rules", "--accept", rule.id, "--yes");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("The mistake happened with the line")]);
    expect(await readFile(path, "utf8")).toBe(BEFORE);
    expect(existsSync(join(tool.home, "data/files/backups/rules"))).toBe(false);
  });
});
