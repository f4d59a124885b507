/** What the next step would do, without doing it. */
import type { PlannedStep } from "../plan/types.ts";
import { mountOf } from "../run/isolation.ts";
import type { Tree } from "../sandbox/tree.ts";
import { effectOf } from "./effect.ts";
import { textOf, toUnified } from "./unified.ts";

export interface Preview {
  step: { seq: number; source: string | null; summary: string; kind: PlannedStep["kind"] };
  /** False: `reason` says why the step has no effect on the sandbox as it is. */
  applies: boolean;
  reason: string | null;
  /** Unified diff against the sandbox as it is; null for commands. */
  diff: string | null;
  /** The first file before and after; null where there is none, or it is no text. */
  current: string | null;
  next: string | null;
  /** The exact text that `confirmCommand` has to repeat. */
  command: string | null;
  /** Folder of the command as it will see it. */
  cwd: string | null;
}

export async function previewOf(step: PlannedStep, tree: Pick<Tree, "read">, root: string | null): Promise<Preview> {
  const { seq, source, summary, kind } = step;
  const head = { step: { seq, source, summary, kind } };
  const empty = { diff: null, current: null, next: null, command: null, cwd: null };
  if (!step.supported) return { ...head, ...empty, applies: false, reason: step.reason };
  if (kind === "command") {
    const cwd = [mountOf(root), step.cwd].filter((part) => part !== "").join("/");
    return { ...head, ...empty, applies: true, reason: null, command: step.command, cwd };
  }
  const effect = await effectOf(step.actions, tree);
  if (!effect.applies) return { ...head, ...empty, applies: false, reason: effect.reason };
  const first = effect.changes[0];
  return {
    ...head,
    ...empty,
    applies: true,
    reason: null,
    diff: await toUnified(effect.changes),
    current: first?.before ? (textOf(first.before) ?? null) : null,
    next: first?.after ? (textOf(first.after) ?? null) : null,
  };
}
