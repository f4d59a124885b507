/** A step's row as the API answers it. */
import type { PlannedStep } from "./plan/types.ts";
import type { Comparison } from "./run/compare.ts";
import type { StepRow } from "./store.ts";

export interface StepReport {
  seq: number;
  source: string | null;
  /** `done`: it applied, or the command ran to its end, whatever its exit code. */
  state: "done" | "failed" | "skipped";
  /** Why it failed. */
  reason: string | null;
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Files of the sandbox that changed; those in `.git` are not listed. */
  changed: string[];
  /** What was not compared, so that an empty `changed` does not mean that nothing changed; null when all was. */
  unchecked: string | null;
  /** Whether the result is the recorded one; null where that is unknown. */
  matchesRecording: boolean | null;
  comparison: Comparison | null;
}

/** What a row says of its step. */
export function stepResult(step: Pick<PlannedStep, "seq" | "source">, row: StepRow): StepReport {
  const comparison = row.comparison === null ? null : (JSON.parse(row.comparison) as StepReport["comparison"]);
  return {
    seq: step.seq,
    source: step.source,
    state: row.state === "running" ? "failed" : row.state,
    reason: row.reason,
    exitCode: row.exit_code,
    stdout: row.stdout ?? "",
    stderr: row.stderr ?? "",
    changed: JSON.parse(row.changed) as string[],
    unchecked: row.unchecked,
    matchesRecording: comparison?.matches ?? null,
    comparison,
  };
}
