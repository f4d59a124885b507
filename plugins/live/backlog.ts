/** The newest messages of a feed, ready to be sent: what the archive does not hold yet, and a few more for quick reconnects. */
import type { SessionEvent } from "sessarc";
import { messagesFrame, toWire } from "./frames.ts";
import { addUp } from "./position.ts";

/** JSON characters kept; older messages are read again for those who need them. */
const KEEP_CHARS = 16 << 20;
/** Limits of one frame. */
const FRAME_CHARS = 256 << 10;
const FRAME_MESSAGES = 500;

interface Frame {
  bytes: Uint8Array;
  /** seq of the message after its last. */
  end: number;
}

export class Backlog {
  /** seq of the oldest message kept. */
  first = 0;
  /** seq of the message that comes next. */
  next = 0;
  /** Frames made: for tests, however many clients there are. */
  made = 0;
  /** Sum of the message before the first. */
  #edge: number | undefined;
  #items: { json: string; sum: number }[] = [];
  #chars = 0;
  #frames = new Map<number, Frame>();

  push(event: SessionEvent): void {
    const json = toWire(event);
    this.#items.push({ json, sum: addUp(event) });
    this.#chars += json.length;
    this.next = event.seq + 1;
    this.#frames.clear();
  }

  /** Nothing is kept, and `next` is what comes next; `edge`: sum of the message before it. */
  reset(next: number, edge?: number): void {
    this.#edge = edge;
    this.#items = [];
    this.#chars = 0;
    this.first = this.next = next;
    this.#frames.clear();
  }

  /** Removes the messages from `from` on. */
  cut(from: number): void {
    if (from <= this.first) {
      this.reset(from);
      return;
    }
    for (const { json } of this.#items.splice(from - this.first)) this.#chars -= json.length;
    this.next = from;
    this.#frames.clear();
  }

  /** Removes the messages before `first`, and more above the limit. */
  trim(first: number): void {
    let count = Math.max(0, Math.min(first, this.next) - this.first);
    let chars = this.#chars;
    for (let i = 0; i < this.#items.length; i++) {
      if (i >= count && chars <= KEEP_CHARS) break;
      chars -= (this.#items[i] as { json: string }).json.length;
      count = Math.max(count, i + 1);
    }
    if (count === 0) return;
    this.#edge = this.#items.splice(0, count).at(-1)?.sum;
    this.#chars = chars;
    this.first += count;
    this.#frames.clear();
  }

  sumAt(seq: number): number | undefined {
    return seq === this.first - 1 ? this.#edge : this.#items[seq - this.first]?.sum;
  }

  /** Messages from `seq` on in one frame; the same bytes for every client at that position. `seq` must be in the backlog and not its end. */
  frameFrom(seq: number, idAt: (end: number) => string): Frame {
    let frame = this.#frames.get(seq);
    if (!frame) {
      const from = seq - this.first;
      let end = from;
      for (let chars = 0; end < this.#items.length && end - from < FRAME_MESSAGES && chars < FRAME_CHARS; end++)
        chars += (this.#items[end] as { json: string }).json.length;
      const messages = this.#items.slice(from, end).map(({ json }) => json);
      frame = { bytes: messagesFrame(idAt(this.first + end), messages), end: this.first + end };
      this.#frames.set(seq, frame);
      this.made++;
    }
    return frame;
  }
}

/** The same limits for messages that are not kept. */
export function* inFrames(events: readonly SessionEvent[]): Generator<SessionEvent[]> {
  let part: SessionEvent[] = [];
  let chars = 0;
  for (const event of events) {
    part.push(event);
    chars += event.text.length;
    if (part.length < FRAME_MESSAGES && chars < FRAME_CHARS) continue;
    yield part;
    part = [];
    chars = 0;
  }
  if (part.length > 0) yield part;
}
