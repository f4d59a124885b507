/**
 * One chunk of a transcript: about 64 KB of text. Layout before compression: `u32 envelope bytes | envelope JSON | text`.
 *
 * The text of all messages and the words of their tool inputs stand one after another, unescaped, so that a search looks at what a
 * person would read; the envelope says whose each stretch is and how to put a tool input together again.
 */
import { EVENT_KINDS, type Json, type SessionEvent } from "../session.ts";

/** Columns, one value a message; arrays end after their last value that says something. */
interface Envelope {
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

const FLAG_ERROR = 1;
const FLAG_OK = 2;
const FLAG_CUT = 4;

const emptyEnvelope = (): Envelope => ({ w: [], s: 0, k: "", a: [], l: [], f: [], i: [], m: [], n: [], u: [], x: [] });

/** Bytes of text a chunk starts with room for; it grows when one message is larger. */
const ROOM = 96 * 1024;

/** Collects events until a chunk is full. One buffer is used again and again. */
export class ChunkBuilder {
  #words = new Map<string, number>();
  #envelope = emptyEnvelope();
  #parts: string[] = [];
  #bytes = Buffer.allocUnsafeSlow(ROOM);
  #end = 0;
  #last = 0;
  /** UTF-16 units of text so far. */
  size = 0;

  get count(): number {
    return this.#envelope.l.length;
  }

  add(event: SessionEvent): void {
    const e = this.#envelope;
    const index = e.l.length;
    if (index === 0) e.s = event.seq;
    const at = event.at === undefined ? Number.NaN : Date.parse(event.at);
    e.k += EVENT_KINDS.indexOf(event.kind);
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
    if (event.tool_input !== undefined) {
      const lengths: number[] = [];
      e.x.push([index, this.#take(event.tool_input, lengths), lengths]);
    }
  }

  /**
   * The finished chunk: its bytes before compression and the strings its text is made of. The builder is empty again. `bytes` is only
   * good until the next `add`.
   */
  take(): { bytes: Buffer; parts: readonly string[] } {
    const e = this.#envelope;
    e.w = [...this.#words.keys()];
    const head = Buffer.from(JSON.stringify(e));
    const bytes = Buffer.allocUnsafe(4 + head.length + this.#end);
    bytes.writeUInt32LE(head.length, 0);
    head.copy(bytes, 4);
    this.#bytes.copy(bytes, 4 + head.length, 0, this.#end);
    const parts = this.#parts;
    this.#words = new Map();
    this.#envelope = emptyEnvelope();
    this.#parts = [];
    this.#end = 0;
    this.#last = 0;
    this.size = 0;
    return { bytes, parts };
  }

  #word(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known + 1;
    this.#words.set(word, this.#words.size);
    return this.#words.size;
  }

  #push(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
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
      this.#push(String(value));
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

/** Sets `list[index]`, with 0 for what was left out before it. */
function fill<T>(list: (T | 0)[], index: number, value: T): void {
  while (list.length < index) list.push(0);
  list.push(value);
}

/** Reads what `ChunkBuilder.take` made. */
export function decodeChunk(bytes: Buffer): Chunk {
  const split = 4 + bytes.readUInt32LE(0);
  return new Chunk(bytes.toString("utf8", 4, split), bytes.toString("utf8", split));
}

/** Where one message's text and tool input stand in a chunk's text. */
export interface Span {
  text: number;
  input: number;
  end: number;
}

/** A decoded chunk. Spans are found at once; messages are put together when asked for. */
export class Chunk {
  readonly text: string;
  readonly #envelope: Envelope;
  #spans: Span[] | undefined;
  #times: (number | undefined)[] | undefined;
  #inputs: Map<number, Envelope["x"][number]> | undefined;

  constructor(envelope: string, text: string) {
    this.#envelope = JSON.parse(envelope) as Envelope;
    this.text = text;
  }

  get firstSeq(): number {
    return this.#envelope.s;
  }
  get count(): number {
    return this.#envelope.l.length;
  }

  /** Stretches of `text`, message by message. Linear in the chunk, once. */
  get spans(): readonly Span[] {
    if (this.#spans) return this.#spans;
    const spans: Span[] = [];
    const inputs = this.#inputsByIndex();
    let at = 0;
    this.#envelope.l.forEach((length, index) => {
      const input = at + length;
      const given = inputs.get(index);
      const end = given ? input + inputLength(given[1], given[2]) : input;
      spans.push({ text: at, input, end });
      at = end;
    });
    this.#spans = spans;
    return spans;
  }

  kind(index: number): SessionEvent["kind"] {
    return EVENT_KINDS[Number(this.#envelope.k[index])] ?? "note";
  }
  at(index: number): string | undefined {
    if (!this.#times) {
      let last = 0;
      this.#times = this.#envelope.a.map((difference) => {
        if (difference === null) return undefined;
        last += difference;
        return last;
      });
    }
    const at = this.#times[index];
    return at === undefined ? undefined : new Date(at).toISOString();
  }
  model(index: number): string | undefined {
    return this.#word(this.#envelope.m[index]);
  }
  toolName(index: number): string | undefined {
    return this.#word(this.#envelope.n[index]);
  }
  isError(index: number): boolean {
    return ((this.#envelope.f[index] ?? 0) & FLAG_ERROR) !== 0;
  }

  /** The message at `index` of this chunk, as the adapter yielded it. */
  event(index: number): SessionEvent {
    const e = this.#envelope;
    const span = this.spans[index];
    if (!span) throw new RangeError(`chunk has no message ${index}`);
    const event: SessionEvent = {
      seq: e.s + index,
      kind: this.kind(index),
      text: this.text.slice(span.text, span.input),
    };
    const id = e.i[index];
    if (typeof id === "string") event.id = id;
    const at = this.at(index);
    if (at !== undefined) event.at = at;
    const model = this.model(index);
    if (model !== undefined) event.model = model;
    const tool = this.toolName(index);
    if (tool !== undefined) event.tool_name = tool;
    const use = e.u[index];
    if (typeof use === "string") event.tool_use_id = use;
    const given = this.#inputsByIndex().get(index);
    if (given) event.tool_input = this.#input(given[1], given[2], span.input);
    const flags = e.f[index] ?? 0;
    if (flags & (FLAG_ERROR | FLAG_OK)) event.is_error = (flags & FLAG_ERROR) !== 0;
    if (flags & FLAG_CUT) event.truncated = true;
    return event;
  }

  #inputsByIndex(): Map<number, Envelope["x"][number]> {
    this.#inputs ??= new Map(this.#envelope.x.map((given) => [given[0], given]));
    return this.#inputs;
  }
  #word(index: number | undefined): string | undefined {
    return index ? this.#envelope.w[index - 1] : undefined;
  }

  #input(shape: Json, lengths: readonly number[], start: number): Json {
    let at = start;
    let next = 0;
    const build = (value: Json): Json => {
      if (typeof value === "string") {
        const length = lengths[next++] ?? 0;
        const text = this.text.slice(at, at + length);
        at += length + 1;
        return text;
      }
      if (value === null || typeof value !== "object") {
        at += String(value).length + 1;
        return value;
      }
      if (Array.isArray(value)) return value.map(build);
      const object: { [key: string]: Json } = {};
      for (const key of Object.keys(value)) {
        at += key.length + 1;
        Object.defineProperty(object, key, {
          value: build(value[key] as Json),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      }
      return object;
    };
    return build(shape);
  }
}

function inputLength(shape: Json, lengths: readonly number[]): number {
  let total = 0;
  for (const length of lengths) total += length + 1;
  const walk = (value: Json): void => {
    if (typeof value === "string") return;
    if (value === null || typeof value !== "object") total += String(value).length + 1;
    else if (Array.isArray(value)) value.forEach(walk);
    else {
      for (const key of Object.keys(value)) {
        total += key.length + 1;
        walk(value[key] as Json);
      }
    }
  };
  walk(shape);
  return total;
}
