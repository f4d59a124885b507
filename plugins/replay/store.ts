/** SQL of sandboxes and steps, one function per question. */

import { type Database, marks } from "sessarc";

export interface SandboxRow {
  session_id: string;
  /** Name of its folder below the place of all sandboxes. */
  folder: string;
  /** The session's folder, as the log names it. */
  root: string | null;
  /** Repository the files came from; null for one that began empty. */
  repository: string | null;
  /** Branch that the session began on, as its log names it. */
  branch: string | null;
  base_commit: string | null;
  base_at: string | null;
  files: number;
  /** JSON: sentences about what the sandbox lacks or has beside the commit. */
  notes: string;
  /** 1: the user let commands run without isolation. */
  unisolated: number;
  created_at: number;
  used_at: number;
}

/** `running`: the service ended in the middle of it; what it changed is put back when the sandbox is used next. */
type RowState = "running" | "done" | "failed" | "skipped";

export interface StepRow {
  session_id: string;
  /** The step's key (plan/types.ts). */
  step: string;
  /** Order in which steps were done, from 1. */
  position: number;
  fingerprint: string;
  state: RowState;
  exit_code: number | null;
  stdout: string | null;
  stderr: string | null;
  reason: string | null;
  /** JSON: paths. */
  changed: string;
  /** What was not compared, in a sentence; null when all was. */
  unchecked: string | null;
  /** JSON: `Delta[]` (sandbox/delta.ts). */
  delta: string;
  /** JSON: `Comparison` (run/compare.ts). */
  comparison: string | null;
  ran_at: number;
}

const SANDBOX = [
  "session_id",
  "folder",
  "root",
  "repository",
  "branch",
  "base_commit",
  "base_at",
  "files",
  "notes",
  "unisolated",
  "created_at",
  "used_at",
] as const satisfies readonly (keyof SandboxRow)[];

const STEP = [
  "session_id",
  "step",
  "position",
  "fingerprint",
  "state",
  "exit_code",
  "stdout",
  "stderr",
  "reason",
  "changed",
  "unchecked",
  "delta",
  "comparison",
  "ran_at",
] as const satisfies readonly (keyof StepRow)[];

export type ReplayStore = ReturnType<typeof createReplayStore>;

export function createReplayStore(db: Database) {
  return {
    sandboxes: () => db.all<SandboxRow>("select * from replay_sandbox order by used_at desc"),
    sandbox: (id: string) => db.get<SandboxRow>("select * from replay_sandbox where session_id = ?", [id]),
    steps: (id: string) => db.all<StepRow>("select * from replay_step where session_id = ? order by position", [id]),
    /** A sandbox in place of the one before; the steps of that one are gone. */
    begin: (row: SandboxRow) =>
      db.batch([
        ["delete from replay_step where session_id = ?", [row.session_id]],
        [
          `insert or replace into replay_sandbox (${SANDBOX.join(", ")}) values (${marks(SANDBOX)})`,
          SANDBOX.map((name) => row[name]),
        ],
      ]),
    used: (id: string, at: number) => db.run("update replay_sandbox set used_at = ? where session_id = ?", [at, id]),
    putStep: (row: StepRow) =>
      db.run(
        `insert or replace into replay_step (${STEP.join(", ")}) values (${marks(STEP)})`,
        STEP.map((name) => row[name]),
      ),
    dropStep: (id: string, step: string) =>
      db.run("delete from replay_step where session_id = ? and step = ?", [id, step]),
    forget: (id: string) =>
      db.batch([
        ["delete from replay_step where session_id = ?", [id]],
        ["delete from replay_sandbox where session_id = ?", [id]],
      ]),
  };
}
