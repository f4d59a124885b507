/**
 * Cuts a log into chunks by its content, so that a row of several logs is cut the same in each: forks and compactions of a
 * session repeat its rows. Boundaries are ends of rows; a long string (a picture, a file) is a chunk of its own.
 */
import { createHash } from "node:crypto";

/** Bytes of a chunk. The least is passed over at a row with a long string, the most by one row. */
const LEAST = 16 * 2 ** 10;
const MOST = 256 * 2 ** 10;
/** A string from this length on is a chunk of its own, in pieces of so many bytes. */
const LONG = 16 * 2 ** 10;
const MOST_STRING = 2 ** 20;
/** One row of so many ends a chunk. */
const EVERY = 16;
/** Bytes at the end of a row that decide whether it does. */
const LOOKED = 256;
/** A row is read in pieces of so many bytes at most. */
const MOST_ROW = 8 * 2 ** 20;

const NEWLINE = 10;
const QUOTE = 34;

export interface Piece {
  /** SHA-256, base64url. */
  hash: string;
  from: number;
  to: number;
}

export const toChunkHash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64url");

/** The chunks of the bytes that are added, in order. Linear; holds one row and one chunk. */
export class Cutter {
  readonly pieces: Piece[] = [];
  /** Where the open chunk begins in the log. */
  #start: number;
  /** From there on. */
  #open: Buffer = Buffer.alloc(0);
  /** Bytes of the open chunk whose rows were read. */
  #seen = 0;

  /** `from`: where in the log the first byte stands. */
  constructor(from: number) {
    this.#start = from;
  }

  add(bytes: Buffer): void {
    this.#open = this.#open.length === 0 ? bytes : Buffer.concat([this.#open, bytes]);
    for (;;) {
      const newline = this.#open.indexOf(NEWLINE, this.#seen);
      const isWhole = newline >= 0 && newline - this.#seen < MOST_ROW;
      if (!isWhole && this.#open.length - this.#seen < MOST_ROW) break;
      this.#row(isWhole ? newline + 1 : this.#seen + MOST_ROW);
    }
    // What stays must not hold the block that it came in.
    if (this.#open.length < bytes.length) this.#open = Buffer.from(this.#open);
  }

  finish(): Piece[] {
    if (this.#seen < this.#open.length) this.#row(this.#open.length);
    this.#cut(this.#open.length);
    return this.pieces;
  }

  /** The row from `#seen` to `end` belongs to the open chunk, or ends it. */
  #row(end: number): void {
    if (end - this.#seen < LONG) {
      const isEnd = end >= LEAST && weigh(this.#open, Math.max(this.#seen, end - LOOKED), end) % EVERY === 0;
      this.#seen = end;
      if (isEnd || end >= MOST) this.#cut(end);
      return;
    }
    let left = end - this.#seen;
    while (left > 0) {
      // A cut moves the chunk's beginning: counted from the end of the row.
      const rowEnd = this.#seen + left;
      const quote = this.#open.indexOf(QUOTE, this.#seen + 1);
      const stop = quote < 0 || quote > rowEnd ? rowEnd : quote;
      const length = stop - this.#seen;
      left -= length;
      if (length < LONG) {
        this.#seen = stop;
        if (stop >= MOST) this.#cut(stop);
        continue;
      }
      this.#cut(this.#seen);
      for (let rest = length; rest > 0; rest -= MOST_STRING) this.#cut(Math.min(rest, MOST_STRING));
    }
  }

  #cut(length: number): void {
    if (length === 0) return;
    const bytes = this.#open.subarray(0, length);
    this.pieces.push({ hash: toChunkHash(bytes), from: this.#start, to: this.#start + length });
    this.#start += length;
    this.#open = this.#open.subarray(length);
    this.#seen = 0;
  }
}

/** FNV-1a, 32 bits. */
function weigh(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  // Its low bits alone depend on few of the bits before.
  return (hash ^ (hash >>> 15)) >>> 0;
}
