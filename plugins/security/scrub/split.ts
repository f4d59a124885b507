/** Secrets in pieces: a text that was streamed is in the same field of several rows. */
import { plainReading, type Reading, unescapeJson } from "../secrets/scan/decode.ts";
import type { Finder } from "./find.ts";

export interface Piece {
  /** Offsets of the rows' text. */
  start: number;
  end: number;
}

/** The beginning or the end of a string, or all of it: where it is, and what it says. */
interface Leaf {
  at: number;
  reading: Reading;
  length: number;
}

/** Longer secrets are not looked for in pieces. */
const MOST = 1_024;

/** Answers the pieces of each secret that begins in one string of a field and ends in a later one. `rows` are JSON objects, one a line. */
export function findSplit(rows: string, finder: Finder): Piece[] {
  const reach = Math.min(finder.longest, MOST) - 1;
  const tails = new Map<string, Leaf[]>();
  const found: Piece[] = [];
  for (const { path, start, end } of stringsIn(rows)) {
    const before = tails.get(path);
    // Of a long string its ends: an escape has six characters at most.
    const edge = reach * 6;
    const isLong = end - start > 2 * edge;
    if (before) {
      const seam = before.reduce((sum, { length }) => sum + length, 0);
      const parts = [...before, toLeaf(rows, start, isLong ? start + edge : end)];
      const joined = parts.map(({ reading, length }) => reading.text.slice(0, length)).join("");
      const from = Math.max(0, seam - reach);
      for (const hit of finder.find(joined.slice(from, seam + reach))) {
        if (hit.kind !== "text" || from + hit.start >= seam || from + hit.end <= seam) continue;
        found.push(...piecesOf(parts, from + hit.start, from + hit.end));
      }
    }
    const last = toLeaf(rows, isLong ? end - edge : start, end);
    tails.set(path, before && last.length < reach ? lastOf([...before, last], reach) : [last]);
  }
  return found;
}

function toLeaf(rows: string, start: number, end: number): Leaf {
  const raw = rows.slice(start, end);
  const reading = (raw.includes("\\") && unescapeJson(plainReading(raw))) || plainReading(raw);
  return {
    at: start,
    reading,
    length: reading.text.endsWith("\u0000\n") ? reading.text.length - 2 : reading.text.length,
  };
}

function* piecesOf(parts: readonly Leaf[], start: number, end: number): Generator<Piece> {
  let at = 0;
  for (const { at: place, reading, length } of parts) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, length)];
    if (from < to) yield { start: place + reading.origin(from), end: place + reading.origin(to) };
    at += length;
  }
}

/** Those that hold the last `reach` characters. */
function lastOf(parts: readonly Leaf[], reach: number): Leaf[] {
  let length = 0;
  let first = parts.length;
  while (first > 0 && length < reach) length += (parts[--first] as Leaf).length;
  return parts.slice(first);
}

const [NEWLINE, QUOTE, COMMA, BACKSLASH] = [10, 34, 44, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const MOST_NAME = 64;

/** Values that are strings, without their quotes, with the names above them; places in lists have no name. */
function* stringsIn(text: string): Generator<{ path: string } & Piece> {
  let open: { path: string; isList: boolean }[] = [];
  let path = "";
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = endOfString(text, start);
      if (isName) path = `${open.at(-1)?.path ?? ""}.${text.slice(start, Math.min(at, start + MOST_NAME))}`;
      else yield { path, start, end: at };
      isName = false;
    } else if (code === COMMA) isName = open.at(-1)?.isList === false;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      isName = code === OPEN_OBJECT;
      open.push({ path, isList: !isName });
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      path = open.pop()?.path ?? "";
      isName = false;
    } else if (code === NEWLINE) {
      // A row that is not JSON leaves nothing open.
      open = [];
      path = "";
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote;
    while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
}
