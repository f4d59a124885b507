/** Counts messages by a chunk's bytes: making text of them takes longer than all else but inflating. */
import { type Chunk, outlineChunk } from "sessarc";
import { passes } from "./match.ts";
import { hasMessageFilter, type Query } from "./query.ts";

export interface ByteQuery {
  query: Query;
  /** Longest first. */
  wanted: readonly RegExp[];
  unwanted: readonly RegExp[];
  filtered: boolean;
}

/** Null where bytes do not tell: letters outside of ASCII fold in many ways, and paths are read from the calls. */
export function toByteQuery(query: Query): ByteQuery | null {
  const { terms, path, notPath } = query;
  if (path.length > 0 || notPath.length > 0 || terms.some(({ text }) => !/^[\x20-\x7e]+$/.test(text))) return null;
  const wanted = terms.filter((term) => !term.negated).sort((a, b) => b.text.length - a.text.length);
  if (wanted.length === 0) return null;
  const unwanted = terms.filter((term) => term.negated);
  return {
    query,
    wanted: wanted.map(toWord),
    unwanted: unwanted.map(toWord),
    filtered: hasMessageFilter(query),
  };
}

/** As `i` and `u` fold ASCII letters, in UTF-8 bytes read as Latin-1: the long s and the Kelvin sign are letters of it. */
function toWord({ text }: { text: string }): RegExp {
  const source = text.replace(/./g, (letter) => {
    const lower = letter.toLowerCase();
    const upper = letter.toUpperCase();
    if (lower === upper) return letter.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
    if (lower === "s") return "(?:[sS]|\\xc5\\xbf)";
    return lower === "k" ? "(?:[kK]|\\xe2\\x84\\xaa)" : `[${lower}${upper}]`;
  });
  return new RegExp(source, "g");
}

/** Messages of the chunk that match and for which `counts` answers true for their seq. About 0.1 ms a chunk, inflating excepted. */
export function countInBytes(raw: Buffer, by: ByteQuery, counts: (seq: number) => boolean): number {
  const { outline, text } = outlineChunk(raw);
  const bytes = text.toString("latin1");
  const [first, ...others] = by.wanted;
  if (first === undefined || !found(first, bytes)) return 0;
  const chunk = outline();
  const bounds = boundsOf(text, chunk.spans);
  /** By message: how many of the wanted words it holds; -1: one that it must not. */
  const held = new Int16Array(chunk.count);
  for (const [i, word] of [first, ...others].entries()) {
    let some = false;
    sweep(word, bytes, bounds, (index) => {
      if (held[index] === i) held[index] = i + 1;
      some ||= held[index] === i + 1;
    });
    // A question may have a thousand words.
    if (!some) return 0;
  }
  for (const word of by.unwanted) {
    sweep(word, bytes, bounds, (index) => {
      held[index] = -1;
    });
  }
  let count = 0;
  for (let index = 0; index < held.length; index++) {
    if (held[index] !== by.wanted.length || !counts(chunk.firstSeq + index)) continue;
    if (!by.filtered || passes(chunk, index, by.query)) count++;
  }
  return count;
}

function found(word: RegExp, bytes: string): boolean {
  word.lastIndex = 0;
  return word.test(bytes);
}

/** Where each message's tool input begins and where it ends, in bytes, one after another. */
type Bounds = Uint32Array;

/** Calls `onMessage` once with the index of each message that holds the word in its text or in its tool input. */
function sweep(word: RegExp, bytes: string, bounds: Bounds, onMessage: (index: number) => void): void {
  word.lastIndex = 0;
  let at = 0;
  for (let hit = word.exec(bytes); hit; hit = word.exec(bytes)) {
    const start = hit.index;
    while (at < bounds.length && (bounds[at + 1] as number) <= start) at += 2;
    if (at >= bounds.length) return;
    const input = bounds[at] as number;
    const end = bounds[at + 1] as number;
    const last = start + hit[0].length;
    if (last <= input || (start >= input && last <= end)) {
      onMessage(at / 2);
      word.lastIndex = end;
    } else word.lastIndex = start + 1; // across two fields: no hit
  }
}

/** Spans are told in UTF-16 units. */
function boundsOf(text: Buffer, spans: Chunk["spans"]): Bounds {
  const bounds = new Uint32Array(spans.length * 2);
  const isAscii = (spans.at(-1)?.end ?? 0) === text.length;
  const walk = new Walk(text);
  for (const [i, { input, end }] of spans.entries()) {
    bounds[2 * i] = isAscii ? input : walk.to(input);
    bounds[2 * i + 1] = isAscii ? end : walk.to(end);
  }
  return bounds;
}

const NO_ASCII = 0x80808080;

/** Goes through UTF-8, four bytes a step where they are ASCII. */
class Walk {
  readonly #text: Buffer;
  readonly #words: Uint32Array;
  /** Of the first byte of `#words` in `#text`. */
  readonly #wordsAt: number;
  #at = 0;
  #unit = 0;

  constructor(text: Buffer) {
    this.#text = text;
    this.#wordsAt = (4 - (text.byteOffset & 3)) & 3;
    const words = Math.max(0, (text.length - this.#wordsAt) >> 2);
    this.#words = words > 0 ? new Uint32Array(text.buffer, text.byteOffset + this.#wordsAt, words) : new Uint32Array();
  }

  /** The byte of the character that begins with this UTF-16 unit. Units are asked for in order. */
  to(unit: number): number {
    const text = this.#text;
    const words = this.#words;
    let at = this.#at;
    let units = this.#unit;
    while (units < unit) {
      let word = (at - this.#wordsAt) >> 2;
      if (((at - this.#wordsAt) & 3) === 0 && unit - units >= 4 && ((words[word] as number) & NO_ASCII) === 0) {
        const last = word + ((unit - units) >> 2);
        const first = word;
        while (word < last && ((words[word] as number) & NO_ASCII) === 0) word++;
        at += (word - first) * 4;
        units += (word - first) * 4;
        continue;
      }
      const byte = text[at] as number;
      // Two and three bytes make one unit, four two.
      at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      units += byte < 0xf0 ? 1 : 2;
    }
    this.#at = at;
    this.#unit = units;
    return at;
  }
}
