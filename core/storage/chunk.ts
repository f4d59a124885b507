/**
 * One chunk of a transcript: about 64 KB of text. Layout before compression: `u32 envelope bytes | envelope JSON | text`.
 *
 * The text of all messages and the words of their tool inputs stand one after another, unescaped, so that a search looks at what a
 * person would read; the envelope says whose each stretch is and how to put a tool input together again.
 */
import { EVENT_KINDS, type Json, type SessionEvent } from "../session.ts";

/** `[kind, at, text length, id, model, tool name, tool use id, flags, input shape, input lengths]`, cut after the last value. */
type Row = [number, number | null, number, ...(Json | undefined)[]];
interface Envelope {
  /** Words used often: models and tool names. */
  w: string[];
  /** seq of the first row. */
  s: number;
  r: Row[];
}

const FLAG_ERROR = 1;
const FLAG_OK = 2;
const FLAG_CUT = 4;
const FLAG_INPUT = 8;

/** Collects events until a chunk is full. */
export class ChunkBuilder {
  #words = new Map<string, number>();
  #rows: Row[] = [];
  #parts: string[] = [];
  #first = 0;
  /** Characters of text so far. */
  size = 0;

  get count(): number {
    return this.#rows.length;
  }

  add(event: SessionEvent): void {
    if (this.#rows.length === 0) this.#first = event.seq;
    const at = event.at === undefined ? Number.NaN : Date.parse(event.at);
    const flags =
      (event.is_error === undefined ? 0 : event.is_error ? FLAG_ERROR : FLAG_OK) |
      (event.truncated ? FLAG_CUT : 0) |
      (event.tool_input === undefined ? 0 : FLAG_INPUT);
    const row: Row = [
      EVENT_KINDS.indexOf(event.kind),
      Number.isNaN(at) ? null : at,
      event.text.length,
      event.id ?? null,
      this.#word(event.model),
      this.#word(event.tool_name),
      event.tool_use_id ?? null,
      flags,
    ];
    this.#push(event.text);
    if (event.tool_input !== undefined) {
      const lengths: number[] = [];
      row.push(this.#take(event.tool_input, lengths), lengths);
    }
    while (row.length > 3 && (row.at(-1) === null || row.at(-1) === 0) && !(flags & FLAG_INPUT)) row.pop();
    this.#rows.push(row);
  }

  /** The finished chunk; the builder is empty again. */
  take(): { envelope: string; text: string } {
    const envelope: Envelope = { w: [...this.#words.keys()], s: this.#first, r: this.#rows };
    const out = { envelope: JSON.stringify(envelope), text: this.#parts.join("") };
    this.#words = new Map();
    this.#rows = [];
    this.#parts = [];
    this.size = 0;
    return out;
  }

  #word(word: string | undefined): number {
    if (word === undefined) return 0;
    const known = this.#words.get(word);
    if (known !== undefined) return known + 1;
    this.#words.set(word, this.#words.size);
    return this.#words.size;
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.size += text.length;
  }

  /** Moves the words of a tool input to the text, one a line, and returns what is left of it: its shape. */
  #take(value: Json, lengths: number[]): Json {
    if (typeof value === "string") {
      lengths.push(value.length);
      this.#push(value);
      this.#push("\n");
      return "";
    }
    if (value === null || typeof value !== "object") {
      this.#push(`${value}\n`);
      return value;
    }
    if (Array.isArray(value)) return value.map((item) => this.#take(item, lengths));
    const shape: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) {
      this.#push(`${key}\n`);
      Object.defineProperty(shape, key, {
        value: this.#take(item, lengths),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return shape;
  }
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

  constructor(envelope: string, text: string) {
    this.#envelope = JSON.parse(envelope) as Envelope;
    this.text = text;
  }

  get firstSeq(): number {
    return this.#envelope.s;
  }
  get count(): number {
    return this.#envelope.r.length;
  }

  /** Stretches of `text`, message by message. Linear in the chunk, once. */
  get spans(): readonly Span[] {
    if (this.#spans) return this.#spans;
    const spans: Span[] = [];
    let at = 0;
    for (const row of this.#envelope.r) {
      const text = at;
      const input = text + row[2];
      at = input;
      if (((row[7] as number | undefined) ?? 0) & FLAG_INPUT)
        at += inputLength(row[8] ?? null, (row[9] as number[] | undefined) ?? []);
      spans.push({ text, input, end: at });
    }
    this.#spans = spans;
    return spans;
  }

  kind(index: number): SessionEvent["kind"] {
    return EVENT_KINDS[this.#row(index)[0]] ?? "note";
  }
  at(index: number): string | undefined {
    const at = this.#row(index)[1];
    return at === null ? undefined : new Date(at).toISOString();
  }
  model(index: number): string | undefined {
    return this.#word(this.#row(index)[4]);
  }
  toolName(index: number): string | undefined {
    return this.#word(this.#row(index)[5]);
  }
  isError(index: number): boolean {
    return (((this.#row(index)[7] as number | undefined) ?? 0) & FLAG_ERROR) !== 0;
  }

  /** The message at `index` of this chunk, as the adapter yielded it. */
  event(index: number): SessionEvent {
    const row = this.#row(index);
    const span = this.spans[index];
    if (!span) throw new RangeError(`chunk has no message ${index}`);
    const event: SessionEvent = {
      seq: this.#envelope.s + index,
      kind: this.kind(index),
      text: this.text.slice(span.text, span.input),
    };
    const flags = (row[7] as number | undefined) ?? 0;
    const at = this.at(index);
    if (typeof row[3] === "string") event.id = row[3];
    if (at !== undefined) event.at = at;
    const model = this.model(index);
    if (model !== undefined) event.model = model;
    const tool = this.toolName(index);
    if (tool !== undefined) event.tool_name = tool;
    if (typeof row[6] === "string") event.tool_use_id = row[6];
    if (flags & FLAG_INPUT) event.tool_input = this.#input(row, span);
    if (flags & (FLAG_ERROR | FLAG_OK)) event.is_error = (flags & FLAG_ERROR) !== 0;
    if (flags & FLAG_CUT) event.truncated = true;
    return event;
  }

  #row(index: number): Row {
    const row = this.#envelope.r[index];
    if (!row) throw new RangeError(`chunk has no message ${index}`);
    return row;
  }
  #word(index: Json | undefined): string | undefined {
    return typeof index === "number" && index > 0 ? this.#envelope.w[index - 1] : undefined;
  }

  #input(row: Row, span: Span): Json {
    const lengths = (row[9] as number[] | undefined) ?? [];
    let at = span.input;
    let next = 0;
    const build = (shape: Json): Json => {
      if (typeof shape === "string") {
        const length = lengths[next++] ?? 0;
        const value = this.text.slice(at, at + length);
        at += length + 1;
        return value;
      }
      if (shape === null || typeof shape !== "object") {
        at += String(shape).length + 1;
        return shape;
      }
      if (Array.isArray(shape)) return shape.map(build);
      const object: { [key: string]: Json } = {};
      for (const key of Object.keys(shape)) {
        at += key.length + 1;
        Object.defineProperty(object, key, {
          value: build(shape[key] as Json),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      }
      return object;
    };
    return build((row[8] as Json | undefined) ?? null);
  }
}

function inputLength(shape: Json, lengths: number[]): number {
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
