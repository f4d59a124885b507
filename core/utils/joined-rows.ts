/**
 * Rows of a JSON-lines log that share a line: a process that was killed, or a disk that lost power, leaves a cut row, zero bytes, or a row
 * without its line end, and the next row follows on the same line.
 */

export interface JoinedRows {
  /** Whole rows in order; bytes `from` to `to` are the row's. */
  rows: { row: object; from: number; to: number }[];
  /** Before the last row there is something that is not a row: a cut row, zero bytes. */
  lost: boolean;
  /** Where what follows the last row begins; the length of the line if that is white space. */
  rest: number;
}

/** Deeper values are not rows. */
const DEPTH = 512;
/** Keys of a cut row that are compared. */
const KEYS = 64;
/** Of all keys of two rows of one log, this part is common to both at least. */
const ALIKE = 0.34;

/**
 * The rows of a line that is not one row. A row that follows a cut one is found by the grammar: the cut row ends where the text stops being
 * JSON. Where the grammar allows the next row as a value of the cut one, its keys decide: they are like those of the cut row. `isEnded`: the line
 * has its line end; without it, a value that may still go on is not taken for a row. Linear in the length of the line.
 */
export function splitRows(bytes: Buffer, isEnded = true): JoinedRows {
  // One character per byte: what delimits rows is ASCII.
  const text = bytes.toString("latin1");
  const out: JoinedRows = { rows: [], lost: false, rest: 0 };
  let keys: readonly string[] = [];
  let lost = false;
  const take = (from: number, to: number, isRow: (row: object) => boolean): void => {
    const row = parse(bytes.toString("utf8", from, to));
    if (!row || !isRow(row)) {
      lost = true;
      return;
    }
    out.rows.push({ row, from, to });
    out.lost ||= lost;
    out.rest = to;
    keys = Object.keys(row);
    lost = false;
  };
  /** Whether the grammar says that a row begins at `at`. */
  let isSure = true;
  let at = text.startsWith(BOM) ? BOM.length : 0;
  for (;;) {
    const begun = skipBlank(text, at);
    lost ||= /\0/.test(text.slice(at, begun));
    at = begun;
    if (at >= text.length) break;
    if (text.charCodeAt(at) !== OPEN) {
      lost = true;
      isSure = false;
      at = text.indexOf('{"', at);
      if (at < 0) break;
    }
    const found = scan(text, at);
    if (found.end !== undefined) {
      const next = skipBlank(text, found.end);
      const sure = isSure && (next === text.length || text.charCodeAt(next) === OPEN);
      take(at, found.end, (row) => sure || isAlike(row, keys));
      at = found.end;
      isSure = true;
      continue;
    }
    lost = true;
    const { value, stop } = found;
    if (value && (isEnded || stop < text.length)) take(value.from, value.to, (row) => isAlike(row, found.keys));
    if (stop === text.length) break;
    isSure = found.next !== undefined;
    at = found.next ?? text.indexOf('{"', Math.max(stop, at + 1));
    if (at < 0) break;
  }
  if (text.slice(out.rest).trim() === "") out.rest = text.length;
  return out;
}

const OPEN = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BOM = "\u00ef\u00bb\u00bf";

/** The first place from `at` on that is neither white space nor another control character. */
function skipBlank(text: string, at: number): number {
  let to = at;
  while (text.charCodeAt(to) <= 0x20) to++;
  return to;
}

function parse(text: string): object | undefined {
  try {
    const row: unknown = JSON.parse(text);
    return typeof row === "object" && row !== null && !Array.isArray(row) ? row : undefined;
  } catch {
    return undefined; // the caller counts it
  }
}

function isAlike(row: object, keys: readonly string[]): boolean {
  const own = Object.keys(row);
  if (keys.length > 0 && keys.every((key, index) => own[index] === key)) return true;
  const common = own.filter((key) => keys.includes(key)).length;
  return common > 0 && common / (own.length + keys.length - common) >= ALIKE;
}

type Scanned =
  /** A whole value ends at `end`. */
  | { end: number }
  | {
      end?: undefined;
      /** Where the text stops being JSON; its length where it only ends. */
      stop: number;
      /** Where a row begins that makes it stop. */
      next: number | undefined;
      /** An object that ends at `stop`, and that the cut row may have as a value. */
      value: { from: number; to: number } | undefined;
      /** Keys of the cut row. */
      keys: string[];
    };

/** What may come next: a value, the first or a further key, a colon, a comma or the end. */
type Expected = "value" | "first" | "key" | "colon" | "more";

/** Reads the object that begins at `start` by the grammar of JSON, without making values. */
function scan(text: string, start: number): Scanned {
  /** Starts of the open objects; of arrays their bitwise complement. */
  const open: number[] = [];
  const keys: string[] = [];
  let expected: Expected = "value";
  let closed: { from: number; to: number } | undefined;
  let at = start;
  const stop = (place: number, next?: number): Scanned => {
    const isLast = closed !== undefined && skipBlank(text, closed.to) >= place;
    return { stop: place, next, value: isLast ? closed : undefined, keys };
  };
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++;
    if (at >= text.length) return stop(text.length);
    const code = text.charCodeAt(at);
    const inArray = (open.at(-1) ?? 0) < 0;
    if (code === QUOTE && expected !== "colon" && expected !== "more") {
      const end = stringEnd(text, at);
      if (end.bad !== undefined) return stop(end.bad, rowAt(text, end.bad, start));
      if (end.to === undefined) return stop(text.length);
      const isKey: boolean = expected === "key" || (expected === "first" && !inArray);
      if (isKey && open.length === 1 && keys.length < KEYS) keys.push(text.slice(at + 1, end.to - 1));
      expected = isKey ? "colon" : "more";
      at = end.to;
    } else if ((code === OPEN || code === 0x5b) && (expected === "value" || (expected === "first" && inArray))) {
      if (open.length >= DEPTH) return stop(at, undefined);
      open.push(code === OPEN ? at : ~at);
      expected = "first";
      at++;
    } else if (code === (inArray ? 0x5d : 0x7d) && (expected === "first" || expected === "more")) {
      const from = open.pop() ?? 0;
      at++;
      if (open.length === 0) return { end: at };
      if (from >= 0) closed = { from, to: at };
      expected = "more";
    } else if (code === 0x2c && expected === "more") {
      expected = inArray ? "value" : "key";
      at++;
    } else if (code === 0x3a && expected === "colon") {
      expected = "value";
      at++;
    } else {
      const plain = expected === "value" || (expected === "first" && inArray) ? plainEnd(text, at) : at;
      if (plain === at) return stop(at, rowAt(text, at, start));
      if (plain === text.length) return stop(plain);
      expected = "more";
      at = plain;
    }
  }
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** The place after the closing quote; `bad`: a character that no string may have. */
function stringEnd(text: string, at: number): { to?: number; bad?: number } {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return { to: i + 1 };
    if (code < 0x20) return { bad: i };
    if (code !== BACKSLASH) continue;
    const escaped = text[++i];
    if (escaped === undefined) return {};
    if (escaped === "u") {
      const hex = /^[\da-fA-F]*/.exec(text.slice(i + 1, i + 5))?.[0].length ?? 0;
      if (hex < 4 && i + 1 + hex < text.length) return { bad: i + 1 + hex };
      i += hex;
    } else if (!'"\\/bfnrt'.includes(escaped)) return { bad: i };
  }
  return {};
}

/** The place after a number or a name; `at` itself where there is none. */
function plainEnd(text: string, at: number): number {
  PLAIN.lastIndex = at;
  return at + (PLAIN.exec(text)?.[0].length ?? 0);
}
/** A name may be cut. */
const PLAIN = /t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?|-?\d[\d.eE+-]*|-/y;

/** Where the row begins that made a cut row stop at `place`: there, after zero bytes, or just before, when its first quote ended a cut string. */
function rowAt(text: string, place: number, start: number): number | undefined {
  const after = skipBlank(text, place);
  if (text.charCodeAt(after) === OPEN) return after;
  const before = /\{\s{0,8}"\s{0,8}$/.exec(text.slice(Math.max(start, place - 24), place));
  const at = before ? Math.max(start, place - 24) + before.index : start;
  return at > start ? at : undefined;
}
