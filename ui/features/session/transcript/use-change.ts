/** `+2 −1` of a call: the lines that its diffs mark. */
import { computed, watch } from "vue";
import { useLatest } from "../../../state/latest.ts";
import type { Message } from "../../../wire.ts";
import { compareLines, isQuick } from "../../code/compare.ts";
import { computeDiff } from "../../code/compute.ts";
import type { Hunk } from "../../code/diff-types.ts";
import { isAdded, isRemoved, patchParts } from "../../code/patch-parts.ts";
import { type Edit, editsOf, patchOf } from "../tool-call.ts";
import type { Role } from "./model.ts";

export interface Change {
  added: number;
  removed: number;
}

/** Undefined where the call changed nothing, and as long as a long text is compared. */
export function useChange(message: () => Message | undefined, role: () => Role | undefined) {
  const texts = computed(() => {
    const one = message();
    return one ? textsOf(one, role()) : [];
  });
  const atOnce = computed(() => countAll(texts.value.map(compareNow)));
  const { fresh, run } = useLatest(async () =>
    countAll(
      await Promise.all(texts.value.map((edit) => compareNow(edit) ?? computeDiff(edit.before, edit.after, 0, true))),
    ),
  );
  watch(
    atOnce,
    (change) => {
      if (!change) void run();
    },
    { immediate: true },
  );
  return computed(() => {
    const written = writtenLines(message());
    if (written || texts.value.length === 0) return written;
    return atOnce.value ?? fresh.value;
  });
}

function textsOf(message: Message, role: Role | undefined): Edit[] {
  const patch = patchOf(message);
  const edits = role === "edit" || role === "write" ? editsOf(message) : [];
  return [...edits, ...((patch !== undefined && patchParts(patch)) || [])];
}

const compareNow = ({ before, after }: Edit) =>
  isQuick(before, after) ? compareLines(before, after, { context: 0, timeout: 20, excerpt: true }) : null;

function countAll(diffs: readonly (Hunk[] | null)[]): Change | undefined {
  const change = { added: 0, removed: 0 };
  for (const hunks of diffs) {
    if (!hunks) return undefined;
    for (const { sign } of hunks.flatMap((hunk) => hunk.lines)) {
      if (sign === "+") change.added++;
      if (sign === "-") change.removed++;
    }
  }
  return change;
}

/** Of a patch that is shown as it was written. */
function writtenLines(message: Message | undefined): Change | undefined {
  const patch = message && patchOf(message);
  if (patch === undefined || patchParts(patch)) return undefined;
  const lines = patch.split("\n");
  return { added: lines.filter(isAdded).length, removed: lines.filter(isRemoved).length };
}
