/** The sessions a search goes through, with directories and signatures of their texts as far as they were read. */
import { createHash } from "node:crypto";
import {
  BoundedMap,
  type Database,
  type PartIndex,
  Slices,
  sortInSlices,
  type TranscriptPart,
  type Transcripts,
} from "sessarc";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import { type EarlierRow, partsOf } from "../catalogue/types.ts";
import type { EarlierOf } from "./candidate.ts";
import type { ColumnFile, Columns } from "./columns.ts";
import { type Run, runsOf } from "./runs.ts";
import type { Shelf, Unplaced } from "./shelf.ts";

export interface Entry {
  id: string;
  projectId: string;
  tool: string;
  sortAt: number;
  startMs: number | null;
  endMs: number | null;
  errors: number;
  /** Its texts, see `textsOf`: few are ever asked for. */
  packed: string;
  /** Id and texts in 8 bytes, as hex. */
  key: string;
  /** Where its signatures stand turned around, as far as they do. */
  columns: Columns | undefined;
  index: TextPart[] | undefined;
  /** Some of it could not be read. Set by `Entries.damage`. */
  damaged: boolean;
  /** Its session changed or went since: whoever still reads it keeps nothing of it. */
  replaced: boolean;
}

/** All sessions, the newest first. */
export interface List {
  entries: readonly Entry[];
  runs: readonly Run[];
}

/** The session's own text, or an earlier one, of which only the messages count that no later one has. */
export interface Text {
  parts: TranscriptPart[];
  earlier?: EarlierOf;
}

export type TextPart = PartIndex & Pick<Text, "earlier">;

interface Row {
  id: string;
  project_id: string;
  tool: string;
  sort_at: number;
  started_at: string | null;
  ended_at: string | null;
  error_count: number;
  parts: string;
}

/** Errors that a fork copied count elsewhere, and stand in its text all the same. */
const COLUMNS = "id, project_id, tool, sort_at, started_at, ended_at, error_count + (copied > 0) as error_count, parts";
/** Rows read between two looks at the clock. */
const PAGE = 500;
/** Bytes of signatures kept: those of some 30,000 chunks, the newest sessions first. Others are read again each time. */
const INDEX_BYTES = 160 << 20;
/** Sessions whose directories are read at once: where they are far away, waiting is shared. */
const AT_ONCE = 4;

export class Entries {
  readonly #db: Database;
  readonly #transcripts: Transcripts;
  readonly #changes: Changes;
  #list: readonly Entry[] = [];
  #runs: readonly Run[] = [];
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
    return { entries: this.#list, runs: this.#runs };
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
    const list = this.#list;
    const missing = list.filter((entry) => !isPlaced(entry));
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
      unplaced.push({ key: entry.key, chunks: chunksIn(entry), signatures: () => signatures(entry) });
      if (slices.due) await slices.turn();
    }
    await this.#shelf.tidy(() => new Set(list.map(({ key }) => key)), unplaced);
    for (const entry of missing) {
      if (slices.due) await slices.turn();
      entry.columns = this.#shelf.placeOf(entry.key);
      if (!entry.columns || !entry.index) continue;
      this.#forget(entry);
      entry.index = undefined;
    }
    this.#runs = runsOf(this.#list);
  }

  async #readIndex(entry: Entry): Promise<TextPart[]> {
    const parts = textsOf(entry).flatMap(({ parts, earlier }) => parts.map((part) => ({ part, earlier })));
    const index: TextPart[] = [];
    for (const { part, earlier } of parts) {
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
    const known = new Map<string, Entry>();
    for (const entry of this.#list) if (!changed || changed.has(entry.id)) known.set(entry.id, entry);
    const read: Entry[] = [];
    const slices = new Slices();
    const pages = changed ? this.#rowsOf([...changed]) : this.#allRows();
    for await (const { rows, texts } of pages) {
      const earlier = new Map<string, EarlierRow[]>();
      for (const text of texts) earlier.set(text.session_id, [...(earlier.get(text.session_id) ?? []), text]);
      for (const row of rows) {
        const entry = toEntry(row, earlier.get(row.id) ?? [], known.get(row.id));
        entry.columns ??= this.#shelf.placeOf(entry.key);
        read.push(entry);
      }
      if (slices.due) await slices.turn();
    }
    for (const old of known.values()) {
      old.replaced = true;
      this.#forget(old);
      this.#damaged.delete(old);
    }
    for (const entry of read) {
      if (entry.index) this.#keep(entry);
      if (entry.damaged) this.#damaged.add(entry);
    }
    const sorted = await sortInSlices(read, newestFirst);
    this.#list = changed
      ? merge(
          this.#list.filter((entry) => !changed.has(entry.id)),
          sorted,
        )
      : sorted;
    this.#runs = runsOf(this.#list);
    this.#readAt = generation;
  }

  async *#allRows(): AsyncGenerator<{ rows: Row[]; texts: EarlierRow[] }> {
    for (let after = 0; ; ) {
      const rows = await this.#db.all<Row & { rowid: number }>(
        `select rowid, ${COLUMNS} from session where rowid > ? order by rowid limit ${PAGE}`,
        [after],
      );
      const last = rows.at(-1);
      if (!last) return;
      const texts = await this.#db.all<EarlierRow>(
        "select e.* from earlier e join session s on s.id = e.session_id where s.rowid > ? and s.rowid <= ? order by e.version desc",
        [after, last.rowid],
      );
      yield { rows, texts };
      after = last.rowid;
    }
  }

  async *#rowsOf(ids: readonly string[]): AsyncGenerator<{ rows: Row[]; texts: EarlierRow[] }> {
    for (let i = 0; i < ids.length; i += PAGE) {
      const page = ids.slice(i, i + PAGE);
      const marks = page.map(() => "?").join(", ");
      const rows = await this.#db.all<Row>(`select ${COLUMNS} from session where id in (${marks})`, page);
      const texts = await this.#db.all<EarlierRow>(
        `select * from earlier where session_id in (${marks}) order by version desc`,
        page,
      );
      yield { rows, texts };
    }
  }
}

/** Chunks of a session whose directory was not read, about: it decides when, not what. */
const chunksIn = (entry: Entry) =>
  textsOf(entry).reduce(
    (sum, { parts }) => parts.reduce((all, part) => all + 1 + Math.floor(part.bytes / 24_000), sum),
    0,
  );

export const isPlaced = ({ columns }: Entry) => columns !== undefined && !columns.file.closed;

const bytesOf = ({ index }: Entry) => index?.reduce((sum, { sidecars }) => sum + sidecars.length, 0) ?? 0;

const newestFirst = (a: Entry, b: Entry) => b.sortAt - a.sortAt || (a.id < b.id ? -1 : 1);

/** Two sorted lists as one. The second is short. */
function merge(kept: readonly Entry[], read: readonly Entry[]): Entry[] {
  const out: Entry[] = [];
  let from = 0;
  for (const entry of read) {
    let [low, high] = [from, kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (newestFirst(kept[middle] as Entry, entry) < 0) low = middle + 1;
      else high = middle;
    }
    for (; from < low; from++) out.push(kept[from] as Entry);
    out.push(entry);
  }
  for (; from < kept.length; from++) out.push(kept[from] as Entry);
  return out;
}

/** A line for the session's own text, which is its parts alone, and for each earlier one its version, parts and own messages. */
const pack = (row: Row, earlier: readonly EarlierRow[]) =>
  [row.parts, ...earlier.map((text) => `${text.version} ${text.parts} ${text.own}`)].join("\n");

function textsOf({ packed }: Entry): Text[] {
  const [parts = "[]", ...earlier] = packed.split("\n");
  return [
    { parts: partsOf({ parts }) },
    ...earlier.map((line) => {
      const [version, parts = "[]", own = "[]"] = line.split(" ");
      return {
        parts: partsOf({ parts }),
        earlier: { version: Number(version), own: JSON.parse(own) as [number, number][] },
      };
    }),
  ];
}

/** Tools and projects are few: equal names are one string. */
const names = new BoundedMap<string, string>(10_000);
function shared(name: string): string {
  const known = names.get(name);
  if (known === undefined) names.set(name, name);
  return known ?? name;
}

function toEntry(row: Row, earlier: readonly EarlierRow[], old: Entry | undefined): Entry {
  const packed = pack(row, earlier);
  const same = old?.packed === packed ? old : undefined;
  return {
    id: row.id,
    projectId: shared(row.project_id),
    tool: shared(row.tool),
    sortAt: row.sort_at,
    startMs: row.started_at === null ? null : Date.parse(row.started_at),
    endMs: row.ended_at === null ? null : Date.parse(row.ended_at),
    errors: row.error_count,
    packed,
    key: same?.key ?? createHash("sha256").update(`${row.id}\n${packed}`).digest("hex").slice(0, 16),
    columns: same && isPlaced(same) ? same.columns : undefined,
    index: same?.index,
    damaged: same?.damaged ?? false,
    replaced: false,
  };
}
