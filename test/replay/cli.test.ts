/** `sessarc replay` as a process over the built package, on the sample data. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PlanReport } from "../../plugins/replay/index.ts";
import { runCommand } from "../command.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-replay-cli-"));
  expect((await runCommand(["demo", home, "--date", "2026-11-20"], home)).code).toBe(0);
  expect((await runCommand(["import", "--all"], home)).code).toBe(0);
});
afterAll(() => rm(home, { recursive: true, force: true }));

it("shows the plan, does all edits, and compares the end with the commit", async () => {
  const listed = JSON.parse((await runCommand(["sessions", "--json"], home)).stdout) as {
    sessions: { id: string; title: string | null }[];
  };
  const id = listed.sessions.find(({ title }) => title === "Why the build server fails")?.id ?? "";
  const shown = await runCommand(["replay", id, "--plan"], home);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/#\d+ pending +Edit src\/cache\.js/);
  const plan = JSON.parse((await runCommand(["replay", id, "--json"], home)).stdout) as PlanReport;
  expect(plan.sandbox).toBeNull();
  const done = await runCommand(["replay", id, "--all-edits"], home);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(done.stdout).toMatch(/left +Run .*commands are left out/);
  expect(done.stdout).toMatch(/Beside commit [0-9a-f]{10}: 4 same, 0 differ, 0 missing, 0 beside it/);
});

it("answers 2 for what it was asked wrongly, 3 for a session that is not there", async () => {
  for (const args of [
    ["replay"],
    ["replay", "a", "b"],
    ["replay", "a", "--to", "x"],
    ["replay", "a", "--to", "1", "--all-edits"],
  ])
    expect((await runCommand(args, home)).code, args.join(" ")).toBe(2);
  expect((await runCommand(["replay", "no-such-session"], home)).code).toBe(3);
});
