/**
 * Signatures of many chunks turned around: a row for each hash of five letters, in it a bit for each chunk. What a word is not in is ruled
 * out by reading a few rows, whatever the archive holds, and nothing of it stays in memory.
 *
 * File: "SESSARCX" | chunks, sessions (4 bytes each) | for each session its key (8) and its chunks (4) | checksum of all that (4) | the rows, each
 * with its checksum (4). A session's chunks stand side by side.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { mustYield, yieldNow } from "sessarc";
import { toFives } from "./signature.ts";

const MAGIC = Buffer.from("SESSARCX", "latin1");
const HEAD = 16;
const ENTRY = 12;
const ROWS_LOG2 = 15;

/** A session's chunks in a file of columns. */
export interface Columns {
  file: ColumnFile;
  /** The session's, as `Signed` has it. */
  key: string;
  from: number;
  count: number;
}

/** What a file is made of. `key`: 8 bytes as hex, another one whenever the session's text is. */
export interface Signed {
  key: string;
  signatures: readonly Uint8Array[];
}

/** Bytes of a file over `sessions`. About 40 µs a chunk, in slices. */
export async function turnAround(sessions: readonly Signed[]): Promise<Buffer> {
  const chunks = sessions.reduce((sum, { signatures }) => sum + signatures.length, 0);
  const width = Math.ceil(chunks / 8);
  const head = Buffer.alloc(HEAD + sessions.length * ENTRY + 4);
  MAGIC.copy(head);
  head.writeUInt32LE(chunks, 8);
  head.writeUInt32LE(sessions.length, 12);
  sessions.forEach(({ key, signatures }, i) => {
    head.write(key, HEAD + i * ENTRY, "hex");
    head.writeUInt32LE(signatures.length, HEAD + i * ENTRY + 8);
  });
  head.writeUInt32LE(crc32(head.subarray(0, -4)), head.length - 4);
  const bytes = Buffer.alloc(head.length + ((width + 4) << ROWS_LOG2));
  head.copy(bytes);
  const rows = bytes.subarray(head.length);
  let column = 0;
  for (const { signatures } of sessions) {
    for (const signature of signatures) {
      const at = column >>> 3;
      const bit = 1 << (column & 7);
      toFives(signature, ROWS_LOG2, (row) => {
        const byte = row * (width + 4) + at;
        rows[byte] = (rows[byte] as number) | bit;
      });
      column++;
      if (mustYield()) await yieldNow();
    }
  }
  for (let row = 0, start = 0; start < rows.length; row++, start += width + 4) {
    rows.writeUInt32LE(crc32(rows.subarray(start, start + width)), start + width);
    if (row % 1_024 === 0 && mustYield()) await yieldNow();
  }
  return bytes;
}

export class ColumnFile {
  readonly path: string;
  readonly sessions: readonly Columns[];
  readonly chunks: number;
  readonly #fd: number;
  readonly #rowsAt: number;
  readonly #width: number;
  #closed = false;

  /** Throws for an invalid or damaged file. */
  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, "r");
    try {
      const start = this.#read(HEAD, 0);
      if (!start.subarray(0, 8).equals(MAGIC)) throw new Error("it is no file of columns");
      this.chunks = start.readUInt32LE(8);
      const count = start.readUInt32LE(12);
      this.#width = Math.ceil(this.chunks / 8);
      this.#rowsAt = HEAD + count * ENTRY + 4;
      // Before as much is read as it says: that may be anything.
      if (fstatSync(this.#fd).size !== this.#rowsAt + ((this.#width + 4) << ROWS_LOG2))
        throw new Error("it is not as long as it says");
      const head = this.#read(this.#rowsAt, 0);
      if (crc32(head.subarray(0, -4)) !== head.readUInt32LE(head.length - 4)) throw new Error("its head is damaged");
      const sessions: Columns[] = [];
      for (let i = 0, from = 0; i < count; i++) {
        const at = HEAD + i * ENTRY;
        const chunks = head.readUInt32LE(at + 8);
        sessions.push({ file: this, key: head.toString("hex", at, at + 8), from, count: chunks });
        from += chunks;
      }
      this.sessions = sessions;
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** A bit for each chunk that may have all of the groups (hashes of 32 bits). Throws when a row is damaged. About 5 µs a group. */
  having(fives: readonly number[]): Uint8Array {
    if (this.#closed) throw new Error("it is closed");
    let all: Uint8Array | undefined;
    for (const row of new Set(fives.map((five) => five >>> (32 - ROWS_LOG2)))) {
      const bytes = this.#read(this.#width + 4, this.#rowsAt + row * (this.#width + 4));
      const bits = bytes.subarray(0, this.#width);
      if (crc32(bits) !== bytes.readUInt32LE(this.#width)) throw new Error(`row ${row} is damaged`);
      if (all) for (let i = 0; i < all.length; i++) all[i] = (all[i] as number) & (bits[i] as number);
      else all = bits;
    }
    return all ?? new Uint8Array(this.#width).fill(255);
  }

  get closed(): boolean {
    return this.#closed;
  }
  close(): void {
    if (!this.#closed) closeSync(this.#fd);
    this.#closed = true;
  }

  #read(length: number, at: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    if (readSync(this.#fd, buffer, 0, length, at) !== length) throw new Error("it ends early");
    return buffer;
  }
}

/** How many of a session's chunks have their bit. */
export function countIn(bits: Uint8Array, { from, count }: Columns): number {
  let sum = 0;
  for (let i = from; i < from + count; i++) if ((bits[i >>> 3] as number) & (1 << (i & 7))) sum++;
  return sum;
}
