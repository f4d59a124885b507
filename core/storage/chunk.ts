/** Reads one chunk of a transcript: about 64 KB of text. `chunk-builder.ts` says how it is laid out, `chunk-bytes.ts` reads it without making text of it. */
import { isAscii, transcode } from "node:buffer";
import { EVENT_KINDS, type SessionEvent } from "../session/session.ts";
import type { Json } from "../utils/json.ts";
import { isoOf } from "../utils/time.ts";
import { type Envelope, FLAG_CUT, FLAG_ERROR, FLAG_OK } from "./chunk-builder.ts";

/** Reads what `ChunkBuilder.take` made. */
export function decodeChunk(bytes: Buffer): Chunk {
  const split = 4 + bytes.readUInt32LE(0);
  return new Chunk(bytes.toString("utf8", 4, split), textIn(bytes.subarray(split)));
}

/** Before 24 Node makes a string of UTF-8 with letters outside of ASCII in nearly three times as long as by way of UTF-16: 0.15 ms of a full chunk. */
function textIn(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** Positions of one message's text and tool input in a chunk's text. */
interface Span {
  text: number;
  input: number;
  end: number;
}

/** Fields of a message, each decoded on access: for callers that read few fields of many messages. */
export type LazyEvent = Readonly<Omit<SessionEvent, "id" | "model" | "truncated">>;

/** A decoded chunk. Messages are put together when asked for. */
export class Chunk {
  readonly text: string;
  readonly #envelope: Envelope;
  #spans: Span[] | undefined;
  #times: Float64Array | undefined;
  /** By message: 1 + the index of its tool input in the envelope's list; 0 for none. */
  #inputs: Int32Array | undefined;

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
    const { l, x } = this.#envelope;
    const inputs = this.#inputsByIndex();
    const spans: Span[] = new Array(l.length);
    let at = 0;
    for (let index = 0; index < l.length; index++) {
      const input = at + (l[index] as number);
      const given = inputs[index] ? x[(inputs[index] as number) - 1] : undefined;
      const end = given ? input + inputLength(given[1], given[2]) : input;
      spans[index] = { text: at, input, end };
      at = end;
    }
    this.#spans = spans;
    return spans;
  }

  kind(index: number): SessionEvent["kind"] {
    return EVENT_KINDS[this.#envelope.k.charCodeAt(index) - ZERO] ?? "note";
  }
  at(index: number): string | undefined {
    this.#times ??= timesOf(this.#envelope.a);
    const at = this.#times[index];
    return at === undefined || Number.isNaN(at) ? undefined : isoOf(at);
  }
  model(index: number): string | undefined {
    return this.#word(this.#envelope.m[index]);
  }
  toolName(index: number): string | undefined {
    return this.#word(this.#envelope.n[index]);
  }
  toolUseId(index: number): string | undefined {
    const use = this.#envelope.u[index];
    return typeof use === "string" ? use : undefined;
  }
  toolInput(index: number): Json | undefined {
    const given = this.#inputsByIndex()[index];
    const found = given ? this.#envelope.x[given - 1] : undefined;
    const span = this.spans[index];
    return found && span && this.#input(found[1], found[2], span.input);
  }
  isError(index: number): boolean {
    return ((this.#envelope.f[index] ?? 0) & FLAG_ERROR) !== 0;
  }

  /** The tool's own id of the record. */
  id(index: number): string | undefined {
    const id = this.#envelope.i[index];
    return typeof id === "string" ? id : undefined;
  }
  /** Its text was longer in the log. */
  isCut(index: number): boolean {
    return ((this.#envelope.f[index] ?? 0) & FLAG_CUT) !== 0;
  }

  textOf(index: number): string {
    const span = this.spans[index];
    return span ? this.text.slice(span.text, span.input) : "";
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
    const id = this.id(index);
    if (id !== undefined) event.id = id;
    const at = this.at(index);
    if (at !== undefined) event.at = at;
    const model = this.model(index);
    if (model !== undefined) event.model = model;
    const tool = this.toolName(index);
    if (tool !== undefined) event.tool_name = tool;
    const use = this.toolUseId(index);
    if (use !== undefined) event.tool_use_id = use;
    const input = this.toolInput(index);
    if (input !== undefined) event.tool_input = input;
    const error = this.error(index);
    if (error !== undefined) event.is_error = error;
    if (this.isCut(index)) event.truncated = true;
    return event;
  }

  /** The same message; costs nothing but what is read of it, each time it is read. */
  lazy(index: number): LazyEvent {
    return new Lazy(this, index);
  }

  /** What the tool said of it; undefined when it said nothing. */
  error(index: number): boolean | undefined {
    const flags = this.#envelope.f[index] ?? 0;
    return flags & (FLAG_ERROR | FLAG_OK) ? (flags & FLAG_ERROR) !== 0 : undefined;
  }
  #inputsByIndex(): Int32Array {
    if (this.#inputs) return this.#inputs;
    const inputs = new Int32Array(this.count);
    this.#envelope.x.forEach(([index], i) => {
      inputs[index] = i + 1;
    });
    this.#inputs = inputs;
    return inputs;
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
        const item = build(value[key] as Json);
        if (key !== "__proto__") object[key] = item;
        else Object.defineProperty(object, key, { value: item, enumerable: true, writable: true, configurable: true });
      }
      return object;
    };
    return build(shape);
  }
}

/** A class, because a literal with getters takes longer to make than the whole message. */
class Lazy implements LazyEvent {
  readonly #chunk: Chunk;
  readonly #index: number;

  constructor(chunk: Chunk, index: number) {
    this.#chunk = chunk;
    this.#index = index;
  }
  get seq() {
    return this.#chunk.firstSeq + this.#index;
  }
  get kind() {
    return this.#chunk.kind(this.#index);
  }
  get text() {
    return this.#chunk.textOf(this.#index);
  }
  get at() {
    return this.#chunk.at(this.#index);
  }
  get tool_name() {
    return this.#chunk.toolName(this.#index);
  }
  get tool_use_id() {
    return this.#chunk.toolUseId(this.#index);
  }
  get tool_input() {
    return this.#chunk.toolInput(this.#index);
  }
  get is_error() {
    return this.#chunk.error(this.#index);
  }
}

const ZERO = 48;

/** Differences to times; NaN: none. */
function timesOf(differences: readonly (number | null)[]): Float64Array {
  const times = new Float64Array(differences.length);
  let last = 0;
  differences.forEach((difference, index) => {
    if (difference !== null) last += difference;
    times[index] = difference === null ? Number.NaN : last;
  });
  return times;
}

function inputLength(shape: Json, lengths: readonly number[]): number {
  let total = 0;
  for (const length of lengths) total += length + 1;
  return total + shapeLength(shape);
}

/** Characters of everything but strings. */
function shapeLength(value: Json): number {
  if (typeof value === "string") return 0;
  if (value === null || typeof value !== "object") return String(value).length + 1;
  let total = 0;
  if (Array.isArray(value)) for (const item of value) total += shapeLength(item);
  else for (const key of Object.keys(value)) total += key.length + 1 + shapeLength(value[key] as Json);
  return total;
}
