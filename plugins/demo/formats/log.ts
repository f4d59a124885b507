/** What every writer of a format uses. */
import type { Action } from "../script.ts";

/** One file of a tool's home. `at` (ms) becomes its modification time. */
export interface LogFile {
  /** Relative to the sample home. */
  path: string;
  content: string | Uint8Array;
  at: number;
}

export const iso = (ms: number) => new Date(ms).toISOString();
export const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
export const inFolder = (cwd: string, path: string) => `${cwd}/${path}`;

/** A patch in the form Codex's `apply_patch` takes. */
export function toPatch(action: Extract<Action, { do: "write" | "edit" }>, before: string): string {
  const lines = (text: string, sign: string) =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => sign + line);
  if (action.do === "edit") {
    const { from, to } = wholeLines(before, action.from, action.to);
    const hunk = [...lines(from, "-"), ...lines(to, "+")];
    return ["*** Begin Patch", `*** Update File: ${action.path}`, "@@", ...hunk, "*** End Patch"].join("\n");
  }
  if (!before) {
    return ["*** Begin Patch", `*** Add File: ${action.path}`, ...lines(action.text, "+"), "*** End Patch"].join("\n");
  }
  const hunk = [...lines(before, "-"), ...lines(action.text, "+")];
  return ["*** Begin Patch", `*** Update File: ${action.path}`, "@@", ...hunk, "*** End Patch"].join("\n");
}

/** Widens a replacement to whole lines: a patch knows nothing smaller. */
function wholeLines(before: string, from: string, to: string): { from: string; to: string } {
  const start = before.lastIndexOf("\n", before.indexOf(from)) + 1;
  const at = before.indexOf(from);
  const last = at + from.length;
  const end = from.endsWith("\n") ? last : before.indexOf("\n", last) + 1 || before.length;
  return { from: before.slice(start, end), to: before.slice(start, at) + to + before.slice(last, end) };
}

/** `cat -n`, as several tools answer a read. */
export function numbered(text: string, separator = "\t"): string {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, i) => `${String(i + 1).padStart(6)}${separator}${line}`)
    .join("\n");
}
