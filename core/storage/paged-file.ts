/**
 * The file SQLite works on. Blocks of a large catalogue are read from the snapshot when they are asked for, against a checksum each, and
 * those that nobody asked for lately are let go again; what was changed since stays in memory. Reading and changing go on while a
 * snapshot is taken of how it was.
 *
 * sql.js takes it for the bytes of its file: what it does with them is `length`, `slice` (once, to have a copy of its own), `subarray` to
 * read and `set` to write, never across two pages. `test/storage/paged-file.test.ts` holds it to that.
 */
import { closeSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";

/** A page of a catalogue; those of old versions were smaller. What lies next to a row says nothing of which one is asked for next. */
export const BLOCK = 16_384;
/** Unchanged blocks kept in memory, 8 MB: SQLite's own cache before them has twice that, and the system has the file. */
const KEPT_BLOCKS = 512;

/** A snapshot that is read block by block. */
export interface Source {
  path: string;
  fd: number;
  /** Bytes of the catalogue in it. */
  size: number;
  /** A checksum for each block. */
  sums: Uint32Array;
  /** Who reads it: the last one to leave closes it. */
  users: number;
}

/** Of what is opened once and read by several. */
export function leaveSource(source: Source): void {
  if (--source.users === 0) closeSync(source.fd);
}

/** How the file was at one moment. */
export interface Frozen {
  readonly size: number;
  /** Valid until the next call. */
  block(i: number): Uint8Array;
  /** It lies there now: what was not changed since is read from there. */
  adopt(source: Source): void;
  /** Call in any case. */
  release(): void;
}

/** The file at one moment, by what its source has of it. Call `release` on `frozen`. */
export interface Parts {
  frozen: Frozen;
  source: Source | undefined;
  /** Blocks that the source has otherwise, or not. */
  changed: readonly number[];
}

/** The blocks of a file that its source has otherwise, or not. */
export interface Changes {
  /** Bytes of the whole file. */
  size: number;
  /** Which blocks; their bytes, one after the other. */
  numbers: number[];
  bytes: Uint8Array;
}

export class PagedFile {
  readonly [n: number]: number;
  readonly #keep: number;
  #source: Source | undefined;
  #size: number;
  #taken = false;
  #closed = false;
  #blocks: (Uint8Array | undefined)[] = [];
  /** Blocks that are as the source has them, the one used last at the end. */
  readonly #unchanged = new Set<number>();
  #changed = 0;
  /** Since a snapshot is being taken: blocks as they were before their first change. */
  #before: Map<number, Uint8Array> | undefined;
  #damage: SessarcError | undefined;
  /** A block that was let go, for the next one that is read: so many are that making new ones would be most of the work. */
  #spare: Uint8Array | undefined;

  /** `content`: all bytes, which it may keep, or where they are. */
  constructor(content: Uint8Array | Source, keep = KEPT_BLOCKS) {
    this.#keep = keep;
    if (content instanceof Uint8Array) {
      this.#size = content.length;
      for (let at = 0; at < content.length; at += BLOCK) {
        const block = content.subarray(at, at + BLOCK);
        this.#blocks.push(block.length === BLOCK ? block : padded(block));
      }
    } else {
      this.#source = content;
      this.#size = content.size;
    }
  }

  get size(): number {
    return this.#size;
  }
  /** What was wrong with a block that was read. Nothing that was read since is to be believed. */
  get damage(): SessarcError | undefined {
    return this.#damage;
  }
  /** Blocks that the source has otherwise, or not. */
  get changed(): number {
    return this.#changed;
  }
  /** Bytes in memory. */
  get held(): number {
    const buffers = new Set(this.#blocks.flatMap((block) => (block ? [block.buffer] : [])));
    return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** For sql.js, which makes room in what is too short. */
  get length(): number {
    return this.#taken ? Number.MAX_SAFE_INTEGER : this.#size;
  }
  slice(): this {
    this.#taken = true;
    return this;
  }
  subarray(from: number, to: number): Uint8Array {
    const i = Math.floor(from / BLOCK);
    if (to > (i + 1) * BLOCK) throw new RangeError(`SQLite reads ${from} to ${to}: more than a page`);
    return this.#block(i).subarray(from - i * BLOCK, to - i * BLOCK);
  }
  set(bytes: Uint8Array, at: number): void {
    const i = Math.floor(at / BLOCK);
    const start = at - i * BLOCK;
    const end = start + bytes.length;
    if (end > BLOCK) throw new RangeError(`SQLite writes ${bytes.length} bytes at ${at}: more than a page`);
    const block = this.#block(i);
    // Not by `slice`: of a Buffer that is the same memory, and the snapshot would hold half a batch.
    if (this.#before && !this.#before.has(i)) this.#before.set(i, new Uint8Array(block));
    if (this.#unchanged.delete(i) || !this.#blocks[i]) this.#changed++;
    this.#blocks[i] = block;
    block.set(bytes, start);
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  parts(): Parts {
    return { frozen: this.freeze(), source: this.#source, changed: this.#different() };
  }

  #different(): number[] {
    return [...this.#blocks.keys()].filter((i) => this.#blocks[i] && !this.#unchanged.has(i));
  }

  /** What makes another file over the same source this one. In memory that threads share: a long list of blocks is not copied on its way. */
  changes(): Changes {
    const numbers = this.#different();
    const bytes = new Uint8Array(new SharedArrayBuffer(numbers.length * BLOCK));
    for (const [n, i] of numbers.entries()) bytes.set(this.#blocks[i] as Uint8Array, n * BLOCK);
    return { size: this.#size, numbers, bytes };
  }

  /** Makes of it what `changes` said. SQLite has not opened it, or opens it anew, and no snapshot is taken of it; the next one lets go of `bytes`. */
  lay({ size, numbers, bytes }: Changes): void {
    for (const [n, i] of numbers.entries()) {
      this.#blocks[i] = bytes.subarray(n * BLOCK, (n + 1) * BLOCK);
      this.#unchanged.delete(i);
    }
    this.#size = size;
    this.#changed = numbers.length;
    this.#taken = false;
  }
  /** Where it is read from, for another file over the same; undefined where it is held whole. */
  get source(): Source | undefined {
    return this.#source;
  }

  /** From now on `Frozen` says how it is now. One at a time. */
  freeze(): Frozen {
    const size = this.#size;
    const before = new Map<number, Uint8Array>();
    this.#before = before;
    return {
      size,
      block: (i) => {
        if (this.#closed) throw new Error("The catalogue was opened anew meanwhile");
        const block = before.get(i) ?? this.#blocks[i] ?? this.#read(i);
        if (this.#damage) throw this.#damage;
        return block.subarray(0, Math.min(BLOCK, size - i * BLOCK));
      },
      adopt: (source) => {
        if (this.#closed) return leaveSource(source);
        this.#leave();
        this.#source = source;
        this.#unchanged.clear();
        this.#changed = before.size;
        const count = Math.ceil(size / BLOCK);
        for (let i = 0; i < count; i++) {
          const block = this.#blocks[i];
          // A piece of what was read whole would keep all of that.
          const isPiece = block !== undefined && block.buffer.byteLength > BLOCK;
          if (!block || (isPiece && !before.has(i))) this.#blocks[i] = undefined;
          else if (before.has(i)) this.#blocks[i] = isPiece ? new Uint8Array(block) : block;
          else this.#unchanged.add(i);
        }
        this.#letGo();
      },
      release: () => {
        this.#before = undefined;
      },
    };
  }

  close(): void {
    this.#closed = true;
    this.#leave();
  }

  #leave(): void {
    if (this.#source) leaveSource(this.#source);
    this.#source = undefined;
  }

  #block(i: number): Uint8Array {
    const known = this.#blocks[i];
    if (known) {
      if (this.#unchanged.delete(i)) this.#unchanged.add(i);
      return known;
    }
    const block = this.#read(i, true);
    if (this.#damage || i * BLOCK >= (this.#source?.size ?? 0)) return block;
    this.#blocks[i] = block;
    this.#unchanged.add(i);
    this.#letGo();
    return block;
  }

  #letGo(): void {
    for (const oldest of this.#unchanged) {
      if (this.#unchanged.size <= this.#keep) break;
      this.#unchanged.delete(oldest);
      this.#spare = this.#blocks[oldest];
      this.#blocks[oldest] = undefined;
    }
  }

  /** SQLite cannot be told of damage in words: it gets zeros, and whoever asked it looks at `damage` before believing the answer. */
  #read(i: number, recycle = false): Uint8Array {
    const { fd = -1, size = 0, sums, path = "" } = this.#source ?? {};
    const length = Math.min(BLOCK, size - i * BLOCK);
    if (length <= 0) return new Uint8Array(BLOCK);
    const block = (recycle && length === BLOCK && this.#spare) || new Uint8Array(BLOCK);
    if (block === this.#spare) this.#spare = undefined;
    let done = 0;
    let reason = `the part at ${i * BLOCK} does not fit its checksum, or another program has written to it`;
    try {
      while (done < length) {
        const bytes = readSync(fd, block, done, length - done, i * BLOCK + done);
        if (bytes === 0) break;
        done += bytes;
      }
    } catch (error) {
      reason = messageOf(error);
    }
    if (done === length && sumOf(block.subarray(0, length), i) === sums?.[i]) return block;
    this.#damage ??= new SessarcError("CATALOG_DAMAGED", { reason: `${path}: ${reason}` });
    return new Uint8Array(BLOCK);
  }
}

function padded(bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK);
  block.set(bytes);
  return block;
}

/** `application_id`, in the first block, holds the checksum of the file and is no part of any. */
export const CHECKSUM_AT = 68;

/** Checksum of block `i`. */
export function sumOf(block: Uint8Array, i: number): number {
  if (i > 0) return crc32(block);
  return crc32(block.subarray(CHECKSUM_AT + 4), crc32(ZEROS, crc32(block.subarray(0, CHECKSUM_AT))));
}
const ZEROS = new Uint8Array(4);
