/** Reads a chunk's text as bytes: whoever counts messages needs to know where they begin, and no text. */
import { Chunk } from "./chunk.ts";
import { type Bounds, boundsOf, type Envelope } from "./chunk-builder.ts";

export interface ChunkOutline {
  /** Text and tool inputs of all messages, UTF-8. */
  text: Buffer;
  bounds(): Bounds;
  /** All else, as a chunk whose `text` is empty: some 40 µs. */
  outline(): Chunk;
}

export function outlineChunk(bytes: Buffer): ChunkOutline {
  const split = 4 + bytes.readUInt32LE(0);
  const text = bytes.subarray(split);
  const outline = () => new Chunk(bytes.toString("utf8", 4, split), "");
  return { text, outline, bounds: () => boundsIn(bytes.subarray(4, split), text) ?? walkedBounds(outline(), text) };
}

const LENGTHS = Buffer.from(',"l":[');
const BEHIND = Buffer.from(',"f":[');

/** From the columns that say so, a fifth of an envelope; undefined in chunks of before. A quote in a name is escaped, so it is no column's. */
function boundsIn(envelope: Buffer, text: Buffer): Bounds | undefined {
  const from = envelope.indexOf(LENGTHS) + 1;
  const columns = envelope.toString("latin1", from, envelope.indexOf(BEHIND, from));
  const { l, d, t } = JSON.parse(`{${columns}}`) as Pick<Envelope, "l" | "d" | "t">;
  if (!d || !t) return undefined;
  const bounds = boundsOf({ l, d, t });
  return (bounds.at(-1) ?? 0) === text.length ? bounds : undefined;
}

/** Spans are told in UTF-16 units. */
function walkedBounds({ spans }: Chunk, text: Buffer): Bounds {
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
