/** Which chunks of a session may hold a query, and what stands in them. */
import { type Chunk, Slices } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import type { ChunkCache } from "./cache.ts";
import { type Candidate, counts, overlaps } from "./candidate.ts";
import { type ColumnFile, countIn } from "./columns.ts";
import type { Entries, Entry, TextPart } from "./entries.ts";
import { type CompiledQuery, matchChunk } from "./match.ts";
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

/** Sessions whose directories are read at once. */
const AHEAD = 64;

/** One question over the archive: what it looked at, and when it must let others run. */
export class Looker {
  readonly slices = new Slices();
  readonly stats: SearchStats = { chunks: 0, candidates: 0, inflated: 0 };
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #compiled: CompiledQuery;
  /** Chunks that held the word by their bytes, and that did not. */
  #held = 0;
  #lacked = 0;
  /** By file of columns: chunks that may hold the query; undefined where it could not be read. */
  readonly #having = new Map<ColumnFile, Uint8Array | undefined>();

  constructor(entries: Entries, cache: ChunkCache, compiled: CompiledQuery) {
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
    const { file } = columns;
    if (!this.#having.has(file)) {
      try {
        this.#having.set(file, file.having(fives));
      } catch {
        // Its sessions are looked at one by one, and it is made again.
        this.#having.set(file, undefined);
        this.#entries.drop(file);
      }
    }
    const bits = this.#having.get(file);
    return bits && countIn(bits, columns);
  }

  /** Chunks of `wanted[at]` that may hold the query; directories of the next few sessions are read along where they are missing. */
  async candidates(wanted: readonly Entry[], at: number): Promise<Candidate[]> {
    const entry = wanted[at] as Entry;
    if (!entry.index) {
      const missing = wanted.slice(at, at + AHEAD).filter((one) => one.index === undefined && this.#passing(one) !== 0);
      await this.#entries.load(missing, this.slices);
    }
    return this.#candidatesIn(entry.index ?? (await this.#entries.indexOf(entry)));
  }

  /** How many chunks of `wanted` from `at` on may hold the query; more than `most` are not counted. Undefined where it is not known yet. */
  left(wanted: readonly Entry[], at: number, most: number): number | undefined {
    const before = { ...this.stats };
    let count = 0;
    for (let i = at; i < wanted.length && count <= most; i++) {
      const entry = wanted[i] as Entry;
      const passing = this.#passing(entry);
      if (passing === 0) continue;
      if (!entry.index && passing === undefined) return undefined;
      count += entry.index ? this.#candidatesIn(entry.index).length : (passing ?? 0);
    }
    Object.assign(this.stats, before);
    return count;
  }

  #candidatesIn(index: readonly TextPart[]): Candidate[] {
    const { query, grams } = this.#compiled;
    const { after, before } = query;
    const out: Candidate[] = [];
    for (const { part, chunks, sidecars, earlier } of index) {
      this.stats.chunks += chunks.length;
      for (const chunk of chunks) {
        if (after !== null && (chunk.lastAt === null || chunk.lastAt < after)) continue;
        if (before !== null && (chunk.firstAt === null || chunk.firstAt >= before)) continue;
        if (!mayHold(sidecars, chunk.sidecar[0], chunk.sidecar[1], grams)) continue;
        if (earlier && !overlaps(earlier, chunk.firstSeq, chunk.firstSeq + chunk.count)) continue;
        out.push({ part, chunk, earlier });
      }
    }
    this.stats.candidates += out.length;
    return out;
  }

  /** Null when it holds nothing of the query, or cannot be read. `keep`: it is likely to be looked at again. */
  async chunk(entry: Entry, { part, chunk }: Candidate, keep = true): Promise<Chunk | null> {
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
      entry.damaged = true;
      return null;
    }
  }

  /** Calls `onMatch` with each message of the chunk that matches and counts, until it answers true. */
  match(chunk: Chunk, { earlier }: Candidate, onMatch: (index: number) => boolean | undefined): void {
    matchChunk(chunk, this.#compiled, (index) => counts(earlier, chunk.firstSeq + index) && onMatch(index));
  }

  /** Whether anything in these chunks matches. */
  async any(entry: Entry, candidates: readonly Candidate[]): Promise<boolean> {
    for (const one of candidates) {
      const chunk = await this.chunk(entry, one);
      if (this.slices.due) await this.slices.turn();
      if (!chunk) continue;
      let found = false;
      this.match(chunk, one, () => {
        found = true;
        return found;
      });
      if (found) return true;
    }
    return false;
  }
}
