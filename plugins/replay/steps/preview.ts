/** What the next step would do, without doing it. */
import { failedThen } from "../plan/failed.ts";
import type { PlannedStep } from "../plan/types.ts";
import { type Isolation, toMount } from "../run/isolation.ts";
import type { Reach } from "../run/reach.ts";
import type { Tree } from "../sandbox/tree.ts";
import { readEffect } from "./effect.ts";
import { findText, toUnified } from "./unified.ts";

export interface Preview {
  step: { seq: number; source: string | null; summary: string; kind: PlannedStep["kind"] };
  /** False: `reason` says why the step has no effect on the sandbox as it is. */
  applies: boolean;
  reason: string | null;
  /** Unified diff against the sandbox as it is; null for commands. */
  diff: string | null;
  /** The first file before and after; null without a file, or when it is not text. */
  current: string | null;
  next: string | null;
  /** The exact text that `confirmCommand` has to repeat. */
  command: string | null;
  /** Folder of the command as it will see it. */
  cwd: string | null;
  /** What runs without isolation, where that is not the exact command: the project's path is replaced by the sandbox's. */
  runs: string | null;
  /** What the user has to know before a command runs; null when it runs isolated. */
  warning: string | null;
}

interface PreviewContext {
  tree: Pick<Tree, "read">;
  root: string | null;
  isolation: Isolation;
  /** The user let commands run without isolation. */
  unisolated: boolean;
  /** What the command reaches without isolation. */
  reach(step: PlannedStep): Reach;
}

export async function readPreview(step: PlannedStep, context: PreviewContext): Promise<Preview> {
  const { tree, root } = context;
  const { seq, source, summary, kind } = step;
  const head = { step: { seq, source, summary, kind } };
  const empty = { diff: null, current: null, next: null, command: null, cwd: null, runs: null, warning: null };
  if (!step.supported) return { ...head, ...empty, applies: false, reason: step.reason };
  if (kind === "command") {
    const cwd = [toMount(root), step.cwd].filter((part) => part !== "").join("/");
    return { ...head, ...empty, applies: true, reason: null, command: step.command, cwd, ...alone(step, context) };
  }
  const failed = failedThen(step);
  if (failed !== undefined) return { ...head, ...empty, applies: false, reason: failed };
  const effect = await readEffect(step.actions, tree);
  if (!effect.applies) return { ...head, ...empty, applies: false, reason: effect.reason };
  const first = effect.changes[0];
  return {
    ...head,
    ...empty,
    applies: true,
    reason: null,
    diff: await toUnified(effect.changes),
    current: first?.before ? (findText(first.before) ?? null) : null,
    next: first?.after ? (findText(first.after) ?? null) : null,
  };
}

/** What differs for a command that would run without isolation. */
function alone(step: PlannedStep, { isolation, unisolated, reach }: PreviewContext): Partial<Preview> {
  if (isolation.kind !== "none") return {};
  const found = reach(step);
  if ("refused" in found)
    return { applies: false, reason: `Without isolation it is refused: ${found.refused}`, warning: WARNING };
  if (!unisolated)
    return {
      warning: `It is refused: commands cannot be isolated here (${isolation.reason}), and that was not allowed.`,
    };
  const runs = typeof found.runs === "string" ? found.runs : found.runs.join(" ");
  return { warning: WARNING, runs: runs === step.command ? null : runs };
}

const WARNING =
  "It runs without isolation, with your own rights. Only its text was checked for places outside the sandbox: a script or program that it starts can change any file of yours and use the network.";
