/**
 * What a text says in other spellings: escapes of URLs, of HTML and of shells, strings in pieces, invisible characters between its
 * letters (`loosen`); base64, hexadecimal and gzip in base64 (`decodeRuns`). Bounded: what is decoded counts against one budget.
 */
import { constants, gunzipSync } from "node:zlib";
import { createMapping, type Reading, TooMuch } from "./decode.ts";

/** Characters one text may be decoded to, all levels together, where nothing else is said. */
export const DECODE_LIMIT = 4 * 2 ** 20;
/** What one compressed stretch may grow to: a quarter of what the text may be decoded to, and no more than this. */
const INFLATE_LIMIT = 64 * 2 ** 20;

const ESCAPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  /%([0-9A-Fa-f]{2})|\\(?:x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|\r?\n[ \t]*)|&#(?:x([0-9a-fA-F]{1,5})|(\d{1,6}));|[\u200b-\u200f\u2060\ufeff\u00ad\0\x07\x08]|["'`](?:[ \t]*[+.][ \t]*(?:\\?\r?\n[ \t]*)?["'`]|[ \t]*\r?\n[ \t]*[+.][ \t]*["'`]|(?<=[\w-]["'])["']?(?=[\w-]))/g;

const LOOKED = 1_024;

/** The text with escapes undone, pieces joined and invisible characters taken out; undefined when there are none. Linear. Throws `TooMuch`. */
export function loosen(reading: Reading, expired: () => boolean): Reading | undefined {
  const { text } = reading;
  const out = createMapping(expired);
  let copied = 0;
  let count = 0;
  for (const match of text.matchAll(ESCAPE)) {
    // What is taken out makes no piece.
    if (++count % LOOKED === 0 && expired()) throw new TooMuch();
    const [whole, percent, hex, octal, entityHex, entity] = match;
    // A backspace takes the character before it along.
    out.copy(text, copied, Math.max(copied, match.index - Number(whole === "\b")));
    const code = percent ?? hex ?? entityHex;
    const point = code ? Number.parseInt(code, 16) : octal ? Number.parseInt(octal, 8) : entity ? Number(entity) : 0;
    if (point > 0 && point <= 0x10ffff) out.put(String.fromCodePoint(point), match.index);
    copied = match.index + whole.length;
  }
  if (copied === 0) return undefined;
  out.copy(text, copied, text.length);
  return out.done(reading);
}

interface Decoded {
  text: string;
  /** The stretch of the text it was written as. */
  start: number;
  end: number;
  /** What `xxd`, `hexdump` or `od` prints: text that anybody reads at a glance. */
  dump?: true;
}

/** Tried where a run begins and nowhere inside of it. Lines of a wrapped block follow each other with nothing but blanks, or the quotes of a list, between them. */
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:={0,2}[ \t]*(?:\r?\n|\\n)[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}/g;
const LINE = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX =
  /(?<![0-9a-fA-F])(?:(?:[0-9a-fA-F]{2}){16,}|[0-9a-fA-F]{2}(?:[ :,][0-9a-fA-F]{2}){15,}(?!\w)|(?:[0-9a-fA-F]{4} ){7,}[0-9a-fA-F]{2,4}(?!\w)|0x[0-9a-fA-F]{2}(?:[,; ]{1,2}0x[0-9a-fA-F]{2}){15,})/g;

/** Lines of `xxd`, `hexdump` and `od -x`: where, bytes, and for some of them what they say. */
const HEX_DUMP = /^[0-9a-fA-F]{6,8}:?[ \t]+((?:[0-9a-fA-F]{2}(?:[0-9a-fA-F]{2})?(?:[ \t]+|$)){1,16})/;
/** Of `od -c`: four places a character. */
const CHAR_DUMP = /^[0-7]{7}((?: {3}[^ ]| {2}\\[0abfnrtv]| [0-7]{3}| {4}){1,16})[ \t]*$/;
const DUMP_LINE = 200;
const DIGITS = new Set("0123456789abcdefABCDEF");

interface DumpLine {
  bytes: Buffer;
  /** Of two bytes the second stands first. */
  swapped: boolean;
}

function dumpLine(text: string): DumpLine | undefined {
  if (text.length > DUMP_LINE) return undefined;
  const line = text.trimEnd();
  const chars = CHAR_DUMP.exec(line)?.[1];
  if (chars !== undefined) {
    const said = (chars.match(/.{4}/g) ?? []).map((place) => {
      const one = place.trim();
      if (one === "") return " ";
      if (/^[0-7]{3}$/.test(one)) return String.fromCharCode(Number.parseInt(one, 8));
      return one.length === 1 ? one : one === "\\t" ? "\t" : "\n";
    });
    return { bytes: Buffer.from(said.join(""), "latin1"), swapped: false };
  }
  // Behind two blanks `xxd` says what the bytes are.
  const [, hex = ""] = HEX_DUMP.exec(line) ?? [];
  const groups = hex.trimEnd().split(/[ \t]+(?![ \t])/);
  const digits = groups.join("");
  if (digits.length < 2) return undefined;
  return { bytes: Buffer.from(digits, "hex"), swapped: groups[0]?.length === 4 && !line.includes(":") };
}

interface Dump {
  start: number;
  end: number;
  lines: Buffer[];
  swapped: boolean;
}

function* dumps(text: string, spend: (cost: number) => boolean): Generator<Decoded> {
  let open: Dump | undefined;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    // Most lines begin with no digit.
    const line = DIGITS.has(text.charAt(at)) ? dumpLine(text.slice(at, Math.min(end, at + DUMP_LINE + 1))) : undefined;
    if (line) {
      if (!spend(end - at)) return;
      open ??= { start: at, end, lines: [], swapped: line.swapped };
      open.end = end;
      open.lines.push(line.bytes);
    } else if (open) {
      yield* said(open);
      open = undefined;
    }
    at = end + 1;
  }
  if (open) yield* said(open);
}

function* said({ start, end, lines, swapped }: Dump): Generator<Decoded> {
  const bytes = Buffer.concat(lines);
  if (swapped) bytes.subarray(0, bytes.length & ~1).swap16();
  const text = findText(bytes, bytes.length);
  if (text !== undefined) yield { text, start, end, dump: true };
}

/**
 * Stretches that decode to text. `spend` takes what each costs and says whether there is any budget left for it; what is too large to
 * be inflated costs everything. Throws `TooMuch` when the time is up.
 */
export function* decodeRuns(text: string, limit: number, spend: (cost: number) => boolean): Generator<Decoded> {
  const toText = (bytes: Buffer) => {
    try {
      const decoded = findText(bytes, Math.min(INFLATE_LIMIT, limit / 4));
      if (decoded !== undefined && decoded.length > bytes.length * 2) spend(decoded.length);
      return decoded;
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      spend(Number.POSITIVE_INFINITY);
      return undefined;
    }
  };
  // A word glued to the front moves all that follows: the other places to begin are tried too.
  const decode = (run: string): string | undefined => {
    for (let skip = 0; skip < 4; skip++) {
      const decoded = toText(Buffer.from(skip === 0 ? run : run.slice(skip), "base64"));
      if (decoded !== undefined) return decoded;
    }
    return undefined;
  };
  yield* dumps(text, spend);
  for (const match of listRuns(text, BASE64, spend)) {
    const run = match[0].replace(/\\n|\s/g, "");
    if (!spend(run.length)) return;
    const whole = decode(run);
    if (whole !== undefined) {
      yield { text: whole, start: match.index, end: match.index + match[0].length };
      continue;
    }
    // Words that stand alone on the lines around it look as if they belonged to it.
    if (run.length === match[0].length) continue;
    for (const { 0: line, index } of match[0].matchAll(LINE)) {
      const decoded = decode(line);
      const start = match.index + index;
      if (decoded !== undefined) yield { text: decoded, start, end: start + line.length };
    }
  }
  for (const match of listRuns(text, HEX, spend)) {
    const digits = match[0].replace(/0x|[^0-9a-fA-F]/g, "");
    if (!spend(digits.length)) return;
    const decoded = toText(Buffer.from(digits.slice(0, digits.length & ~1), "hex"));
    if (decoded !== undefined) yield { text: decoded, start: match.index, end: match.index + match[0].length };
  }
}

/** The clock is read after each stretch of this length; a run that matters begins no later than `OVERLAP` before its end. */
const WINDOW = 256 * 1024;
const OVERLAP = 1_024;

/** All matches in order, as `matchAll` would give them. */
function* listRuns(text: string, expression: RegExp, spend: (cost: number) => boolean): Generator<RegExpExecArray> {
  let at = 0;
  for (let to = WINDOW; ; to += WINDOW) {
    const isLast = to >= text.length;
    const part = isLast ? text : text.slice(0, to);
    for (;;) {
      expression.lastIndex = at;
      let match = expression.exec(part);
      if (match && !isLast && match.index + match[0].length > to - OVERLAP) {
        expression.lastIndex = match.index;
        match = expression.exec(text); // it may go on
      }
      if (!match) break;
      at = match.index + match[0].length;
      yield match;
    }
    if (isLast) return;
    at = Math.max(at, to - OVERLAP);
    if (!spend(0)) throw new TooMuch();
  }
}

/** Undefined for bytes that are no text. */
function findText(bytes: Buffer, limit: number): string | undefined {
  if (bytes.length < 12) return undefined;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return inflate(bytes, limit);
  if (bytes[1] === 0 && bytes[3] === 0 && bytes[5] === 0) return bytes.toString("utf16le");
  const sample = bytes.subarray(0, 64);
  let odd = 0;
  for (const byte of sample) if ((byte < 32 && byte !== 9 && byte !== 10 && byte !== 13) || byte > 126) odd++;
  // A few may be letters of other scripts, or what a cut left at the ends.
  return odd * 8 > sample.length ? undefined : bytes.toString("latin1");
}

/** A stream that was cut gives what there is. Throws `TooLarge`. */
function inflate(bytes: Buffer, limit: number): string | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH }).toString("utf8");
  } catch (error) {
    if (error instanceof RangeError) throw new TooLarge();
    return undefined; // no gzip after all
  }
}

class TooLarge extends Error {}
