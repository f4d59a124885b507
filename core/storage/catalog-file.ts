/**
 * The file SQLite works on: `catalog.db` on disk, over it the pages of the log, over these the pages of batches that are not in the log yet.
 * So the memory of a large archive does not grow with it; SQLite's own cache keeps the pages it needs often.
 *
 * sql.js uses it as the bytes of its file: it calls `length`, `slice` once (to have its own copy), `subarray` to read and `set` to
 * write, never across two pages; VACUUM ends with a `subarray` from 0 to the new end. `test/storage/catalog-file.test.ts` checks that.
 */
import { readSync } from "node:fs";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";

/** Bytes of a page. */
export const PAGE = 4_096;
/** Number of the archive's format, of tables and transcripts: `user_version` of the database, and where its first page has it. */
export const FORMAT = 2;
export const FORMAT_AT = 60;
/** Bytes read from `catalog.db` at once: neighbours are often read next. */
const BLOCK = 8 * PAGE;
/** Two bytes of the first page: written and read with a log (2), or without (1). */
const VERSIONS = 18;

/** Where stored pages are. */
export interface StoredPages {
  /** `catalog.db`. */
  readonly path: string;
  /** Its descriptor; undefined where there is none yet. */
  readonly main: number | undefined;
  /** The log's descriptor; undefined where there is none yet. */
  readonly log: number | undefined;
  /** Grows when `catalog.db` was written. */
  readonly writes: number;
  /** Where page `number` (from 1) is in the log; undefined: it is not. */
  find(number: number): number | undefined;
}

/** Pages as they are after some batches. */
export interface ChangedPages {
  /** By number, from 1. */
  pages: ReadonlyMap<number, Uint8Array>;
  /** Of the database. */
  pageCount: number;
}

export class CatalogFile {
  readonly [n: number]: number;
  readonly #stored: StoredPages;
  #size: number;
  #storedSize: number;
  #isOpen = false;
  /** Pages of batches since the last `take`. */
  #changed = new Map<number, Uint8Array>();
  /** Pages that were taken. */
  #taken: ReadonlyMap<number, Uint8Array> = new Map();
  readonly #block = { at: -1, writes: 0, bytes: new Uint8Array(BLOCK) };
  readonly #page = new Uint8Array(PAGE);
  #damage: SessarcError | undefined;

  constructor(stored: StoredPages, pageCount: number) {
    this.#stored = stored;
    this.#size = this.#storedSize = pageCount * PAGE;
  }

  get path(): string {
    return this.#stored.path;
  }

  /** What was wrong with a page. Nothing that was read since is right. */
  get damage(): SessarcError | undefined {
    return this.#damage;
  }

  /** Pages in memory. */
  get held(): number {
    return this.#changed.size + this.#taken.size;
  }

  /** sql.js allocates a larger array when the file outgrows this. */
  get length(): number {
    return this.#isOpen ? Number.MAX_SAFE_INTEGER : this.#size;
  }

  slice(): this {
    this.#isOpen = true;
    return this;
  }

  /** Another connection opens it. */
  reopen(): void {
    this.#isOpen = false;
  }

  subarray(from: number, to: number): Uint8Array {
    const i = Math.floor(from / PAGE);
    if (from === 0 && to > PAGE) return new Uint8Array(0); // VACUUM; `resize` follows
    if (to > (i + 1) * PAGE) throw new RangeError(`SQLite reads ${from} to ${to}: more than a page`);
    return this.#read(i + 1).subarray(from - i * PAGE, to - i * PAGE);
  }

  set(bytes: Uint8Array, at: number): void {
    const i = Math.floor(at / PAGE);
    const start = at - i * PAGE;
    if (start + bytes.length > PAGE)
      throw new RangeError(`SQLite writes ${bytes.length} bytes at ${at}: more than a page`);
    let page = this.#changed.get(i + 1);
    if (!page) {
      // Not `slice`: of a Buffer that shares the memory.
      page = bytes.length === PAGE ? new Uint8Array(PAGE) : new Uint8Array(this.#read(i + 1));
      this.#changed.set(i + 1, page);
    }
    page.set(bytes, start);
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  /** The file has `pageCount` pages from now on; a log with fewer pages than before makes `catalog.db` shorter. */
  resize(pageCount: number): void {
    this.#size = pageCount * PAGE;
    for (const number of this.#changed.keys()) if (number > pageCount) this.#changed.delete(number);
  }

  /** What changed since the last call, for the log. Call `stored` or `undo` before the next one. */
  take(): ChangedPages {
    const pages = this.#changed;
    this.#changed = new Map();
    this.#taken = pages;
    const first = pages.get(1);
    if (first) {
      const marked = new Uint8Array(first);
      markVersions(marked, 2);
      return { pages: new Map(pages).set(1, marked), pageCount: this.#size / PAGE };
    }
    return { pages, pageCount: this.#size / PAGE };
  }

  /** What was taken can be read from the log. */
  taken(pageCount: number): void {
    this.#taken = new Map();
    this.#storedSize = pageCount * PAGE;
  }

  /** Drops what is not in the log. The connection has to be another one. */
  undo(): void {
    this.#changed = new Map();
    this.#taken = new Map();
    this.#size = this.#storedSize;
  }

  /** Valid until the next call. SQLite cannot be given an error: it gets zeros, and `image.ts` checks `damage` before it believes an answer. */
  #read(number: number): Uint8Array {
    const changed = this.#changed.get(number) ?? this.#taken.get(number);
    if (changed) return changed;
    try {
      const page = this.#load(number);
      if (number > 1) return page;
      // SQLite in memory works without a log.
      const first = new Uint8Array(page);
      if (first[VERSIONS] === 2) markVersions(first, 1);
      return first;
    } catch (error) {
      this.#damage ??= new SessarcError("CATALOG_DAMAGED", { reason: `${this.path}: ${toMessage(error)}` });
      return new Uint8Array(PAGE);
    }
  }

  #load(number: number): Uint8Array {
    const { main, log, writes } = this.#stored;
    const place = this.#stored.find(number);
    if (place !== undefined && log !== undefined) {
      const page = this.#page;
      readFully(log, page, place);
      return page;
    }
    if (main === undefined) return number === 1 ? emptyDatabase() : new Uint8Array(PAGE);
    const at = (number - 1) * PAGE;
    const start = at - (at % BLOCK);
    const block = this.#block;
    if (block.at !== start || block.writes !== writes) {
      block.at = -1;
      // A page that was never written is zero, as SQLite reads it.
      block.bytes.fill(0, readFully(main, block.bytes, start));
      [block.at, block.writes] = [start, writes];
    }
    return block.bytes.subarray(at - start, at - start + PAGE);
  }
}

/** Fills `bytes` from byte `at` of an open file. Returns how many there were. */
export function readFully(fd: number, bytes: Uint8Array, at: number): number {
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(fd, bytes, done, bytes.length - done, at + done);
    if (read === 0) break;
    done += read;
  }
  return done;
}

/**
 * The one page of an empty database, as SQLite writes it with a `user_version`: a file without a page has no bytes to begin with. To have
 * SQLite make it took a connection more at each first start.
 */
export function emptyDatabase(version: 1 | 2 = 1): Uint8Array {
  const page = new Uint8Array(PAGE);
  page.set(Buffer.from("SQLite format 3\0", "latin1"));
  const view = new DataView(page.buffer);
  view.setUint16(16, PAGE);
  // Written and read with a log or without; how much of a page a payload may take.
  page.set([version, version, 0, 64, 32, 32], VERSIONS);
  view.setUint32(FORMAT_AT, FORMAT);
  // Changes, pages, the schema's number, and which change the number of pages is of.
  for (const at of [24, 28, 40, 92]) view.setUint32(at, 1);
  // The page holds a table's leaf with nothing in it.
  page[100] = 13;
  view.setUint16(105, PAGE);
  return page;
}

/** Sets in the first page whether the database has a log (2) or not (1). */
function markVersions(page: Uint8Array, version: 1 | 2): void {
  page[VERSIONS] = page[VERSIONS + 1] = version;
}
