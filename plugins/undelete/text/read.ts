/** What the result of a read shows of a file: lines with their numbers, or a text without. */
import { isRecord, type Json } from "sessarc";
import { createDoc, type Doc, type Piece, partDoc, wholeDoc } from "./doc.ts";

/** `1→`, `1\t`, `00001| `. */
const NUMBERED = /^ *(\d+)(?:→|\t|\| ?)(.*)$/s;
/** Tools cut long lines and long files at about here, some without a word. */
const WIDTH = 2_000;
const LINES = 2_000;
const LIMITS = ["limit", "end_line", "endLine", "view_range", "end_line_one_indexed_inclusive", "pages"];
const NOTE = /^\s*(?:<system-reminder>|$)/;

/**
 * The lines that a read shows with numbers, where they count up one by one; undefined for anything else. `showsEnd`: the assistant shows the
 * empty line after the last line end. Linear in the text.
 */
export function numberedRead(text: string, input: Json | undefined, showsEnd: boolean): Doc | undefined {
  const rows = text.split("\n");
  const lines: string[] = [];
  let first = 0;
  let next = 0;
  for (; next < rows.length; next++) {
    const [, number, line = ""] = NUMBERED.exec(rows[next] ?? "") ?? [];
    if (number === undefined || (next > 0 && Number(number) !== first + next)) break;
    if (next === 0) first = Number(number);
    lines.push(line);
  }
  if (lines.length === 0 || first < 1 || !Number.isSafeInteger(first)) return undefined;
  // Anything but a note of the assistant after the lines: it may say that there are more.
  const isClean = NOTE.test(rows.slice(next).join("\n"));
  const isEnd = isClean && showsEnd && reachedEnd(input, lines.length);
  const isWide = lines.some((line) => line.length >= WIDTH || line.includes("\ufffd"));
  if (!isWide) return partDoc(lines.join("\n"), first, isEnd);
  const pieces = lines.flatMap((line, i): Piece[] => {
    const isLast = i === lines.length - 1;
    if (line.length >= WIDTH || line.includes("\ufffd")) return [{ hole: isLast ? null : 1 }];
    return [{ text: isLast ? line : `${line}\n` }];
  });
  return createDoc([{ hole: first - 1 }, ...pieces, { hole: isEnd ? 0 : null }], true);
}

/** Fewer lines than were asked for, or than a read shows at most. */
function reachedEnd(input: Json | undefined, count: number): boolean {
  if (!isRecord(input)) return false;
  const given = LIMITS.filter((name) => input[name] !== undefined && input[name] !== null);
  if (given.length === 0) return count < LINES;
  const [name] = given;
  const limit = input.limit;
  return given.length === 1 && name === "limit" && typeof limit === "number" && count < Math.min(limit, LINES);
}

/** A whole file as a read without numbers showed it: whether it ends with a line end is not known. */
export function plainRead(text: string): Doc | undefined {
  if (text.includes("\ufffd")) return undefined;
  const shown = text.replace(/\r\n/g, "\n").replace(/\n$/, "");
  return shown === "" ? undefined : createDoc([{ text: shown }, { hole: null }], true);
}

/** The text of a write; a text with a character that stands for unreadable bytes is still what was written. */
export const writtenText = (text: string): Doc => wholeDoc(text.replace(/\r\n/g, "\n"));
