/** What one call wrote: whole lines by file, and pieces put inside of lines. */
import type { Json, ToolAction, ToolRole } from "sessarc";
import { toolActions } from "#internal/adapter";
import { formless, keyOf, linesOf, weightOf } from "./keys.ts";

export interface Added {
  /** As the call wrote it. */
  path: string;
  /** Keys of the lines in their order. */
  lines: number[];
  /** The whole file, with lines that were there before. */
  whole: boolean;
  /** Texts put inside of a line, without what a formatter changes. */
  pieces: string[];
}

/** A longer piece counts as a separate line. */
const MOST = 160;
/** Letters and digits that a piece needs to be distinctive. */
const ENOUGH = 6;

/** Linear in the arguments. */
export function addedBy(role: ToolRole | undefined, input: Json | undefined): Added[] {
  const found = new Map<string, Added>();
  const into = (path: string) => {
    const known = found.get(path) ?? { path, lines: [], whole: false, pieces: [] };
    found.set(path, known);
    return known;
  };
  const add = (path: string, lines: readonly string[]) => {
    const { lines: keys } = into(path);
    for (const line of lines) keys.push(keyOf(line));
  };
  for (const action of toolActions(role, input) ?? []) {
    if (action.do === "write" || action.do === "insert") {
      add(action.path, linesOf(action.text));
      if (action.do === "write") into(action.path).whole = true;
    } else if (action.do === "edit")
      for (const edit of action.edits) {
        add(action.path, freshLines(edit.old, edit.new));
        const piece = pieceOf(edit.old, edit.new);
        if (piece) into(action.path).pieces.push(piece);
      }
    else if (action.do === "patch") for (const [path, line] of patchLines(action.text)) add(path, [line]);
    else if (action.do === "command") for (const { path, text } of written(action)) add(path, linesOf(text));
  }
  return [...found.values()].filter(({ lines, pieces }) => lines.length + pieces.length > 0);
}

/** Lines of `next` that `old` did not have, each as often as it has more of it. */
function freshLines(old: string, next: string): string[] {
  const before = new Map<string, number>();
  for (const line of linesOf(old)) before.set(line, (before.get(line) ?? 0) + 1);
  return linesOf(next).filter((line) => {
    const left = before.get(line) ?? 0;
    if (left > 0) before.set(line, left - 1);
    return left === 0;
  });
}

/** What replaced a part of one line; undefined for anything longer than a line. */
function pieceOf(old: string, next: string): string | undefined {
  if (old === "" || next.trim() === "" || /\n/.test(old.trim()) || /\n/.test(next.trim())) return undefined;
  const piece = formless(next);
  return piece.length <= MOST && weightOf(piece) >= ENOUGH ? piece : undefined;
}

/** Lines with a plus, of a `*** Begin Patch` or a unified diff, with their file. */
function* patchLines(text: string): Generator<[path: string, line: string]> {
  let path: string | undefined;
  let moved: string | undefined;
  for (const line of linesOf(text)) {
    const [, added, to, unified] =
      /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^\+\+\+ (?:b\/)?([^\t]+)/.exec(line) ?? [];
    if (added !== undefined || unified !== undefined) {
      path = (added ?? unified ?? "").trim();
      moved = undefined;
    } else if (to !== undefined) moved = to.trim();
    else if (path !== undefined && line.startsWith("+")) yield [moved ?? path, line.slice(1)];
  }
}

const HERE = /(?:^|\n|&&|;)\s*(?:cat\s*>>?\s*(\S+)\s*<<-?\s*|cat\s*<<-?\s*)(['"]?)(\w+)\2(?:\s*>>?\s*(\S+))?[^\n]*\n/g;

/** Texts that a command writes into files by `cat > file <<'END'`. */
function* written({ command }: Extract<ToolAction, { do: "command" }>): Generator<{ path: string; text: string }> {
  if (typeof command !== "string" || !command.includes("<<")) return;
  for (const match of command.matchAll(HERE)) {
    const [whole, before, , end = "", after] = match;
    const path = (before ?? after)?.replace(/^(['"])(.*)\1$/, "$2");
    const start = match.index + whole.length;
    const stop = command.slice(start).search(new RegExp(`^\\s*${end}\\s*$`, "m"));
    if (path && !/[$`*?]/.test(path) && stop > 0) yield { path, text: command.slice(start, start + stop - 1) };
  }
}
