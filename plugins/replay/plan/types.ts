/** What a session can be gone through again as. */
import type { ToolAction } from "sessarc/adapter";

export type StepKind = "write" | "edit" | "command" | "delete" | "move";

/** `pending`: not gone through yet, or taken back. `skipped`: left out by the user. `failed`: it did not apply or could not run. */
export type StepState = "pending" | "done" | "failed" | "skipped";

/** A recorded call that changed files or ran a command. */
export interface PlannedStep {
  /** Of the message that holds the call. */
  seq: number;
  /** Id of the sub-agent's session that holds the call; null for the session's own. */
  source: string | null;
  at: string | null;
  kind: StepKind;
  /** As the plan shows it: inside the project relative to it, `/`-separated; else as logged. Null for commands. */
  path: string | null;
  /** Every path the step names. */
  paths: string[];
  /** The exact command, as it has to be confirmed. */
  command: string | null;
  /** Words of a command that was logged as a list of arguments. */
  words: readonly string[] | null;
  /** Folder of a command inside the project; empty: the project's folder. */
  cwd: string;
  summary: string;
  /** What the assistant said or thought just before. */
  reasoning: string | null;
  supported: boolean;
  /** Why it cannot be replayed; null when it can. */
  reason: string | null;
  /** The step names a path outside the project's folder. */
  outside: boolean;
  /** What the log says came of it. */
  recorded: Recorded;
  /** Paths are relative to the project's folder. Empty for steps that cannot be replayed. */
  actions: readonly ToolAction[];
  /** Changes when the call does. */
  fingerprint: string;
}

export interface Recorded {
  /** Null when the log holds no result. */
  failed: boolean | null;
  exitCode: number | null;
  output: string | null;
  /** The log holds only a part of the output. */
  cut: boolean;
}

/** A file as the log showed it before the session first changed it. */
export interface SeenFile {
  path: string;
  text: string;
  /** Message that showed it. */
  seq: number;
}

export interface Plan {
  steps: PlannedStep[];
  /** Whole files that were read before their first change, by path. */
  seen: SeenFile[];
  /** The session's folder as the log names it; null when it names none. */
  root: string | null;
}

/** How a step is named in requests and rows: two sessions number their messages alike. */
export const toKey = (step: { seq: number; source: string | null }) =>
  step.source === null ? String(step.seq) : `${step.source}#${step.seq}`;
