/** The sessions a search goes through, with their directories and signatures as far as they are cached. */

import { type Database, marks, mustYield, pages, yieldNow } from "sessarc";
import type { Transcripts } from "sessarc/storage";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import { COPY } from "../catalogue/filter.ts";
import type { EarlierRow } from "../catalogue/types.ts";
import type { TextPart } from "./candidate.ts";
import type { ColumnFile } from "./columns.ts";
import { chunksIn, type Entry, isPlaced, newestFirst, ROW, type Row, toBytes, toEntry } from "./entry.ts";
import type { Shelf } from "./shelf.ts";

/** Bytes of signatures that are cached: those of some 30,000 chunks. */
const INDEX_BYTES = 160 << 20;

export class Entries {
  readonly #db: Database;
  readonly #transcripts: Transcripts;
  readonly #changes: Changes;
  readonly #shelf: Shelf;
  readonly #byId = new Map<string, Entry>();
  #list: readonly Entry[] = [];
  #bytes = 0;
  #readAt = -1;
  #reading: Promise<void> | undefined;
  /** Generation of the list whose signatures were last put into columns. */
  #tidiedAt = -1;
  #tidying: Promise<void> | undefined;

  constructor(db: Database, transcripts: Transcripts, changes: Changes, shelf: Shelf) {
    this.#db = db;
    this.#transcripts = transcripts;
    this.#changes = changes;
    this.#shelf = shelf;
  }

  /**
   * All sessions as of this call, newest first, without copies whose messages all count elsewhere. Reads only those that changed since the last call, once for concurrent callers. Changes
   * during the read are left to the next call: an import changes something all the time.
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

  /** Directories and signatures of a session, cached where there is room. Parts that cannot be read are left out. */
  async indexOf(entry: Entry): Promise<readonly TextPart[]> {
    if (entry.index) return entry.index;
    const index: TextPart[] = [];
    for (const { part, earlier } of entry.parts) {
      try {
        index.push({ ...(await this.#transcripts.index(entry.id, part)), ...(earlier && { earlier }) });
      } catch (error) {
        if (!isDamage(error)) throw error;
        entry.damaged = true;
      }
    }
    if (this.#bytes < INDEX_BYTES && !entry.index && this.#byId.get(entry.id) === entry) {
      entry.index = index;
      this.#bytes += toBytes(index);
    }
    return index;
  }

  #forget(entry: Entry): void {
    this.#bytes -= toBytes(entry.index);
    entry.index = undefined;
  }

  /** A row of this file cannot be read: it will be rebuilt. */
  drop(file: ColumnFile): void {
    this.#shelf.drop(file);
    this.#tidiedAt = -1;
  }

  /** Puts the signatures of sessions that are in no columns into new ones, once there are enough. Resolves when the run is done. */
  tidy(): Promise<void> {
    if (this.#tidiedAt === this.#readAt) return this.#tidying ?? Promise.resolve();
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
    return this.#tidying;
  }

  /** Resolves when no run of `tidy` is under way. */
  get tidied(): Promise<void> {
    return this.#tidying ?? Promise.resolve();
  }

  async #tidy(): Promise<void> {
    this.#tidiedAt = this.#readAt;
    // In the order of the list, so that a search reads few files for neighbouring sessions.
    const missing = this.#list.filter((entry) => {
      // A session may have been placed while its row was read again.
      if (!isPlaced(entry)) entry.columns = this.#shelf.placeOf(entry.key);
      return !entry.columns;
    });
    const signatures = async (entry: Entry) => {
      const index = await this.indexOf(entry);
      if (entry.damaged) return undefined;
      return index.flatMap(({ chunks, sidecars }) =>
        chunks.map(({ sidecar: [start, length] }) => sidecars.subarray(start, start + length)),
      );
    };
    await this.#shelf.tidy(
      () => new Set(this.#list.map(({ key }) => key)),
      missing.map((entry) => ({ key: entry.key, chunks: chunksIn(entry), signatures: () => signatures(entry) })),
    );
    for (const entry of missing) {
      entry.columns = this.#shelf.placeOf(entry.key);
      if (entry.columns) this.#forget(entry);
    }
  }

  async #read(): Promise<void> {
    const { generation } = this.#changes;
    const changed = this.#changes.since(this.#readAt);
    await this.#shelf.open();
    const [rows, texts] = changed ? await this.#someRows([...changed]) : await this.#allRows();
    const earlier = new Map<string, EarlierRow[]>();
    for (const text of texts) earlier.set(text.session_id, [...(earlier.get(text.session_id) ?? []), text]);
    const read: Entry[] = [];
    for (const row of rows) {
      if (mustYield()) await yieldNow();
      read.push(toEntry(row, earlier.get(row.id) ?? []));
    }
    const before = new Map<string, Entry>();
    for (const id of changed ?? [...this.#byId.keys()]) {
      const old = this.#byId.get(id);
      if (!old) continue;
      before.set(id, old);
      this.#byId.delete(id);
    }
    for (const entry of read) {
      const old = before.get(entry.id);
      if (old?.key === entry.key) {
        entry.index = old.index;
        entry.damaged = old.damaged;
        // Its bytes are counted once.
        old.index = undefined;
        before.delete(entry.id);
      }
      entry.columns = this.#shelf.placeOf(entry.key);
      this.#byId.set(entry.id, entry);
    }
    for (const old of before.values()) this.#forget(old);
    this.#list = [...this.#byId.values()].sort(newestFirst);
    this.#readAt = generation;
  }

  #allRows(): Promise<[Row[], EarlierRow[]]> {
    return Promise.all([
      this.#db.all<Row>(`select ${ROW} from session where not ${COPY}`),
      this.#db.all<EarlierRow>("select * from earlier order by version desc"),
    ]);
  }

  async #someRows(ids: readonly string[]): Promise<[Row[], EarlierRow[]]> {
    const rows: Row[] = [];
    const texts: EarlierRow[] = [];
    for (const page of pages(ids)) {
      const here = marks(page);
      rows.push(...(await this.#db.all<Row>(`select ${ROW} from session where id in (${here}) and not ${COPY}`, page)));
      texts.push(
        ...(await this.#db.all<EarlierRow>(
          `select * from earlier where session_id in (${here}) order by version desc`,
          page,
        )),
      );
    }
    return [rows, texts];
  }
}
