/** Which messages of two texts of one session are the same. */

import type { SessionEvent } from "sessarc";
import { hash53 } from "sessarc/adapter";

/** What `createNumbering` gives a message, and how much of it there is. */
export interface KnownMessage {
  /** Without regard to what else the text has. */
  name: number;
  identity: number;
  size: number;
}

/**
 * Names the messages of one text, in order. A message with an id of its tool keeps its name when it is edited; any other is named by
 * what it says. Times do not matter: some assistants rewrite a log with other times.
 */
export function createNumbering(): (event: SessionEvent) => KnownMessage {
  const times = new Map<number, number>();
  return (event) => {
    const name = toName(event);
    const count = (times.get(name) ?? 0) + 1;
    times.set(name, count);
    return { name, identity: count === 1 ? name : hash53(`${name} ${count}`), size: sizeOf(event) };
  };
}

const isNamed = ({ id, tool_use_id }: SessionEvent) => id !== undefined || tool_use_id !== undefined;

export function toName(event: SessionEvent): number {
  const { kind, id, tool_use_id, tool_name, text } = event;
  if (isNamed(event)) return hash53(`${kind}\0${id ?? ""}\0${tool_use_id ?? ""}\0${tool_name ?? ""}`);
  return hash53(`${kind}\0${toInput(event)}\0${text}`);
}

const toInput = ({ tool_input }: SessionEvent) => (tool_input === undefined ? "" : JSON.stringify(tool_input));

/** A failure counts for more than its text: the same message without it says less. */
const FAILED = 2 ** 40;
const sizeOf = (event: SessionEvent) =>
  event.text.length + toInput(event).length + (event.is_error === true ? FAILED : 0);

/** Messages at the end of the text before that may have been half-written. */
const GROWING = 8;

/** The messages of a text and of those kept beside it. About 60 bytes each. */
export class Seen {
  readonly #sizes = new Map<number, number>();
  readonly #number = createNumbering();
  readonly #growingFrom: number;
  readonly #growing = new Map<number, SessionEvent>();

  /** `before`: messages of the stored text, whose last ones may go on where they have no id. */
  constructor(before: number) {
    this.#growingFrom = before - GROWING;
  }

  /** The next message of the text. */
  add(event: SessionEvent): void {
    this.put(this.#number(event));
    if (event.seq >= this.#growingFrom && event.seq < this.#growingFrom + GROWING) this.#growing.set(event.seq, event);
  }

  put({ identity, size }: KnownMessage): void {
    this.#sizes.set(identity, size);
  }

  /** Nothing of the message is lost. */
  holds(event: SessionEvent, { identity, size }: KnownMessage): boolean {
    const found = this.#sizes.get(identity);
    if (found !== undefined) return found >= size;
    if (isNamed(event)) return false;
    const now = this.#growing.get(event.seq);
    if (now === undefined || now.kind !== event.kind) return false;
    // The same message there is no longer one, but one of several that say the same: they are numbered.
    return toName(now) !== toName(event) && now.text.startsWith(event.text);
  }
}
