/** What one call wrote: whole lines by file, and pieces put inside of lines. */
import type { Json } from "sessarc";
import { type ToolRole, toolActions } from "sessarc/adapter";
import { computeWeight, formless, toKey, toLines } from "./keys.ts";
import { shellWrites } from "./shell.ts";

interface Added {
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
    for (const line of lines) keys.push(toKey(line));
  };
  for (const action of toolActions(role, input) ?? []) {
    if (action.do === "write" || action.do === "insert") {
      add(action.path, toLines(action.text));
      if (action.do === "write") into(action.path).whole = true;
    } else if (action.do === "edit")
      for (const edit of action.edits) {
        add(action.path, freshLines(edit.old, edit.new));
        const piece = findPiece(edit.old, edit.new);
        if (piece) into(action.path).pieces.push(piece);
      }
    else if (action.do === "patch")
      for (const { path, removed, added } of patched(action.text)) add(path, without(removed, added));
    else if (action.do === "command" && typeof action.command === "string")
      for (const { path, text, piece } of shellWrites(action.command)) {
        if (text !== undefined) add(path, toLines(text));
        const put = piece === undefined ? "" : formless(piece);
        if (put.length <= MOST && computeWeight(put) >= ENOUGH) into(path).pieces.push(put);
      }
  }
  return [...found.values()].filter(({ lines, pieces }) => lines.length + pieces.length > 0);
}

/** Lines of `next` that `old` did not have, each as often as it has more of it. */
const freshLines = (old: string, next: string): string[] => without(toLines(old), toLines(next));

function without(old: readonly string[], next: readonly string[]): string[] {
  const before = new Map<string, number>();
  for (const line of old) before.set(line, (before.get(line) ?? 0) + 1);
  return next.filter((line) => {
    const left = before.get(line) ?? 0;
    if (left > 0) before.set(line, left - 1);
    return left === 0;
  });
}

/** What replaced a part of one line; undefined for anything longer than a line. */
function findPiece(old: string, next: string): string | undefined {
  if (old === "" || next.trim() === "" || /\n/.test(old.trim()) || /\n/.test(next.trim())) return undefined;
  const piece = formless(next);
  return piece.length <= MOST && computeWeight(piece) >= ENOUGH ? piece : undefined;
}

interface PatchedFile {
  path: string;
  removed: string[];
  added: string[];
}

/** Files of a `*** Begin Patch` or a unified diff. A patch may remove lines and add the same again. */
function patched(text: string): PatchedFile[] {
  const files: PatchedFile[] = [];
  for (const line of toLines(text)) {
    const [, named, to, unified] =
      /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^\+\+\+ (?:b\/)?([^\t]+)/.exec(line) ?? [];
    const file = files.at(-1);
    if (named !== undefined || unified !== undefined)
      files.push({ path: (named ?? unified ?? "").trim(), removed: [], added: [] });
    else if (to !== undefined && file) file.path = to.trim();
    else if (line.startsWith("+")) file?.added.push(line.slice(1));
    else if (line.startsWith("-") && !line.startsWith("--- ")) file?.removed.push(line.slice(1));
  }
  return files;
}
