/** Steps that a replay passes over. */
import type { PlannedStep } from "./types.ts";

/** Why an edit that failed in the session is not applied; undefined for all other steps. A command that failed is run and compared. */
export function failedThen({ kind, recorded }: PlannedStep): string | undefined {
  if (kind === "command" || recorded.failed !== true) return undefined;
  const why = recorded.output?.trim().split("\n", 1)[0] ?? "";
  return `This edit failed in the original session too${why === "" ? "" : `: ${why.slice(0, 300)}`}`;
}

/** The step is to be done, and others wait for it. */
export const isDue = (step: PlannedStep): boolean => step.supported && failedThen(step) === undefined;
