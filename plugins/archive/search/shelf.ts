/** The files of columns of an archive: which sessions they contain, and new files once enough sessions are in none. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { mustYield, yieldNow } from "sessarc";
import { writeFileAtomic } from "sessarc/files";
import { ColumnFile, type Columns, type Signed, turnAround } from "./columns.ts";

const NAME = /^[0-9a-f]{16}\.columns$/;
/** Chunks of a file. Fewer chunks outside of all files are checked one by one. */
const MOST = 4_096;
const LEAST = 1_024;

export interface ShelfOptions {
  /** Made when first written to. Undefined: nothing is kept. */
  folder: string | undefined;
  readOnly: boolean;
}

/** A session that is in no file yet. */
interface Unplaced {
  key: string;
  /** About. */
  chunks: number;
  /** Undefined: it could not be read, or is gone by now. */
  signatures(): Promise<readonly Uint8Array[] | undefined>;
}

export class Shelf {
  readonly #options: ShelfOptions;
  #least = LEAST;
  #most = MOST;
  #files: ColumnFile[] = [];
  /** Paths of files that are of no use any more. */
  readonly #dropped: string[] = [];
  readonly #places = new Map<string, Columns>();
  /** Keys of those that would fill a file alone: checking them alone is quicker, they stay outside, and they do not cause a check of all others. */
  readonly #large = new Set<string>();
  #opened: Promise<void> | undefined;
  #closed = false;

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  /** Finds the files that are there, once. One that is damaged is as good as none: it is made again. */
  open(): Promise<void> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  keepFrom(least: number, most: number): void {
    this.#least = least;
    this.#most = most;
  }

  placeOf(key: string): Columns | undefined {
    return this.#places.get(key);
  }

  /** Its sessions are checked one by one from now on. */
  drop(file: ColumnFile): void {
    if (file.closed) return;
    this.#files = this.#files.filter((one) => one !== file);
    for (const { key } of file.sessions) if (this.#places.get(key)?.file === file) this.#places.delete(key);
    file.close();
    this.#dropped.push(file.path);
  }

  /**
   * Makes files of those `missing` where they are enough for one, and removes such of which most is no longer live. All keys are asked for only
   * when a file is made: they are as many as there are sessions.
   */
  async tidy(liveKeys: () => ReadonlySet<string>, missing: readonly Unplaced[]): Promise<void> {
    const { folder, readOnly } = this.#options;
    const [least, most] = [this.#least, this.#most];
    if (folder === undefined || readOnly) return;
    await this.#sweep();
    const wanted = missing.filter(({ key }) => !this.#large.has(key));
    let left = wanted.reduce((sum, { chunks }) => sum + chunks, 0);
    if (left < least) return;
    const live = liveKeys();
    for (const file of this.#files) {
      if (mustYield()) await yieldNow();
      let chunks = 0;
      for (const { key, count } of file.sessions) if (live.has(key)) chunks += count;
      if (chunks * 2 < file.chunks) this.drop(file);
    }
    await this.#sweep();
    let batch: Signed[] = [];
    let chunks = 0;
    for (const { key, chunks: about, signatures } of wanted) {
      // Their source may be in memory, or read at once: no other turn of the event loop comes in between.
      if (mustYield()) await yieldNow();
      if (this.#closed) return;
      left -= about;
      const own = await signatures();
      if (own && own.length > most / 4) this.#large.add(key);
      if (!own || own.length > most / 4) continue;
      batch.push({ key, signatures: own });
      chunks += own.length;
      // A rest too small for a file of its own goes along: each search would look at its sessions one by one.
      if (chunks < most - most / 4 || (left < least && left > 0)) continue;
      await this.#write(folder, batch);
      batch = [];
      chunks = 0;
    }
    if (chunks >= least) await this.#write(folder, batch);
  }

  close(): void {
    this.#closed = true;
    for (const file of this.#files) file.close();
    this.#files = [];
    this.#places.clear();
  }

  async #sweep(): Promise<void> {
    for (const path of this.#dropped.splice(0)) await rm(path, { force: true });
  }

  async #write(folder: string, batch: readonly Signed[]): Promise<void> {
    const bytes = await turnAround(batch);
    if (this.#closed) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${randomBytes(8).toString("hex")}.columns`);
    await writeFileAtomic(path, bytes);
    if (!this.#closed) this.#take(new ColumnFile(path));
  }

  async #open(): Promise<void> {
    const { folder, readOnly } = this.#options;
    if (folder === undefined) return;
    // Not there, or not to be read: searches take longer and answer the same.
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      if (mustYield()) await yieldNow();
      const path = join(folder, name);
      if (!NAME.test(name)) continue;
      try {
        this.#take(new ColumnFile(path));
      } catch (error) {
        const isDamaged = (error as NodeJS.ErrnoException).code === undefined;
        if (isDamaged && !readOnly) await rm(path, { force: true });
      }
    }
  }

  #take(file: ColumnFile): void {
    this.#files.push(file);
    for (const place of file.sessions) this.#places.set(place.key, place);
  }
}
