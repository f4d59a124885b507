/** Which chunks of a session may hold a query, and what stands in them. */
import { type Chunk, Slices } from "#internal";
import { isDamage } from "../catalogue/damage.ts";
import type { ChunkCache } from "./cache.ts";
import { type Candidate, counts, mayCount } from "./candidate.ts";
import { type ColumnFile, countIn } from "./columns.ts";
import type { Entries } from "./entries.ts";
import type { Entry, TextPart } from "./entry.ts";
import { type CompiledQuery, matchesIn } from "./match.ts";
import type { Query } from "./query.ts";
import { mayHold } from "./signature.ts";

export interface Scope {
  query: Query;
  /** Ids of the projects that pass the query's project filters; null: all. */
  projects: ReadonlySet<string> | null;
}

/** What the index did: chunks known, chunks that passed their signature, chunks inflated for this request. */
export interface SearchStats {
  chunks: number;
  candidates: number;
  inflated: number;
}

/** Sessions whose directories are read at once: few at first, as a page needs few. */
const AHEAD = 8;
const AHEAD_MOST = 64;

/** What it needs of the sessions' list. */
export type Directories = Pick<Entries, "load" | "indexOf" | "drop" | "damage">;

/** One question over the archive: what it looked at, and when it must let others run. */
export class Looker {
  readonly slices = new Slices();
  readonly stats: SearchStats = { chunks: 0, candidates: 0, inflated: 0 };
  readonly #entries: Directories;
  readonly #cache: ChunkCache;
  readonly #compiled: CompiledQuery;
  /** Chunks that held the word by their bytes, and that did not. */
  #held = 0;
  #lacked = 0;
  #ahead = AHEAD;
  /** By file of columns: chunks that may hold the query; undefined where it could not be read. */
  readonly #having = new Map<ColumnFile, Uint8Array | undefined>();

  readonly #signal: AbortSignal | undefined;

  /** Once `signal` aborts no chunk is read any more: that throws. */
  constructor(entries: Directories, cache: ChunkCache, compiled: CompiledQuery, signal?: AbortSignal) {
    this.#signal = signal;
    this.#entries = entries;
    this.#cache = cache;
    this.#compiled = compiled;
  }

  /** That nothing of it can hold the query, told without reading anything of its own: some 30 ns. */
  rulesOut(entry: Entry): boolean {
    if (this.#passing(entry) !== 0) return false;
    this.stats.chunks += entry.columns?.count ?? 0;
    return true;
  }

  /** How many of its chunks have all groups of five letters; undefined where no columns tell. */
  #passing({ columns }: Entry): number | undefined {
    const { fives } = this.#compiled.grams;
    if (!columns || fives.length === 0) return undefined;
    const bits = this.#bitsOf(columns.file);
    return bits && countIn(bits, columns);
  }

  #bitsOf(file: ColumnFile): Uint8Array | undefined {
    if (!this.#having.has(file)) {
      try {
        this.#having.set(file, file.having(this.#compiled.grams.fives));
      } catch {
        // Its sessions are looked at one by one, and it is made again.
        this.#having.set(file, undefined);
        this.#entries.drop(file);
      }
    }
    return this.#having.get(file);
  }

  /** How many directories are worth reading along with this one's: where columns tell how much is left, those of a page are enough. */
  ahead(entry: Entry): number {
    if (entry.index) return 1;
    return entry.columns ? this.#ahead : AHEAD_MOST;
  }

  /** Chunks of `next[0]` that may hold the query; directories of those behind it are read along where they are missing. */
  async candidates(next: readonly Entry[]): Promise<Candidate[]> {
    const entry = next[0] as Entry;
    if (!entry.index) {
      await this.#entries.load(
        next.filter((one) => one.index === undefined && this.#passing(one) !== 0),
        this.slices,
      );
      this.#ahead = Math.min(this.#ahead * 2, AHEAD_MOST);
    }
    return this.#candidatesIn(entry.index ?? (await this.#entries.indexOf(entry)));
  }

  /** How many chunks of a session may hold the query; undefined where that is not known yet. */
  left(entry: Entry): number | undefined {
    const chunks = this.#passing(entry);
    if (chunks === 0 || !entry.index) return chunks;
    const before = { ...this.stats };
    const { length } = this.#candidatesIn(entry.index);
    Object.assign(this.stats, before);
    return length;
  }

  /** Something of it could not be read. */
  damage(entry: Entry): void {
    this.#entries.damage(entry);
  }

  #candidatesIn(index: readonly TextPart[]): Candidate[] {
    const { query, grams } = this.#compiled;
    const out: Candidate[] = [];
    for (const { part, chunks, sidecars, earlier } of index) {
      this.stats.chunks += chunks.length;
      for (const chunk of chunks) {
        if (!mayCount(chunk, query, earlier)) continue;
        const [start, length] = chunk.sidecar;
        if (mayHold(sidecars, start, length, grams)) out.push({ part, chunk, earlier });
      }
    }
    this.stats.candidates += out.length;
    return out;
  }

  /** Null when it holds nothing of the query, or cannot be read. `keep`: it is likely to be looked at again. */
  async chunk(entry: Entry, { part, chunk }: Candidate, keep = true): Promise<Chunk | null> {
    this.#signal?.throwIfAborted();
    try {
      const found = await this.#cache.get(entry.id, part, chunk, {
        bytes: this.#compiled.bytes,
        keep,
        frequent: this.#held > this.#lacked * 4 + 16,
        stats: this.stats,
      });
      if (found) this.#held++;
      else this.#lacked++;
      return found;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.damage(entry);
      return null;
    }
  }

  /** Calls `onMatch` with each message of the chunk that matches and counts, until it answers true. */
  async match(chunk: Chunk, { earlier }: Candidate, onMatch: (index: number) => boolean | undefined): Promise<void> {
    for (const index of matchesIn(chunk, this.#compiled)) {
      if (index === null) {
        this.#signal?.throwIfAborted();
        if (this.slices.due) await this.slices.turn();
      } else if (counts(earlier, chunk.firstSeq + index) && onMatch(index)) return;
    }
  }

  /** Whether anything in these chunks matches. */
  async any(entry: Entry, candidates: readonly Candidate[]): Promise<boolean> {
    for (const one of candidates) {
      const chunk = await this.chunk(entry, one);
      if (this.slices.due) await this.slices.turn();
      if (!chunk) continue;
      let found = false;
      await this.match(chunk, one, () => {
        found = true;
        return found;
      });
      if (found) return true;
    }
    return false;
  }
}
