/** The sessions a search goes through, with directories and signatures of their texts as far as they were read. */
import { type Database, Slices, sortInSlices, type Transcripts } from "sessarc";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import type { EarlierRow } from "../catalogue/types.ts";
import type { ColumnFile } from "./columns.ts";
import { bytesOf, chunksIn, type Entry, isPlaced, newestFirst, partsIn, type TextPart, toEntry } from "./entry.ts";
import { allRows, rowsOf } from "./entry-rows.ts";
import { edited, type List } from "./list.ts";
import { runsOf } from "./runs.ts";
import type { Shelf, Unplaced } from "./shelf.ts";

/** Bytes of signatures kept: those of some 30,000 chunks, the newest sessions first. Others are read again each time. */
const INDEX_BYTES = 160 << 20;
/** Sessions whose directories are read at once: where they are far away, waiting is shared. */
const AT_ONCE = 4;
/** Sessions between two looks at the clock. */
const LOOKED = 1_024;

export class Entries {
  readonly #db: Database;
  readonly #transcripts: Transcripts;
  readonly #changes: Changes;
  #list: List = { entries: [], runs: [] };
  readonly #byId = new Map<string, Entry>();
  /** Those that stand in no columns, of as many files as the shelf had let go of then. */
  #unplaced = new Set<Entry>();
  #unplacedAt = 0;
  /** The same of the runs. */
  #groupedAt = 0;
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
  async list(): Promise<List> {
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
    const missing = await this.#missing();
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
    await this.#shelf.tidy(() => this.#keys(), unplaced);
    let placed = 0;
    for (const entry of missing) {
      if (slices.due) await slices.turn();
      entry.columns = this.#shelf.placeOf(entry.key);
      if (!entry.columns) continue;
      placed++;
      this.#unplaced.delete(entry);
      if (!entry.index) continue;
      this.#forget(entry);
      entry.index = undefined;
    }
    if (placed > 0 || this.#groupedAt !== this.#shelf.drops) await this.#groupAnew();
  }

  async #keys(): Promise<Set<string>> {
    const keys = new Set<string>();
    const slices = new Slices();
    for (const { key } of this.#list.entries) {
      keys.add(key);
      if (slices.due) await slices.turn();
    }
    return keys;
  }

  /** Those that stand in no columns. All are looked at only when a file was let go. */
  async #missing(): Promise<Entry[]> {
    const { drops } = this.#shelf;
    while (this.#unplacedAt !== drops) {
      const { entries } = this.#list;
      const unplaced = new Set<Entry>();
      const slices = new Slices();
      for (const [i, entry] of entries.entries()) {
        if (!isPlaced(entry)) unplaced.add(entry);
        if (i % LOOKED === 0 && slices.due) await slices.turn();
      }
      if (entries !== this.#list.entries) continue;
      this.#unplaced = unplaced;
      this.#unplacedAt = drops;
    }
    return [...this.#unplaced];
  }

  /** Neighbours stand in other files now. */
  async #groupAnew(): Promise<void> {
    for (;;) {
      const { entries } = this.#list;
      const { drops } = this.#shelf;
      const runs = await runsOf(entries);
      if (entries !== this.#list.entries) continue;
      this.#list = { entries, runs };
      this.#groupedAt = drops;
      return;
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
    const old = new Map<string, Entry>();
    if (!changed) for (const [id, entry] of this.#byId) old.set(id, entry);
    for (const id of changed ?? []) {
      const entry = this.#byId.get(id);
      if (entry) old.set(id, entry);
    }
    const read: Entry[] = [];
    const slices = new Slices();
    for await (const { rows, texts } of changed ? rowsOf(this.#db, [...changed]) : allRows(this.#db)) {
      const earlier = new Map<string, EarlierRow[]>();
      for (const text of texts) earlier.set(text.session_id, [...(earlier.get(text.session_id) ?? []), text]);
      for (const row of rows) {
        const entry = toEntry(row, earlier.get(row.id) ?? [], old.get(row.id));
        entry.columns ??= this.#shelf.placeOf(entry.key);
        // One string for both.
        entry.key = entry.columns?.key ?? entry.key;
        read.push(entry);
      }
    }
    const sorted = await sortInSlices(read, newestFirst);
    const list = changed ? undefined : { entries: sorted, runs: await runsOf(sorted) };
    for (const entry of old.values()) {
      entry.replaced = true;
      this.#forget(entry);
      this.#damaged.delete(entry);
      this.#unplaced.delete(entry);
      this.#byId.delete(entry.id);
      if (slices.due) await slices.turn();
    }
    // In the order of the list: files are made of neighbours.
    for (const entry of sorted) {
      if (entry.index) this.#keep(entry);
      if (entry.damaged) this.#damaged.add(entry);
      if (!isPlaced(entry)) this.#unplaced.add(entry);
      this.#byId.set(entry.id, entry);
      if (slices.due) await slices.turn();
    }
    this.#list = list ?? edited(this.#list, [...old.values()], sorted);
    this.#readAt = generation;
  }
}
