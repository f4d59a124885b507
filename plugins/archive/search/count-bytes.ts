/** Counts messages by a chunk's bytes: making text of them takes longer than all else but inflating. */
import { type Chunk, outlineChunk } from "sessarc";
import { passes } from "./match.ts";
import { hasMessageFilter, type Query } from "./query.ts";

export interface ByteQuery {
  query: Query;
  /** Longest first. */
  wanted: readonly ByteWord[];
  unwanted: readonly ByteWord[];
  filtered: boolean;
}

interface ByteWord {
  pattern: RegExp;
  /** Every letter of it stands for one UTF-16 unit of the text. */
  units: number;
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
function toWord({ text }: { text: string }): ByteWord {
  const source = text.replace(/./g, (letter) => {
    const lower = letter.toLowerCase();
    const upper = letter.toUpperCase();
    if (lower === upper) return letter.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
    if (lower === "s") return "(?:[sS]|\\xc5\\xbf)";
    return lower === "k" ? "(?:[kK]|\\xe2\\x84\\xaa)" : `[${lower}${upper}]`;
  });
  return { pattern: new RegExp(source, "g"), units: text.length };
}

/** Messages of the chunk that match and for which `counts` answers true for their seq. About 0.2 ms a chunk, inflating excepted. */
export function countInBytes(raw: Buffer, by: ByteQuery, counts: (seq: number) => boolean): number {
  const { outline, text } = outlineChunk(raw);
  const bytes = text.toString("latin1");
  const [first, ...others] = by.wanted;
  if (first === undefined || !found(first, bytes)) return 0;
  const chunk = outline();
  const wide = new Wide(bytes, bytes.length - (chunk.spans.at(-1)?.end ?? 0));
  /** By message: how many of the wanted words it holds; -1: one that it must not. */
  const held = new Int16Array(chunk.count);
  for (const [i, word] of [first, ...others].entries()) {
    let some = false;
    sweep(word, bytes, chunk.spans, wide, (index) => {
      if (held[index] === i) held[index] = i + 1;
      some ||= held[index] === i + 1;
    });
    // A question may have a thousand words.
    if (!some) return 0;
  }
  for (const word of by.unwanted) {
    sweep(word, bytes, chunk.spans, wide, (index) => {
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

function found({ pattern }: ByteWord, bytes: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(bytes);
}

/** Calls `onMessage` with the index of each message that holds the word in its text or in its tool input, for some more than once. */
function sweep(
  { pattern, units }: ByteWord,
  bytes: string,
  spans: Chunk["spans"],
  wide: Wide,
  onMessage: (index: number) => void,
): void {
  wide.rewind();
  pattern.lastIndex = 0;
  let index = 0;
  for (let hit = pattern.exec(bytes); hit; hit = pattern.exec(bytes)) {
    const start = wide.unitOf(hit.index);
    while (index < spans.length - 1 && (spans[index]?.end ?? 0) <= start) index++;
    const span = spans[index];
    if (!span) return;
    const end = start + units;
    if (end <= span.input || (start >= span.input && end <= span.end)) onMessage(index);
    else pattern.lastIndex = hit.index + 1; // across two fields: no hit
  }
}

/** Where characters of more than one byte stand. Told from first to last. */
class Wide {
  readonly #bytes: string;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #next = 0;
  /** How far the bytes were looked at, and how many more than units there were. */
  #at = 0;
  #extra = 0;

  /** `extra`: bytes more than UTF-16 units in all. */
  constructor(bytes: string, extra: number) {
    this.#bytes = bytes;
    if (extra === 0) return;
    const run = /[\x80-\xff]+/g;
    for (let found = run.exec(bytes); found; found = run.exec(bytes)) {
      this.#starts.push(found.index);
      this.#ends.push(run.lastIndex);
    }
  }

  rewind(): void {
    this.#next = this.#at = this.#extra = 0;
  }

  /** The UTF-16 unit of the text that the byte at `at` begins. */
  unitOf(at: number): number {
    for (;;) {
      const start = this.#starts[this.#next];
      if (start === undefined || start >= at) return at - this.#extra;
      const end = this.#ends[this.#next] as number;
      const to = Math.min(end, at);
      this.#extra += this.#extraIn(Math.max(start, this.#at), to);
      this.#at = to;
      if (end > at) return at - this.#extra;
      this.#next++;
    }
  }

  /** Two bytes make one unit, three one, four two. */
  #extraIn(start: number, end: number): number {
    let extra = 0;
    for (let i = start; i < end; i++) {
      const byte = this.#bytes.charCodeAt(i);
      if (byte < 0xc0) extra++;
      else if (byte >= 0xf0) extra--;
    }
    return extra;
  }
}
