/** What an edit changed, as lines of a diff, from the arguments that editing tools share. Linear; no file is read. */
import type { Json } from "sessarc";
import { toolCall } from "sessarc/adapter";

export interface ChangedFile {
  /** Empty where the call does not name it. */
  path: string;
  lines: { sign: "+" | "-" | " " | "@"; text: string }[];
}

/** Lines that stand around a change. */
const AROUND = 3;

/** Undefined for a call that says no change in these words. */
export function findChanges(input: Json | undefined): ChangedFile[] | undefined {
  const { path = "", edits, content, patch } = toolCall(input);
  const lines = edits.flatMap(({ before, after }) => between(split(before), split(after)));
  if (lines.length > 0) return [{ path, lines }];
  if (patch !== undefined) return findPatch(patch);
  if (content === undefined || path === "") return undefined;
  return [{ path, lines: split(content).map((text) => ({ sign: "+", text })) }];
}

/** Equal beginnings and ends are what did not change; what is between them went and came. */
function between(old: readonly string[], now: readonly string[]): ChangedFile["lines"] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const say = (sign: "+" | "-" | " ", list: readonly string[]) => list.map((text) => ({ sign, text }));
  return [
    ...say(" ", old.slice(Math.max(0, start - AROUND), start)),
    ...say("-", old.slice(start, old.length - end)),
    ...say("+", now.slice(start, now.length - end)),
    ...say(" ", old.slice(old.length - end, old.length - end + AROUND)),
  ];
}

/** `*** Begin Patch` and unified diffs: their lines carry their signs. */
function findPatch(patch: string): ChangedFile[] | undefined {
  if (!/^(?:\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )|--- |diff --git |@@ )/m.test(patch.slice(0, 4_000)))
    return undefined;
  const files: ChangedFile[] = [];
  let file: ChangedFile | undefined;
  const open = (path: string) => {
    file = { path, lines: [] };
    files.push(file);
  };
  for (const line of split(patch)) {
    const named = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)(.*)$/.exec(line)?.[1];
    if (named !== undefined) {
      open(named);
      continue;
    }
    if (/^(?:\*\*\* |--- |diff --git |index [0-9a-f]|new file mode|deleted file mode)/.test(line)) continue;
    if (!file) open("");
    const sign = line[0];
    if (line.startsWith("@@")) file?.lines.push({ sign: "@", text: line });
    else if (sign === "+" || sign === "-" || sign === " ") file?.lines.push({ sign, text: line.slice(1) });
    else if (line !== "") file?.lines.push({ sign: " ", text: line });
  }
  const changed = files.filter((one) => one.lines.length > 0);
  return changed.length > 0 ? changed : undefined;
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
