/** The book of a session's replies, as the catalogue keeps it: every keyed reply any version of its log had, in about 18 bytes each. */
import type { Held } from "./claims.ts";
import { computeWeight, type PackedReplies, type Reply, replyAt } from "./replies.ts";

export interface Entry extends Reply {
  /** Another session owns it. */
  lost: boolean;
  /** Only an earlier version of the log has it. */
  earlier: boolean;
}
export type Book = Map<number, Entry>;

export function toBook(replies: PackedReplies | null): Book {
  const book: Book = new Map();
  if (!replies) return book;
  for (let i = 0; i < replies.hashes.length; i++) {
    const { hash, quarter, model, tokens } = replyAt(replies, i);
    const other = book.get(hash);
    if (!other || computeWeight(tokens) > computeWeight(other.tokens))
      book.set(hash, { hash, quarter, model, tokens, lost: false, earlier: false });
  }
  return book;
}

const LOST = 1;
const EARLIER = 2;
/** Of one entry: hash, flags, and seven numbers of at most eight bytes. */
const MOST = 7 + 1 + 7 * 8;

export function encodeBook(book: Book): Uint8Array {
  const models: string[] = [];
  for (const { model } of book.values()) if (!models.includes(model)) models.push(model);
  const head = Buffer.from(JSON.stringify(models));
  const bytes = Buffer.alloc(head.length + 16 + book.size * MOST);
  let at = 0;
  const put = (value: number) => {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
    bytes[at++] = rest;
  };
  put(head.length);
  at += head.copy(bytes, at);
  put(book.size);
  for (const { hash, lost, earlier, quarter, model, tokens } of book.values()) {
    bytes.writeUIntLE(hash % 2 ** 32, at, 4);
    bytes.writeUIntLE(Math.floor(hash / 2 ** 32), at + 4, 3);
    at += 7;
    bytes[at++] = (lost ? LOST : 0) | (earlier ? EARLIER : 0);
    put(quarter + 1);
    put(models.indexOf(model));
    for (const field of FIELDS) put(tokens[field]);
  }
  return new Uint8Array(bytes.subarray(0, at));
}

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** Reads what `encodeBook` made, entry by entry. About 100 ns each. */
export function* listEntries(stored: Uint8Array): Generator<Entry> {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  let at = 0;
  const take = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const length = take();
  const models = JSON.parse(bytes.toString("utf8", at, at + length)) as string[];
  at += length;
  for (let left = take(); left > 0; left--) {
    const hash = bytes.readUIntLE(at, 4) + bytes.readUIntLE(at + 4, 3) * 2 ** 32;
    const flags = bytes[at + 7] ?? 0;
    at += 8;
    const quarter = take() - 1;
    const model = models[take()] ?? "unknown";
    const [input, output, cacheWrite5m, cacheWrite1h, cacheRead] = [take(), take(), take(), take(), take()];
    const tokens = { input, output, cacheWrite5m, cacheWrite1h, cacheRead };
    yield { hash, quarter, model, tokens, lost: (flags & LOST) !== 0, earlier: (flags & EARLIER) !== 0 };
  }
}

export const decodeBook = (bytes: Uint8Array): Book => new Map([...listEntries(bytes)].map((one) => [one.hash, one]));

/** All replies of a stored book, also those that another session owns. */
export function* heldBy(stored: Uint8Array): Generator<Held> {
  for (const { hash, tokens } of listEntries(stored)) yield { hash, weight: computeWeight(tokens) };
}
