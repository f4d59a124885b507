/** Patches in the `*** Begin Patch` form: read into changes of files, and applied as Codex applies them. */
import { toCoding } from "../sandbox/encoding.ts";
import { nearestTo } from "./nearest.ts";

type PatchedFile =
  | { do: "add"; path: string; text: string }
  | { do: "delete"; path: string }
  | { do: "update"; path: string; to: string | undefined; hunks: Hunk[] };

interface Hunk {
  /** Line that precedes the hunk, after `@@`. */
  context: string | undefined;
  old: string[];
  new: string[];
  /** The hunk is at the end of the file. */
  atEnd: boolean;
}

const HEAD = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/** A string says why the text is no patch. */
export function parsePatch(text: string): PatchedFile[] | string {
  const lines = text.replace(/\r\n/g, "\n").trim().split("\n");
  if (lines[0]?.trim() !== "*** Begin Patch" || lines.at(-1)?.trim() !== "*** End Patch")
    return "it does not begin and end as a patch";
  const files: PatchedFile[] = [];
  for (let i = 1; i < lines.length - 1; ) {
    const head = HEAD.exec((lines[i] ?? "").trimEnd());
    if (!head) return `line ${i + 1} names no file`;
    const path = (head[2] ?? "").trim();
    const end = endOf(lines, i + 1);
    const body = lines.slice(i + 1, end);
    if (head[1] === "Delete") files.push({ do: "delete", path });
    else if (head[1] === "Add") {
      if (body.some((line) => !line.startsWith("+"))) return `a line of the new file ${path} lacks its +`;
      files.push({ do: "add", path, text: body.map((line) => `${line.slice(1)}\n`).join("") });
    } else {
      const to = /^\*\*\* Move to: (.+)$/.exec((body[0] ?? "").trimEnd())?.[1]?.trim();
      const hunks = parseHunks(to === undefined ? body : body.slice(1));
      if (typeof hunks === "string") return `${path}: ${hunks}`;
      files.push({ do: "update", path, to, hunks });
    }
    i = end;
  }
  return files;
}

function endOf(lines: readonly string[], from: number): number {
  let i = from;
  while (i < lines.length - 1 && !HEAD.test((lines[i] ?? "").trimEnd())) i++;
  return i;
}

function parseHunks(lines: readonly string[]): Hunk[] | string {
  const hunks: Hunk[] = [];
  let hunk: Hunk | undefined;
  const begin = (context?: string) => {
    hunk = { context, old: [], new: [], atEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  for (const line of lines) {
    if (line.startsWith("@@")) begin(line.slice(2).trim() || undefined);
    else if (line.trimEnd() === "*** End of File") (hunk ?? begin()).atEnd = true;
    else {
      const at = hunk ?? begin();
      const rest = line.slice(1);
      if (line.startsWith("+")) at.new.push(rest);
      else if (line.startsWith("-")) at.old.push(rest);
      else if (line.startsWith(" ") || line === "") {
        at.old.push(rest);
        at.new.push(rest);
      } else return `${JSON.stringify(line.slice(0, 40))} is neither kept, added nor removed`;
    }
  }
  return hunks;
}

/** The file with the hunks in it, or why one does not fit. The result ends with a line end, as Codex writes it. */
export function applyHunks(
  before: Buffer,
  hunks: readonly Hunk[],
): { ok: true; data: Buffer } | { ok: false; reason: string } {
  const coding = toCoding(before);
  const text = coding.decode(before);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const changes: { at: number; remove: number; insert: string[] }[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    if (hunk.context !== undefined) {
      const row = seek(lines, [coding.of(hunk.context)], from, false);
      if (row < 0) return miss(index, hunks, text, coding.of(hunk.context));
      from = row + 1;
    }
    let [old, next] = [hunk.old.map(coding.of), hunk.new.map(coding.of)];
    if (old.length === 0) {
      changes.push({ at: lines.length, remove: 0, insert: next });
      continue;
    }
    let row = seek(lines, old, from, hunk.atEnd);
    // A patch may end on an empty line that means the file's own end.
    if (row < 0 && old.at(-1) === "") {
      old = old.slice(0, -1);
      if (next.at(-1) === "") next = next.slice(0, -1);
      row = seek(lines, old, from, hunk.atEnd);
    }
    if (row < 0) return miss(index, hunks, text, old.join("\n"));
    changes.push({ at: row, remove: old.length, insert: next });
    from = row + old.length;
  }
  for (const { at, remove, insert } of changes.sort((a, b) => a.at - b.at).reverse())
    lines.splice(at, remove, ...insert);
  return { ok: true, data: coding.encode(lines.length === 0 ? "" : `${lines.join("\n")}\n`) };
}

function miss(index: number, hunks: readonly Hunk[], text: string, wanted: string): { ok: false; reason: string } {
  const which = hunks.length > 1 ? `part ${index + 1} of ${hunks.length} ` : "the change ";
  return { ok: false, reason: `${which}does not fit the file${nearestTo(text, wanted)}` };
}

const DASHES = /[\u2010-\u2015\u2212]/g;
const LIKE: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    Buffer.from(line, "latin1")
      .toString("utf8")
      .trim()
      .replace(DASHES, "-")
      .replace(/[‘’‚‛]/g, "'")
      .replace(/[“”„‟]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "),
];

/** First place at or after `from` where the lines are: to the letter, else without blanks at their ends, at both sides, else with plain punctuation. */
function seek(lines: readonly string[], wanted: readonly string[], from: number, atEnd: boolean): number {
  if (wanted.length > lines.length) return -1;
  const start = atEnd ? Math.max(from, lines.length - wanted.length) : from;
  for (const like of LIKE) {
    const needles = wanted.map(like);
    const rows = like === LIKE[0] ? lines : lines.map(like);
    for (let i = start; i + needles.length <= rows.length; i++) {
      if (needles.every((needle, k) => needle === rows[i + k])) return i;
    }
  }
  return -1;
}
