/** Search over the archive: signatures rule chunks out, the rest is inflated and looked at, newest sessions first. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Chunk, ChunkEntry, Database, TranscriptPart, Transcripts } from "sessarc";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import type { Readers } from "../catalogue/readers.ts";
import { ChunkCache } from "./cache.ts";
import { Entries, type Entry, type TextPart } from "./entries.ts";
import { type CompiledQuery, compile, type Match, matchChunk, toMatch } from "./match.ts";
import type { Query } from "./query.ts";
import { mayHold } from "./signature.ts";

export interface SearchRequest {
  query: Query;
  /** Ids of the projects that pass the query's project filters; null: all. */
  projects: ReadonlySet<string> | null;
  limit: number;
  /** Where the last page ended. */
  cursor?: { sortAt: number; id: string } | undefined;
  sort: "recent" | "relevance";
  /** ms after which the search stops and answers what it has. */
  budgetMs: number;
  signal?: AbortSignal | undefined;
}

export interface SessionHits {
  id: string;
  projectId: string;
  matchCount: number;
  /** `gte` when the session was too large to count to its end. */
  matchRelation: "eq" | "gte";
  matches: Match[];
}

export interface SearchAnswer {
  results: SessionHits[];
  total: { sessions: number; relation: "eq" | "gte" };
  next: { sortAt: number; id: string } | null;
  /** What the index did: chunks known, chunks that passed their signature, chunks inflated for this request. */
  stats: { chunks: number; candidates: number; inflated: number };
  /** Sessions of which something could not be read: it was left out. */
  damaged: number;
}

const SLICE_MS = 8;
const MATCHES_SHOWN = 3;
/** Chunks of one session fetched at once. */
const AHEAD = 4;
/** Chunks of one session counted through once there is something to show. */
const COUNTED_CHUNKS = 8;

export class SearchIndex {
  readonly #transcripts: Transcripts;
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #readers: Readers;
  readonly #onDamage: (id: string) => void;

  /** `onDamage`: told the session whose transcript could not be read. */
  constructor(
    db: Database,
    transcripts: Transcripts,
    readers: Readers,
    changes: Changes,
    onDamage: (id: string) => void,
  ) {
    this.#readers = readers;
    this.#onDamage = onDamage;
    this.#entries = new Entries(db, transcripts, changes);
    this.#transcripts = transcripts;
    this.#cache = new ChunkCache(transcripts);
  }

  close(): void {
    this.#cache.clear();
  }

  /**
   * Sessions whose messages match, newest first. Cost: about 20 ns a chunk ruled out, 0.3 ms a chunk inflated, 0.05 ms a chunk still
   * in memory; never more than 8 ms without letting others run.
   */
  async search(request: SearchRequest): Promise<SearchAnswer> {
    const end = this.#readers.begin();
    try {
      return await this.#search(request);
    } finally {
      end();
    }
  }

  async #search(request: SearchRequest): Promise<SearchAnswer> {
    const entries = await this.#entries.list();
    const compiled = compile(request.query);
    const stats = { chunks: 0, candidates: 0, inflated: 0 };
    const results: SessionHits[] = [];
    const started = performance.now();
    let slice = started;
    let next: SearchAnswer["next"] = null;
    let complete = true;
    const wanted = entries.filter((entry) => passes(entry, request));
    const inflatedBefore = this.#transcripts.stats.inflated;

    for (let i = 0; i < wanted.length; i++) {
      const entry = wanted[i] as Entry;
      const now = performance.now();
      if (request.signal?.aborted || now - started > request.budgetMs) {
        complete = false;
        next = positionOf(wanted[i - 1]) ?? request.cursor ?? null;
        break;
      }
      if (now - slice > SLICE_MS) {
        await nextTurn();
        slice = performance.now();
      }
      const candidates = entry.index
        ? this.#candidates(entry.index, compiled, stats)
        : await this.#load(wanted, i, compiled, stats);
      if (candidates.length === 0) continue;
      if (request.sort === "recent" && results.length === request.limit) {
        // One more that matches tells that there is a next page.
        if (await this.#matches(entry, candidates.slice(0, COUNTED_CHUNKS), compiled)) {
          complete = false;
          next = lastOf(results, wanted);
          break;
        }
        continue;
      }
      const hits = await this.#look(entry, candidates, compiled);
      if (hits) results.push(hits);
    }
    const damaged = wanted.filter((entry) => entry.damaged);
    for (const { id } of damaged) this.#onDamage(id);
    stats.inflated = this.#transcripts.stats.inflated - inflatedBefore;
    const sessions = results.length;
    if (request.sort === "relevance") results.sort((a, b) => b.matchCount - a.matchCount).splice(request.limit);
    return {
      results,
      total: { sessions, relation: complete && damaged.length === 0 && !request.cursor ? "eq" : "gte" },
      next,
      stats,
      damaged: damaged.length,
    };
  }

  /** Directories and signatures of a session and the next few not read yet, all at once. */
  async #load(
    wanted: readonly Entry[],
    from: number,
    compiled: CompiledQuery,
    stats: SearchAnswer["stats"],
  ): Promise<Candidate[]> {
    const missing = wanted.slice(from, from + 64).filter((entry) => entry.index === undefined);
    await this.#entries.load(missing);
    return this.#candidates(wanted[from]?.index ?? [], compiled, stats);
  }

  #candidates(index: readonly TextPart[], compiled: CompiledQuery, stats: SearchAnswer["stats"]): Candidate[] {
    const { after, before } = compiled.query;
    const out: Candidate[] = [];
    for (const { part, chunks, sidecars, earlier } of index) {
      stats.chunks += chunks.length;
      for (const chunk of chunks) {
        if (after !== null && (chunk.lastAt === null || chunk.lastAt < after)) continue;
        if (before !== null && (chunk.firstAt === null || chunk.firstAt >= before)) continue;
        if (!mayHold(sidecars, chunk.sidecar[0], chunk.sidecar[1], compiled.grams)) continue;
        if (earlier && !overlaps(earlier.own, chunk.firstSeq, chunk.firstSeq + chunk.count)) continue;
        out.push({ part, chunk, earlier });
      }
    }
    stats.candidates += out.length;
    return out;
  }

  async #look(
    entry: Entry,
    candidates: readonly Candidate[],
    compiled: CompiledQuery,
  ): Promise<SessionHits | undefined> {
    const hits: SessionHits = {
      id: entry.id,
      projectId: entry.projectId,
      matchCount: 0,
      matchRelation: "eq",
      matches: [],
    };
    let counted = 0;
    for (let at = 0; at < candidates.length; at += AHEAD) {
      const chunks = await Promise.all(
        candidates.slice(at, at + AHEAD).map((one) => this.#chunk(entry, one, compiled)),
      );
      for (const [i, chunk] of chunks.entries()) {
        if (!chunk) continue;
        const { earlier } = candidates[at + i] as Candidate;
        matchChunk(chunk, compiled, (index) => {
          if (!counts(earlier, chunk.firstSeq + index)) return;
          hits.matchCount++;
          if (hits.matches.length === MATCHES_SHOWN) return;
          const match = toMatch(chunk, index, compiled);
          hits.matches.push(earlier ? { ...match, version: earlier.version } : match);
        });
      }
      counted += chunks.length;
      if (hits.matchCount > 0 && counted >= COUNTED_CHUNKS && at + AHEAD < candidates.length) {
        hits.matchRelation = "gte";
        break;
      }
    }
    return hits.matchCount > 0 ? hits : undefined;
  }

  /** Null when it holds nothing of the query, or cannot be read. */
  async #chunk(entry: Entry, { part, chunk }: Candidate, { bytes }: CompiledQuery): Promise<Chunk | null> {
    try {
      return await this.#cache.get(entry.id, part, chunk, bytes);
    } catch (error) {
      if (!isDamage(error)) throw error;
      entry.damaged = true;
      return null;
    }
  }

  async #matches(entry: Entry, candidates: readonly Candidate[], compiled: CompiledQuery): Promise<boolean> {
    for (const one of candidates) {
      const chunk = await this.#chunk(entry, one, compiled);
      if (!chunk) continue;
      let found = false;
      matchChunk(chunk, compiled, (index) => {
        found ||= counts(one.earlier, chunk.firstSeq + index);
      });
      if (found) return true;
    }
    return false;
  }
}

interface Candidate extends Pick<TextPart, "earlier"> {
  part: TranscriptPart;
  chunk: ChunkEntry;
}

/** Of an earlier text only what no later one has: all else is found there. */
const counts = (earlier: TextPart["earlier"], seq: number) => !earlier || overlaps(earlier.own, seq, seq + 1);
const overlaps = (ranges: readonly [number, number][], from: number, to: number) =>
  ranges.some(([start, end]) => start < to && end > from);

function passes(entry: Entry, { query, projects, cursor }: SearchRequest): boolean {
  if (cursor && !(entry.sortAt < cursor.sortAt || (entry.sortAt === cursor.sortAt && entry.id > cursor.id)))
    return false;
  if (projects && !projects.has(entry.projectId)) return false;
  if (!query.tool.every((tools) => tools.some((tool) => entry.tool.includes(tool)))) return false;
  if (query.notTool.some((tool) => entry.tool.includes(tool))) return false;
  if (query.error === true && entry.errors === 0) return false;
  if (query.after !== null && entry.endMs !== null && entry.endMs < query.after) return false;
  return !(query.before !== null && entry.startMs !== null && entry.startMs >= query.before);
}

const positionOf = (entry: Entry | undefined) => (entry ? { sortAt: entry.sortAt, id: entry.id } : null);

function lastOf(results: readonly SessionHits[], wanted: readonly Entry[]): SearchAnswer["next"] {
  const last = results.at(-1);
  return positionOf(wanted.find((entry) => entry.id === last?.id));
}
