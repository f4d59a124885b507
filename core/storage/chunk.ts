/**
 * One chunk of a transcript: some 64 KB of messages as a JSON array, one a line, since an array is parsed in less time than its lines. A message
 * has the fields that its adapter yielded, its time in UTC with milliseconds. `transcript-part.ts` compresses the chunk.
 */
import { isAscii, transcode } from "node:buffer";
import { EVENT_KINDS, type SessionEvent, unknownKind } from "../session/session.ts";
import { isoAt } from "../utils/time.ts";

/** Where the text and tool input of each message begin and end in a chunk's bytes. */
export type Bounds = Uint32Array;

/** Bytes a chunk starts with room for; it grows when one message is larger. */
const ROOM = 128 * 1024;
/** Larger rooms are not retained. */
const MOST = 1024 * 1024;
const NONE = Buffer.alloc(0);
const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS);

/** The room of a builder that ended, for the next one: an import makes thousands. */
let spare: Buffer | undefined;

/** Collects messages until a chunk is full. One buffer is used again and again. */
export class ChunkBuilder {
  #bytes = takeRoom();
  #end = 0;
  #bounds: number[] = [];
  count = 0;
  /** UTF-16 units of its texts and tool inputs, as JSON. */
  size = 0;

  /** Returns the time of the message in ms since the epoch; NaN: it has none. */
  add(event: SessionEvent): number {
    const { seq, kind, id, model, tool_name, tool_use_id, is_error, text, tool_input } = event;
    if (!KINDS.has(kind)) throw new TypeError(unknownKind(kind));
    const time = event.at === undefined ? Number.NaN : Date.parse(event.at);
    const at = Number.isNaN(time) ? undefined : isoAt(time);
    const truncated = event.truncated || undefined;
    const head = toJson({ seq, kind, id, at, model, tool_name, tool_use_id, is_error, truncated });
    let body = toJson(text);
    if (tool_input !== undefined) body += `,"tool_input":${toJson(tool_input)}`;
    this.#push(`${this.count === 0 ? "[" : ",\n"}${head.slice(0, -1)},"text":`);
    const from = this.#end;
    this.#push(body);
    this.#bounds.push(from, this.#end);
    this.#push("}");
    this.count++;
    this.size += body.length;
    return time;
  }

  /**
   * The finished chunk before compression, the bounds of its texts and tool inputs, and how many UTF-16 units these have. Bytes are valid until
   * the next `add`. The builder is empty again.
   */
  take(): { bytes: Buffer; units: number; bounds: Bounds } {
    this.#push("]");
    const taken = {
      bytes: this.#bytes.subarray(0, this.#end),
      units: this.size,
      bounds: Uint32Array.from(this.#bounds),
    };
    this.#bounds = [];
    this.#end = this.count = this.size = 0;
    return taken;
  }

  /** Gives back what it holds. It takes no more messages. */
  end(): void {
    if (this.#bytes.length <= MOST) spare = this.#bytes;
    this.#bytes = NONE;
  }

  #push(text: string): void {
    const needed = this.#end + text.length * 3;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, needed));
      this.#bytes.copy(grown, 0, 0, this.#end);
      this.#bytes = grown;
    }
    this.#end += this.#bytes.write(text, this.#end, "utf8");
  }
}

/** Messages of a chunk, as `ChunkBuilder.take` made it. */
export function decodeChunk(bytes: Buffer): SessionEvent[] {
  return JSON.parse(textIn(bytes)) as SessionEvent[];
}

/** Before 24 Node makes a string of UTF-8 with letters outside of ASCII in nearly three times as long as by way of UTF-16: 0.15 ms of a full chunk. */
function textIn(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** Half of a surrogate pair becomes U+FFFD, as in UTF-8: `JSON.stringify` escapes it, and many readers of JSON refuse that escape. */
function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[0-9a-f]{3}|.)/g, (one) => (one.startsWith("\\ud") ? "\ufffd" : one));
}

function takeRoom(): Buffer {
  const room = spare ?? Buffer.allocUnsafeSlow(ROOM);
  spare = undefined;
  return room;
}
