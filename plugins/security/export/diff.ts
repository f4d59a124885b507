/** What an edit changed, as lines of a diff, from the arguments that editing tools share. Linear; no file is looked at. */
import type { Json } from "sessarc";

export interface ChangedFile {
  /** Empty where the call does not name it. */
  path: string;
  lines: { sign: "+" | "-" | " " | "@"; text: string }[];
}

/** Lines that stand around a change. */
const AROUND = 3;
const PATH = ["file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path"];
const PAIRS = [
  ["old_string", "new_string"],
  ["oldString", "newString"],
  ["old_str", "new_str"],
] as const;
const WHOLE = ["content", "contents", "file_text", "new_source"];
const PATCH = ["patch", "patchText", "input", "diff"];

type Fields = Readonly<Record<string, Json | undefined>>;

/** Undefined for a call that says no change in these words. */
export function changesOf(input: Json | undefined): ChangedFile[] | undefined {
  if (typeof input === "string") return patchOf(input);
  if (!isFields(input)) return undefined;
  const path = text(input, PATH) ?? "";
  const edits = Array.isArray(input.edits) ? input.edits.filter(isFields) : [input];
  const lines = edits.flatMap((edit) => pairOf(edit) ?? []);
  if (lines.length > 0) return [{ path, lines }];
  const whole = path === "" ? undefined : text(input, WHOLE);
  if (whole !== undefined) return [{ path, lines: split(whole).map((text) => ({ sign: "+", text })) }];
  return patchOf(text(input, PATCH) ?? "");
}

function pairOf(edit: Fields): ChangedFile["lines"] | undefined {
  for (const [before, after] of PAIRS) {
    const [old, now] = [edit[before], edit[after]];
    if (typeof old === "string" && typeof now === "string") return between(split(old), split(now));
  }
  return undefined;
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
function patchOf(patch: string): ChangedFile[] | undefined {
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

const isFields = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function text(fields: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
