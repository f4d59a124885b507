/**
 * The file SQLite works on: `catalog.db` on disk, and in memory the pages that were changed since. So the memory of a large archive does
 * not grow with it; SQLite's own cache keeps the pages it needs often.
 *
 * sql.js uses it as the bytes of its file: it calls `length`, `slice` once (to have its own copy), `subarray` to read and `set` to
 * write, never across two pages. `test/storage/catalog-file.test.ts` checks that.
 */
import { closeSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";

/** Bytes of a page. Large pages are copied faster than SQLite's usual 4 KB. */
export const PAGE = 16_384;

/** An open snapshot, checked as a whole, and the checksum that each page had then. */
export interface Source {
  path: string;
  fd: number;
  size: number;
  sums: Uint32Array;
}

/** The file at one moment. */
export interface Frozen {
  readonly size: number;
  /** Valid until the next call. */
  page(i: number): Uint8Array;
  /** Call when `source` contains this moment: what was not changed since is read from there. */
  adopt(source: Source): void;
  /** Call in any case. */
  release(): void;
}

export class CatalogFile {
  readonly [n: number]: number;
  #source: Source | undefined;
  #size: number;
  #isOpen = false;
  #isClosed = false;
  /** Pages that the source does not have, or has otherwise. */
  readonly #changed = new Map<number, Uint8Array>();
  /** While a snapshot is written: pages as they were before their first change. */
  #before: Map<number, Uint8Array> | undefined;
  /** The page that was read last. */
  readonly #last = { number: -1, page: new Uint8Array(PAGE) };
  #damage: SessarcError | undefined;

  /** `content`: a snapshot, which is closed with the file, or all bytes, which it keeps. */
  constructor(content: Source | Uint8Array) {
    if (content instanceof Uint8Array) {
      this.#size = content.length;
      for (let at = 0; at < content.length; at += PAGE)
        this.#changed.set(at / PAGE, wholePage(content.subarray(at, at + PAGE)));
    } else {
      this.#source = content;
      this.#size = content.size;
    }
  }

  /** What was wrong with a page. Nothing that was read since is right. */
  get damage(): SessarcError | undefined {
    return this.#damage;
  }

  /** Pages in memory. */
  get held(): number {
    return this.#changed.size;
  }

  /** sql.js allocates a larger array when the file outgrows this. */
  get length(): number {
    return this.#isOpen ? Number.MAX_SAFE_INTEGER : this.#size;
  }

  slice(): this {
    this.#isOpen = true;
    return this;
  }

  subarray(from: number, to: number): Uint8Array {
    const i = Math.floor(from / PAGE);
    if (to > (i + 1) * PAGE) throw new RangeError(`SQLite reads ${from} to ${to}: more than a page`);
    return this.#page(i).subarray(from - i * PAGE, to - i * PAGE);
  }

  set(bytes: Uint8Array, at: number): void {
    const i = Math.floor(at / PAGE);
    const start = at - i * PAGE;
    if (start + bytes.length > PAGE)
      throw new RangeError(`SQLite writes ${bytes.length} bytes at ${at}: more than a page`);
    // Not `slice`: for a Buffer that shares the memory, and the snapshot would contain half a batch.
    if (this.#before && !this.#before.has(i)) this.#before.set(i, new Uint8Array(this.#page(i)));
    let page = this.#changed.get(i);
    if (!page) {
      page = new Uint8Array(this.#page(i));
      this.#changed.set(i, page);
    }
    page.set(bytes, start);
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  /** `Frozen` shows the file as it is now, whatever is written later. One at a time. */
  freeze(): Frozen {
    const size = this.#size;
    const before = new Map<number, Uint8Array>();
    this.#before = before;
    return {
      size,
      page: (i) => {
        if (this.#isClosed) throw new Error("The catalogue was opened again meanwhile");
        const page = before.get(i) ?? this.#page(i);
        if (this.#damage) throw this.#damage;
        return page.subarray(0, Math.min(PAGE, size - i * PAGE));
      },
      adopt: (source) => {
        const old = this.#isClosed ? source : this.#source;
        if (old) closeSync(old.fd);
        if (this.#isClosed) return;
        this.#source = source;
        this.#last.number = -1;
        for (const i of this.#changed.keys()) if (!before.has(i)) this.#changed.delete(i);
      },
      release: () => {
        this.#before = undefined;
      },
    };
  }

  close(): void {
    if (this.#source && !this.#isClosed) closeSync(this.#source.fd);
    this.#isClosed = true;
  }

  #page(i: number): Uint8Array {
    const changed = this.#changed.get(i);
    if (changed) return changed;
    if (this.#last.number !== i) this.#read(i);
    return this.#last.page;
  }

  /** SQLite cannot be given an error: it gets zeros, and `image.ts` checks `damage` before it believes an answer. */
  #read(i: number): void {
    const { page } = this.#last;
    this.#last.number = i;
    page.fill(0);
    const { path = "", fd = -1, size = 0, sums } = this.#source ?? {};
    const length = Math.min(PAGE, size - i * PAGE);
    if (length <= 0) return;
    try {
      readWhole(fd, page.subarray(0, length), i * PAGE);
      if (crc32(page.subarray(0, length)) === sums?.[i]) return;
      this.#damaged(`${path}: the part at ${i * PAGE} does not fit its checksum, or another program has written to it`);
    } catch (error) {
      this.#damaged(`${path}: ${messageOf(error)}`);
    }
    page.fill(0);
  }

  #damaged(reason: string): void {
    this.#damage ??= new SessarcError("CATALOG_DAMAGED", { reason });
  }
}

/** Fills `bytes` from byte `at` of an open file. */
export function readWhole(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(fd, bytes, done, bytes.length - done, at + done);
    if (read === 0) throw new Error(`the file ends before byte ${at + bytes.length}`);
    done += read;
  }
}

function wholePage(bytes: Uint8Array): Uint8Array {
  if (bytes.length === PAGE) return bytes;
  const page = new Uint8Array(PAGE);
  page.set(bytes);
  return page;
}
