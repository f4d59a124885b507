/**
 * SQLite's write-ahead log, read and written by hand. sql.js never reads a `-wal` file: it opens the main file without an error and shows
 * old rows, or none. Here the committed pages of the log are laid over the main file's.
 *
 * Format: https://www.sqlite.org/fileformat2.html#walformat
 */
import { randomBytes } from "node:crypto";
import { endianness } from "node:os";

export const WAL_HEADER = 32;
export const FRAME_HEADER = 24;
const VERSION = 3_007_000;
const IS_LITTLE = endianness() === "LE";
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;

export interface Wal {
  pageSize: number;
  /** Pages of the database after the last commit. */
  pageCount: number;
  /** Page number (from 1) -> where its newest committed content starts in the log. */
  pages: Map<number, number>;
  /** Byte after the last commit. */
  end: number;
}

/**
 * Reads the frames up to the last valid commit. Undefined when there is none: an empty, reset or torn log adds nothing.
 *
 * A frame counts when its salts are the header's and the running checksum fits; the first that does not ends the log.
 */
export function parseWal(wal: Uint8Array): Wal | undefined {
  const scan = scanWal(wal);
  if (!scan) return undefined;
  scan.add(wal.subarray(WAL_HEADER));
  return scan.found;
}

interface WalScan {
  /** The newest commit so far. */
  readonly found: Wal | undefined;
  /** Takes the next bytes after the header, whole frames except at the end. False: a frame was invalid, or not whole; the log ends there. */
  add(bytes: Uint8Array): boolean;
  /** Bytes of a frame. */
  readonly frame: number;
}

/** Reads a log in pieces: `head` begins with its header. Undefined when that is invalid. */
export function scanWal(head: Uint8Array): WalScan | undefined {
  if (head.length < WAL_HEADER) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const magic = view.getUint32(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return undefined;
  const pageSize = view.getUint32(8);
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  const sum = new Checksum(magic === MAGIC_LITTLE);
  sum.add(head, 0, 24);
  if (!sum.is(view.getUint32(24), view.getUint32(28))) return undefined;

  const salts = [view.getUint32(16), view.getUint32(20)];
  const frame = FRAME_HEADER + pageSize;
  const pages = new Map<number, number>();
  let uncommitted: [page: number, offset: number][] = [];
  let [pageCount, end] = [0, WAL_HEADER];
  let offset = WAL_HEADER;
  return {
    frame,
    get found() {
      return pageCount === 0 ? undefined : { pageSize, pageCount, pages, end };
    },
    add(bytes) {
      const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.length; at += frame, offset += frame) {
        if (at + frame > bytes.length) return false;
        if (words.getUint32(at + 8) !== salts[0] || words.getUint32(at + 12) !== salts[1]) return false;
        sum.add(bytes, at, 8);
        sum.add(bytes, at + FRAME_HEADER, pageSize);
        if (!sum.is(words.getUint32(at + 16), words.getUint32(at + 20))) return false;
        uncommitted.push([words.getUint32(at), offset + FRAME_HEADER]);
        const commit = words.getUint32(at + 4);
        if (commit === 0) continue;
        for (const [page, place] of uncommitted) pages.set(page, place);
        uncommitted = [];
        [pageCount, end] = [commit, offset + frame];
      }
      return true;
    },
  };
}

/** Writes the bytes of one log. */
export class WalEncoder {
  readonly header: Uint8Array;
  readonly #pageSize: number;
  readonly #salts: Buffer;
  #sum = new Checksum(true);

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
    this.#salts = randomBytes(8);
    this.header = new Uint8Array(WAL_HEADER);
    const view = new DataView(this.header.buffer);
    view.setUint32(0, MAGIC_LITTLE);
    view.setUint32(4, VERSION);
    view.setUint32(8, pageSize);
    this.header.set(this.#salts, 16);
    this.#sum.add(this.header, 0, 24);
    this.#sum.put(view, 24);
  }

  /** Frames of `pages` by number (from 1); the last one commits a database of `commit` pages, none if that is 0. */
  frames(pages: readonly (readonly [page: number, content: Uint8Array])[], commit: number): Uint8Array {
    const frame = FRAME_HEADER + this.#pageSize;
    const bytes = new Uint8Array(pages.length * frame);
    const view = new DataView(bytes.buffer);
    for (const [i, [page, content]] of pages.entries()) {
      const at = i * frame;
      view.setUint32(at, page);
      view.setUint32(at + 4, i === pages.length - 1 ? commit : 0);
      bytes.set(this.#salts, at + 8);
      bytes.set(content, at + FRAME_HEADER);
      this.#sum.add(bytes, at, 8);
      this.#sum.add(bytes, at + FRAME_HEADER, this.#pageSize);
      this.#sum.put(view, at + 16);
    }
    return bytes;
  }

  /** What the next frame continues. Set it back for frames that did not reach the disk. */
  get state(): Checksum {
    return this.#sum.copy();
  }

  set state(state: Checksum) {
    this.#sum = state.copy();
  }
}

/** Lays the log over `main` (in place where it fits) and returns the database as of the last commit. */
export function overlayWal(main: Uint8Array, wal: Uint8Array, log: Wal): Uint8Array {
  const { pageSize, pageCount, pages } = log;
  const size = pageSize * pageCount;
  let image = main;
  if (main.length < size) {
    image = new Uint8Array(size);
    image.set(main);
  }
  for (const [page, offset] of pages) {
    if (page <= pageCount) image.set(wal.subarray(offset, offset + pageSize), (page - 1) * pageSize);
  }
  return image.subarray(0, size);
}

/** Bytes 18 and 19 say 2 in a database that keeps a log; 1 lets it be opened without one. */
export function markWithoutWal(image: Uint8Array): void {
  if (image.length > 19) image[18] = image[19] = 1;
}

/** SQLite's rolling checksum over pairs of 32-bit words. */
class Checksum {
  readonly #little: boolean;
  #a = 0;
  #b = 0;

  constructor(little: boolean) {
    this.#little = little;
  }

  add(bytes: Uint8Array, offset: number, length: number): void {
    const start = bytes.byteOffset + offset;
    let [a, b] = [this.#a, this.#b];
    // Word-wise access is five times faster than DataView; it needs the machine's byte order and an aligned start.
    if (this.#little === IS_LITTLE && start % 4 === 0) {
      const words = new Uint32Array(bytes.buffer, start, length >>> 2);
      for (let i = 0; i < words.length; i += 2) {
        a = (a + (words[i] as number) + b) | 0;
        b = (b + (words[i + 1] as number) + a) | 0;
      }
    } else {
      const view = new DataView(bytes.buffer, start, length);
      for (let i = 0; i < length; i += 8) {
        a = (a + view.getUint32(i, this.#little) + b) | 0;
        b = (b + view.getUint32(i + 4, this.#little) + a) | 0;
      }
    }
    [this.#a, this.#b] = [a, b];
  }

  is(a: number, b: number): boolean {
    return this.#a >>> 0 === a && this.#b >>> 0 === b;
  }

  put(view: DataView, at: number): void {
    view.setUint32(at, this.#a);
    view.setUint32(at + 4, this.#b);
  }

  copy(): Checksum {
    const copy = new Checksum(this.#little);
    [copy.#a, copy.#b] = [this.#a, this.#b];
    return copy;
  }
}
