/** The sessions a search goes through, with directories and signatures of their texts as far as they were read. */

import type { Database } from "sessarc";
import { Slices, sortInSlices, type Transcripts } from "#internal";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import type { EarlierRow } from "../catalogue/types.ts";
import type { ColumnFile } from "./columns.ts";
import { bytesOf, chunksIn, type Entry, isPlaced, newestFirst, partsIn, type TextPart, toEntry } from "./entry.ts";
import { allRows, rowsOf } from "./entry-rows.ts";
import type { Shelf, Unplaced } from "./shelf.ts";

/** Bytes of signatures kept: those of some 30,000 chunks, the newest sessions first. Others are read again each time. */
const INDEX_BYTES = 160 << 20;
/** Sessions whose directories are read at once: where they are far away, waiting is shared. */
const AT_ONCE = 4;

export class Entries {
  readonly #db: Database;
  readonly #transcripts: Transcripts;
  readonly #changes: Changes;
  #list: readonly Entry[] = [];
  readonly #byId = new Map<string, Entry>();
  readonly #damaged = new Set<Entry>();
  readonly #loaded = new Set<Entry>();
  #bytes = 0;
  #readAt = -1;
  #reading: Promise<void> | undefined;
  readonly #shelf: Shelf;
  /** Of the list that was last looked through for what stands in no columns. */
  #tidiedAt = -1;
  #tidying: Promise<void> | undefined;

  constructor(db: Database, transcripts: Transcripts, changes: Changes, shelf: Shelf) {
    this.#db = db;
    this.#transcripts = transcripts;
    this.#changes = changes;
    this.#shelf = shelf;
  }

  /**
   * All of them as they are when asked, newest first; only what changed since the last call is read. One read for those who ask at once.
   * What changes while it is read is not waited for: an import changes something all the time.
   */
  async list(): Promise<readonly Entry[]> {
    const { generation } = this.#changes;
    while (this.#readAt < generation) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#list;
  }

  /** There are no more sessions than that. */
  async most(): Promise<number> {
    return (await this.#db.get<{ most: number | null }>("select max(rowid) as most from session"))?.most ?? 0;
  }

  /** Those of which something could not be read. */
  get damaged(): ReadonlySet<Entry> {
    return this.#damaged;
  }
  damage(entry: Entry): void {
    entry.damaged = true;
    if (!entry.replaced) this.#damaged.add(entry);
  }

  /** Reads directories and signatures of those that lack them, a few at once, in slices. Parts that cannot be read are left out. */
  async load(entries: readonly Entry[], slices: Slices): Promise<void> {
    for (let i = 0; i < entries.length && this.#bytes < INDEX_BYTES; i += AT_ONCE) {
      await Promise.all(entries.slice(i, i + AT_ONCE).map((entry) => this.indexOf(entry)));
      if (slices.due) await slices.turn();
    }
  }

  /** The same for one session, which keeps it where there is room. */
  async indexOf(entry: Entry): Promise<TextPart[]> {
    if (entry.index) return entry.index;
    const index = await this.#readIndex(entry);
    if (this.#bytes < INDEX_BYTES) {
      entry.index = index;
      this.#keep(entry);
    }
    return index;
  }

  /** A row of it cannot be read. */
  drop(file: ColumnFile): void {
    this.#shelf.drop(file);
    this.#tidiedAt = -1;
  }

  /**
   * Turns around the signatures of sessions that stand in no columns, once there are enough of them, and lets go of those in memory. One run
   * at a time; resolves when it is done.
   */
  tidy(): Promise<void> {
    if (this.#tidiedAt === this.#readAt) return this.#tidying ?? Promise.resolve();
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
    return this.#tidying;
  }

  /** The run under way has ended. */
  get tidied(): Promise<void> {
    return this.#tidying ?? Promise.resolve();
  }

  async #tidy(): Promise<void> {
    this.#tidiedAt = this.#readAt;
    // In the order of the list: files are made of neighbours in time.
    const missing = this.#list.filter((entry) => !isPlaced(entry));
    const signatures = async (entry: Entry) => {
      const index = entry.index ?? (await this.#readIndex(entry));
      if (entry.damaged) return undefined;
      return index.flatMap(({ chunks, sidecars }) =>
        chunks.map(({ sidecar: [start, length] }) => sidecars.subarray(start, start + length)),
      );
    };
    const unplaced: Unplaced[] = [];
    const slices = new Slices();
    for (const entry of missing) {
      // Its text was placed while its row was read again.
      if (this.#shelf.placeOf(entry.key)) continue;
      unplaced.push({ key: entry.key, chunks: chunksIn(entry), signatures: () => signatures(entry) });
      if (slices.due) await slices.turn();
    }
    await this.#shelf.tidy(() => new Set(this.#list.map(({ key }) => key)), unplaced);
    for (const entry of missing) {
      if (slices.due) await slices.turn();
      entry.columns = this.#shelf.placeOf(entry.key);
      if (!entry.columns || !entry.index) continue;
      this.#forget(entry);
      entry.index = undefined;
    }
  }

  async #readIndex(entry: Entry): Promise<TextPart[]> {
    const index: TextPart[] = [];
    for (const { part, earlier } of partsIn(entry)) {
      try {
        index.push({ ...(await this.#transcripts.index(entry.id, part)), ...(earlier && { earlier }) });
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.damage(entry);
      }
    }
    return index;
  }

  #keep(entry: Entry): void {
    if (entry.replaced || this.#loaded.has(entry)) return;
    this.#loaded.add(entry);
    this.#bytes += bytesOf(entry);
  }

  #forget(entry: Entry): void {
    if (this.#loaded.delete(entry)) this.#bytes -= bytesOf(entry);
  }

  async #read(): Promise<void> {
    const { generation } = this.#changes;
    const changed = this.#changes.since(this.#readAt);
    await this.#shelf.open();
    const read: Entry[] = [];
    for await (const { rows, texts } of changed ? rowsOf(this.#db, [...changed]) : allRows(this.#db)) {
      const earlier = new Map<string, EarlierRow[]>();
      for (const text of texts) earlier.set(text.session_id, [...(earlier.get(text.session_id) ?? []), text]);
      for (const row of rows) {
        const entry = toEntry(row, earlier.get(row.id) ?? [], this.#byId.get(row.id));
        entry.columns ??= this.#shelf.placeOf(entry.key);
        // One string for both.
        entry.key = entry.columns?.key ?? entry.key;
        read.push(entry);
      }
    }
    for (const id of changed ?? [...this.#byId.keys()]) {
      const old = this.#byId.get(id);
      if (!old) continue;
      old.replaced = true;
      this.#forget(old);
      this.#damaged.delete(old);
      this.#byId.delete(id);
    }
    for (const entry of read) {
      if (entry.index) this.#keep(entry);
      if (entry.damaged) this.#damaged.add(entry);
      this.#byId.set(entry.id, entry);
    }
    this.#list = await sortInSlices([...this.#byId.values()], newestFirst);
    this.#readAt = generation;
  }
}
