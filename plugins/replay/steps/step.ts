/** One step: checked, recorded as running, done, recorded as done. After a kill at any point, the step is taken back. */
import { type Kernel, SessarcError } from "sessarc";
import { isolationOptions, type ReplayOptions } from "../options.ts";
import { failedThen, isDue } from "../plan/failed.ts";
import { type Plan, type PlannedStep, toKey } from "../plan/types.ts";
import { type StepReport, stepResult } from "../report.ts";
import { type CommandResult, DEFAULT_LIMITS, runCommand } from "../run/command.ts";
import { type Comparison, compare } from "../run/compare.ts";
import { type Isolation, OBJECTS, toMount } from "../run/isolation.ts";
import { type Reach, toReach } from "../run/reach.ts";
import type { Budget } from "../sandbox/budget.ts";
import type { Delta } from "../sandbox/index-file.ts";
import { asRepository, pointAt } from "../sandbox/repository.ts";
import { isProjectFile, type Sandbox } from "../sandbox/sandbox.ts";
import type { ReplayStore, SandboxRow, StepRow } from "../store.ts";
import { COMMAND_RUNS } from "./back.ts";
import { readEffect } from "./effect.ts";
import type { FileChange } from "./unified.ts";

export interface StepRequest {
  seq: number;
  /** Session of the sub-agent whose step it is. */
  source?: string | null | undefined;
  /** The exact command of a command step. */
  confirmCommand?: unknown;
  /** Leaves the step out. */
  skip?: boolean | undefined;
  /** Does it although others come first. */
  outOfOrder?: boolean | undefined;
  /** Of a command, in ms; at most ten minutes. */
  timeoutMs?: number | undefined;
}

export interface SandboxState {
  row: SandboxRow;
  sandbox: Sandbox;
  plan: Plan;
  done: readonly StepRow[];
  quota: Budget;
}

interface Context {
  kernel: Kernel;
  store: ReplayStore;
  isolation: () => Promise<Isolation>;
  options: ReplayOptions;
}

export function createStepper({ kernel, store, isolation, options }: Context) {
  /** Edits: what is to change is on disk before the first file changes. */
  async function edit(step: PlannedStep, row: StepRow, { sandbox, quota }: SandboxState): Promise<StepRow> {
    const failed = failedThen(step);
    if (failed !== undefined) return settle({ ...row, state: "skipped", reason: failed }, true);
    const effect = await readEffect(step.actions, sandbox.tree);
    if (!effect.applies) {
      if (effect.impossible) throw effect.impossible;
      const matches = step.recorded.failed === null ? null : step.recorded.failed;
      return settle({ ...row, state: "failed", reason: effect.reason }, matches);
    }
    // Each content is written to a file and to the blobs.
    const bytes = effect.changes.reduce((sum, { after }) => sum + 2 * (after?.length ?? 0), 0);
    await quota.spend(bytes);
    const delta = await Promise.all(effect.changes.map((change) => toDelta(change, sandbox)));
    const running = { ...row, delta: JSON.stringify(delta), changed: JSON.stringify(delta.map(({ path }) => path)) };
    await store.putStep(running);
    for (const { path, after } of effect.changes) if (after === null) await sandbox.tree.remove(path);
    for (const { path, after, mode } of effect.changes) if (after !== null) await sandbox.tree.write(path, after, mode);
    return settle({ ...running, state: "done" }, step.recorded.failed === null ? null : !step.recorded.failed);
  }

  async function command(
    step: PlannedStep,
    row: StepRow,
    state: SandboxState,
    timeoutMs: number | undefined,
  ): Promise<StepRow> {
    const { sandbox, quota } = state;
    const found = await isolation();
    const isolated = found.kind !== "none";
    if (!isolated && state.row.unisolated !== 1)
      throw new SessarcError("REPLAY_NO_ISOLATION", { reason: found.reason });
    const reach: Reach = isolated ? { runs: wordsOf(step) } : unisolatedReach(step, state.row, sandbox);
    if ("refused" in reach) throw new SessarcError("REPLAY_LEAVES_SANDBOX", { seq: step.seq, reason: reach.refused });
    const objects = await asRepository(state.row, sandbox, kernel.find("git"));
    await sandbox.save((await sandbox.refresh()).index);
    await store.putStep({ ...row, changed: COMMAND_RUNS });
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const mount = toMount(state.row.root);
    const cwd = step.cwd === "" ? mount : `${mount}/${step.cwd}`;
    if (objects !== null) await pointAt(sandbox, found.kind === "bubblewrap" ? OBJECTS : objects);
    const result = await runCommand({
      command: reach.runs,
      place: { tree: sandbox.path, home: sandbox.home, mount, cwd, objects },
      isolation: found,
      quota,
      options: isolationOptions(kernel, options),
      limits: timeoutMs === undefined ? limits : { ...limits, timeMs: timeoutMs },
      signal: kernel.closing,
    });
    if (objects !== null) await pointAt(sandbox, objects);
    const { index, changes, complete } = await sandbox.refresh();
    await sandbox.save(index);
    const comparison = compare(step.recorded, result, [mount, sandbox.path, sandbox.home, state.row.root ?? mount]);
    return {
      ...row,
      ...outputs(result),
      state: result.ended === null ? "done" : "failed",
      reason: result.ended,
      delta: JSON.stringify(changes),
      changed: JSON.stringify(changes.map(({ path }) => path).filter(isProjectFile)),
      unchecked: findUnchecked(isolated, complete),
      comparison: JSON.stringify(comparison),
    };
  }

  return {
    async run(id: string, step: PlannedStep, request: StepRequest, state: SandboxState): Promise<StepReport> {
      check(step, request, state);
      const row: StepRow = {
        session_id: id,
        step: toKey(step),
        position: (state.done.at(-1)?.position ?? 0) + 1,
        fingerprint: step.fingerprint,
        state: "running",
        exit_code: null,
        stdout: null,
        stderr: null,
        reason: null,
        changed: "[]",
        unchecked: null,
        delta: "[]",
        comparison: null,
        ran_at: Date.now(),
      };
      const done = request.skip
        ? { ...row, state: "skipped" as const }
        : step.kind === "command"
          ? await command(step, row, state, request.timeoutMs)
          : await edit(step, row, state);
      await store.putStep(done);
      return stepResult(step, done);
    },
  };
}

/** Everything that can be refused is refused here, before anything is written or run. */
function check(step: PlannedStep, request: StepRequest, { plan, done }: SandboxState): void {
  const { seq } = step;
  const known = new Set(done.map((row) => row.step));
  if (known.has(toKey(step))) throw new SessarcError("REPLAY_STEP_DONE", { seq });
  if (!request.skip && !step.supported)
    throw new SessarcError("REPLAY_STEP_UNSUPPORTED", { seq, reason: step.reason ?? "" });
  if (!request.skip && step.kind === "command" && request.confirmCommand !== step.command)
    throw new SessarcError("COMMAND_NOT_CONFIRMED", {
      seq,
      command: step.command ?? "",
      given: request.confirmCommand !== undefined,
    });
  const next = plan.steps.find((one) => isDue(one) && !known.has(toKey(one)));
  if (!request.outOfOrder && !request.skip && next && next !== step && isDue(step))
    throw new SessarcError("REPLAY_OUT_OF_ORDER", { seq, next: next.seq });
}

const wordsOf = (step: PlannedStep) => step.words ?? step.command ?? "";

/** What the command would run without isolation, or why it is refused. */
export const unisolatedReach = (step: PlannedStep, row: SandboxRow, sandbox: Pick<Sandbox, "path">): Reach =>
  toReach(wordsOf(step), { root: row.root, tree: sandbox.path, cwd: step.cwd });

function findUnchecked(isolated: boolean, complete: boolean): string | null {
  const parts = [
    ...(isolated ? [] : ["It ran without isolation: files outside the sandbox were not compared."]),
    ...(complete ? [] : ["The sandbox holds more files than are compared, or files that cannot be read."]),
  ];
  return parts.length === 0 ? null : parts.join(" ");
}

async function toDelta({ path, before, after, mode }: FileChange, sandbox: Sandbox): Promise<Delta> {
  const was = before === null ? undefined : ((await sandbox.tree.read(path))?.mode ?? 0o644);
  const [old, next] = [before && (await sandbox.blobs.put(before)), after && (await sandbox.blobs.put(after))];
  return {
    path,
    before: old === null ? null : { mode: was ?? 0o644, blob: old },
    after: next === null ? null : { mode: mode ?? was ?? 0o644, blob: next },
  };
}

function settle(row: StepRow, matches: boolean | null): StepRow {
  const recorded = { exitCode: null, output: null };
  const comparison: Comparison = { exitCode: "unknown", output: "unknown", matches, recorded };
  return { ...row, comparison: JSON.stringify(comparison) };
}

const outputs = (result: CommandResult) => ({
  exit_code: result.exitCode,
  stdout: result.stdout,
  stderr: result.stderr,
});
