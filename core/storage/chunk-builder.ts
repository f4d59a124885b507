/**
 * Puts a chunk of a transcript together. Layout before compression: `u32 envelope bytes | envelope JSON | text`.
 *
 * The text of all messages and the words of their tool inputs are concatenated, unescaped, so that a search reads what a
 * person would read; the envelope says whose each stretch is and how to put a tool input together again.
 */
import { EVENT_KINDS, type SessionEvent, unknownKind } from "../session/session.ts";
import type { Json } from "../utils/json.ts";

/** Columns, one value a message; arrays end after their last value that says something. */
export interface Envelope {
  /** Words used often: models and tool names. */
  w: string[];
  /** seq of the first message. */
  s: number;
  /** Kind of each message, one digit. */
  k: string;
  /** ms since the epoch, each as the difference to the last one that had a time; null: none. */
  a: (number | null)[];
  /** Length of the text in UTF-16 units. */
  l: number[];
  f: number[];
  /** The tool's own id of the record. */
  i: (string | 0)[];
  m: number[];
  n: number[];
  u: (string | 0)[];
  /** Tool inputs by index: shape, then the lengths of its strings. */
  x: [index: number, shape: Json, lengths: number[]][];
}

/** Where each message's tool input begins and where it ends, in bytes of the text, one after another. */
export type Bounds = Uint32Array;

export const FLAG_ERROR = 1;
export const FLAG_OK = 2;
export const FLAG_CUT = 4;

const emptyEnvelope = (): Envelope => ({
  w: [],
  s: 0,
  k: "",
  a: [],
  l: [],
  f: [],
  i: [],
  m: [],
  n: [],
  u: [],
  x: [],
});

/** Bytes of text a chunk starts with room for; it grows when one message is larger. */
const ROOM = 96 * 1024;
/** Larger rooms are not kept. */
const MOST = 1024 * 1024;

/** The room of a builder that ended, for the next one, and where finished chunks are put together: an import makes thousands of both. */
let spare: Buffer | undefined;
let whole: Buffer | undefined;
const NONE = Buffer.alloc(0);

/** Collects events until a chunk is full. One buffer is used again and again. */
export class ChunkBuilder {
  #words = new Map<string, number>();
  #envelope = emptyEnvelope();
  #bounds: number[] = [];
  #bytes = takeRoom();
  #end = 0;
  #last = 0;
  /** UTF-16 units of text so far. */
  size = 0;

  get count(): number {
    return this.#envelope.l.length;
  }

  /** Answers when it was, in ms since the epoch; NaN: the message does not say. */
  add(event: SessionEvent): number {
    const e = this.#envelope;
    const index = e.l.length;
    if (index === 0) e.s = event.seq;
    const at = event.at === undefined ? Number.NaN : Date.parse(event.at);
    const kind = EVENT_KINDS.indexOf(event.kind);
    if (kind < 0) throw new TypeError(unknownKind(event.kind));
    e.k += kind;
    if (Number.isNaN(at)) e.a.push(null);
    else {
      e.a.push(at - this.#last);
      this.#last = at;
    }
    e.l.push(event.text.length);
    e.f.push(
      (event.is_error === undefined ? 0 : event.is_error ? FLAG_ERROR : FLAG_OK) | (event.truncated ? FLAG_CUT : 0),
    );
    if (event.id !== undefined) fill(e.i, index, event.id);
    if (event.model !== undefined) fill(e.m, index, this.#word(event.model));
    if (event.tool_name !== undefined) fill(e.n, index, this.#word(event.tool_name));
    if (event.tool_use_id !== undefined) fill(e.u, index, event.tool_use_id);
    this.#push(event.text);
    this.#bounds.push(this.#end);
    if (event.tool_input !== undefined) {
      const lengths: number[] = [];
      e.x.push([index, this.#take(event.tool_input, lengths), lengths]);
    }
    this.#bounds.push(this.#end);
    return at;
  }

  /**
   * The finished chunk: its bytes before compression, those of them that are its text, how many UTF-16 units that is, and whose each
   * stretch is. Bytes are valid until any builder's next `take`. The builder is empty again.
   */
  take(): { bytes: Buffer; text: Buffer; units: number; bounds: Bounds } {
    const e = this.#envelope;
    e.w = [...this.#words.keys()];
    const head = Buffer.from(JSON.stringify(e));
    const bytes = wholeOf(4 + head.length + this.#end);
    bytes.writeUInt32LE(head.length, 0);
    head.copy(bytes, 4);
    this.#bytes.copy(bytes, 4 + head.length, 0, this.#end);
    const units = this.size;
    const bounds = Uint32Array.from(this.#bounds);
    this.#words = new Map();
    this.#envelope = emptyEnvelope();
    this.#bounds = [];
    this.#end = 0;
    this.#last = 0;
    this.size = 0;
    return { bytes, text: bytes.subarray(4 + head.length), units, bounds };
  }

  /** Gives back what it holds. It takes no more events. */
  end(): void {
    if (this.#bytes.length <= MOST) spare = this.#bytes;
    this.#bytes = NONE;
  }

  #word(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known + 1;
    this.#words.set(word, this.#words.size);
    return this.#words.size;
  }

  #push(text: string): void {
    if (text === "") return;
    this.size += text.length;
    this.#room(text.length * 3);
    this.#end += this.#bytes.write(text, this.#end, "utf8");
  }

  #newline(): void {
    this.#room(1);
    this.#bytes[this.#end++] = 10;
    this.size++;
  }

  #room(needed: number): void {
    if (this.#end + needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + needed));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }

  /** Moves the words of a tool input to the text, one a line, and returns what is left of it: its shape. */
  #take(value: Json, lengths: number[]): Json {
    if (typeof value === "string") {
      lengths.push(value.length);
      this.#push(value);
      this.#newline();
      return "";
    }
    if (value === null || typeof value !== "object") {
      // As in the envelope: an infinite number (1e999 in a log) becomes null there, and lengths are computed from it.
      this.#push(JSON.stringify(value));
      this.#newline();
      return value;
    }
    if (Array.isArray(value)) return value.map((item) => this.#take(item, lengths));
    const shape: { [key: string]: Json } = {};
    for (const key of Object.keys(value)) {
      this.#push(key);
      this.#newline();
      const item = this.#take(value[key] as Json, lengths);
      if (key === "__proto__")
        Object.defineProperty(shape, key, { value: item, enumerable: true, writable: true, configurable: true });
      else shape[key] = item;
    }
    return shape;
  }
}

function takeRoom(): Buffer {
  const room = spare ?? Buffer.allocUnsafeSlow(ROOM);
  spare = undefined;
  return room;
}

function wholeOf(length: number): Buffer {
  if (length > MOST) return Buffer.allocUnsafeSlow(length);
  if (!whole || whole.length < length) whole = Buffer.allocUnsafeSlow(Math.max(length, 2 * ROOM));
  return whole.subarray(0, length);
}

/** Sets `list[index]`, with 0 for what was left out before it. */
function fill<T>(list: (T | 0)[], index: number, value: T): void {
  while (list.length < index) list.push(0);
  list.push(value);
}
