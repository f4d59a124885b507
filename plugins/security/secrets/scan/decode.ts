/**
 * Readings of a text in which a secret may hide: without terminal colours, and with the escapes of nested JSON undone.
 * Every reading maps the offset of a character to the text it was made from.
 */
export interface Reading {
  text: string;
  /** Offset in the original text of the character at `offset`; `text.length` maps to the end. Logarithmic. */
  origin(offset: number): number;
}

/** Control sequences (colours, cursor), titles and links of terminals. */
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[=>78cDEHMNOZ])|\x9b[0-?]{0,32}[@-~]/g;

const SIMPLE: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "/": "/",
  "\\": "\\",
  b: "\b",
  f: "\f",
  "'": "'",
};

/** The time is up, or a text is made of so many escapes that undoing them would take the memory. */
export class TooMuch extends Error {}

/** Pieces between two reads of the clock, and the maximum of one reading. */
const LOOKED = 4_096;
const PIECES = 2_000_000;

/** The same text, at no cost. */
export function plainReading(text: string): Reading {
  return { text, origin: (offset) => offset };
}

/** Terminal sequences removed. The reading itself when there are none. Throws `TooMuch`. */
export function stripAnsi(reading: Reading, expired?: () => boolean): Reading {
  if (!reading.text.includes("\x1b") && !reading.text.includes("\x9b")) return reading;
  const out = createMapping(expired);
  let from = 0;
  for (const match of reading.text.matchAll(ANSI)) {
    out.copy(reading.text, from, match.index);
    from = match.index + match[0].length;
  }
  out.copy(reading.text, from, reading.text.length);
  return out.done(reading);
}

/**
 * One level of JSON string escapes undone, on the lines that hold any; other lines are left out, since the text itself
 * was read already. Undefined when no line does. Cost: linear in the lines with a backslash. Throws `TooMuch`.
 */
export function unescapeJson(reading: Reading, expired?: () => boolean): Reading | undefined {
  const { text } = reading;
  let at = text.indexOf("\\");
  if (at < 0) return undefined;
  const out = createMapping(expired);
  while (at >= 0) {
    const from = text.lastIndexOf("\n", at) + 1;
    const newline = text.indexOf("\n", at);
    const to = newline < 0 ? text.length : newline;
    if (hasEscape(text, at, to)) unescapeLine(out, text, from, to);
    at = text.indexOf("\\", to);
  }
  return out.empty ? undefined : out.done(reading);
}

/** A backslash that JSON would have written; `\d` and `\s` of a pattern are none. */
function hasEscape(text: string, from: number, to: number): boolean {
  for (let at = text.indexOf("\\", from); at >= 0 && at < to; at = text.indexOf("\\", at + 1)) {
    if ('"\\/nrtu'.includes(text.charAt(at + 1) || " ")) return true;
  }
  return false;
}

function unescapeLine(out: Mapping, text: string, from: number, to: number): void {
  let copied = from;
  for (let at = text.indexOf("\\", from); at >= 0 && at + 1 < to; at = text.indexOf("\\", at)) {
    const next = text.charAt(at + 1);
    const hex = next === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 2, at + 6)) : null;
    const char = hex ? String.fromCharCode(Number.parseInt(hex[0], 16)) : SIMPLE[next];
    if (char === undefined) {
      at += 1;
      continue;
    }
    out.copy(text, copied, at);
    out.put(char, at);
    at += hex ? 6 : 2;
    copied = at;
  }
  out.copy(text, copied, to);
  // Lines that did not follow each other must not read as one.
  out.put("\u0000\n", to);
}

interface Mapping {
  readonly empty: boolean;
  copy(text: string, from: number, to: number): void;
  put(text: string, origin: number): void;
  done(base: Reading): Reading;
}

/** Pieces of a reading; within a piece offsets run along with the original. Throws `TooMuch` when `expired` returns true, or there are too many. */
export function createMapping(expired: () => boolean = () => false): Mapping {
  const pieces: string[] = [];
  const starts: number[] = [];
  const origins: number[] = [];
  let length = 0;
  let end = 0;

  function push(piece: string, origin: number): void {
    if (piece === "") return;
    if (pieces.push(piece) % LOOKED === 0 && (pieces.length > PIECES || expired())) throw new TooMuch();
    starts.push(length);
    origins.push(origin);
    length += piece.length;
  }

  return {
    get empty() {
      return length === 0;
    },
    copy(text, from, to) {
      push(text.slice(from, to), from);
      end = to;
    },
    put(text, origin) {
      push(text, origin);
    },
    done(base) {
      const text = pieces.join("");
      return {
        text,
        origin(offset) {
          if (offset >= length) return base.origin(end);
          let low = 0;
          let high = starts.length - 1;
          while (low < high) {
            const middle = (low + high + 1) >> 1;
            if ((starts[middle] ?? 0) <= offset) low = middle;
            else high = middle - 1;
          }
          return base.origin((origins[low] ?? 0) + Math.min(offset - (starts[low] ?? 0), toSpan(low)));
        },
      };
    },
  };

  /** An escape (`put`) stands for one place; a copied piece runs on. */
  function toSpan(index: number): number {
    return pieces[index]?.length ?? 0;
  }
}
