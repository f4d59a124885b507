/** One question over the archive: which sessions and chunks may hold it, and what of them does. */
import { mustYield, yieldNow } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import type { ChunkCache } from "./cache.ts";
import { type Candidate, candidatesIn, counts } from "./candidate.ts";
import { type ColumnFile, countIn } from "./columns.ts";
import type { Entries } from "./entries.ts";
import { chunksIn, type Entry, passes, type Scope } from "./entry.ts";
import { type CompiledQuery, type FoundMatch, matchesIn, toMatch, wordsShown } from "./match.ts";
import { type Found, rankOf, weigh } from "./rank.ts";
import { type Searched, searchedIn } from "./searched.ts";

/** What the index did: chunks known, chunks that passed their signature, chunks inflated for this request. */
export interface SearchStats {
  chunks: number;
  candidates: number;
  inflated: number;
}

/** A session with its chunks that may hold the query. */
export interface MayHold {
  entry: Entry;
  candidates: readonly Candidate[];
}

/** What a page shows of a session: its first matches, and how many there are. */
export interface SessionHits {
  id: string;
  projectId: string;
  matchCount: number;
  /** `gte` when the session was too large to count to its end. */
  matchRelation: "eq" | "gte";
  matches: FoundMatch[];
}

const MATCHES_SHOWN = 3;
/** Chunks of one session that are counted through once there is something to show. */
const COUNTED_CHUNKS = 8;
/** Sessions whose directories are read at once: a remote store answers them together. */
const AT_ONCE = 4;
/** Sessions checked between two checks of the clock. */
const STEP = 1_024;

/** Above every rank that words give. */
const FIRST = 1_000_000;

export class Lookup {
  readonly stats: SearchStats = { chunks: 0, candidates: 0, inflated: 0 };
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #compiled: CompiledQuery;
  readonly #signal: AbortSignal | undefined;
  /** Chunks in which nothing matched. */
  inVain = 0;
  /** Sessions whose signatures had to be read, and that they ruled out. */
  readInVain = 0;
  /** By file of columns: chunks that may hold the query; undefined where the file cannot be read. */
  readonly #bits = new Map<ColumnFile, Uint8Array | undefined>();

  /** Once `signal` aborts, the next step throws. */
  constructor(entries: Entries, cache: ChunkCache, compiled: CompiledQuery, signal: AbortSignal | undefined) {
    this.#entries = entries;
    this.#cache = cache;
    this.#compiled = compiled;
    this.#signal = signal;
  }

  /** Sessions that pass the filters and that columns do not rule out: some 30 ns each. */
  async wanted(entries: readonly Entry[], scope: Scope): Promise<Entry[]> {
    const wanted: Entry[] = [];
    for (const [i, entry] of entries.entries()) {
      if (i % STEP === 0 && mustYield()) await yieldNow();
      if (!passes(entry, scope)) continue;
      if (this.passing(entry) === 0 && !this.named(entry)) this.stats.chunks += entry.columns?.count ?? 0;
      else wanted.push(entry);
    }
    return wanted;
  }

  /** Whether its title has all the words, or they are its id: such a session is found although no message may. */
  named(entry: Entry): boolean {
    const { title } = entry;
    const { words, without, filtered } = this.#compiled;
    if (words.length === 0 || filtered) return false;
    if (this.#hasId(entry)) return true;
    const has = (word: RegExp) => {
      word.lastIndex = 0;
      return word.test(title);
    };
    return words.every(has) && !without.some(has);
  }

  #hasId({ id, tool }: Entry): boolean {
    const part = this.#compiled.id;
    return part !== null && (part.includes(":") ? id : id.slice(tool.length)).toLowerCase().includes(part);
  }

  /** A session's place by "best match"; first is the one whose id is asked for. */
  rank(entry: Entry, found: Found): number {
    return this.#hasId(entry) ? FIRST : rankOf(entry, found, this.#compiled);
  }

  /** How many chunks of a session have all groups of five letters; undefined where no columns show it. */
  passing({ columns }: Entry): number | undefined {
    const { fives } = this.#compiled.grams;
    if (!columns || fives.length === 0) return undefined;
    if (!this.#bits.has(columns.file)) {
      try {
        this.#bits.set(columns.file, columns.file.having(fives));
      } catch {
        // Its sessions are checked by their own signatures, and the file is rebuilt.
        this.#bits.set(columns.file, undefined);
        this.#entries.drop(columns.file);
      }
    }
    const bits = this.#bits.get(columns.file);
    return bits && countIn(bits, columns);
  }

  /** Chunks of a session that may hold the query, at most; an estimate where no columns know the session. 0: its cached signatures rule it out. */
  most(entry: Entry): number {
    const isOut = entry.index?.every((part) => candidatesIn(part, this.#compiled).length === 0);
    return isOut ? 0 : (this.passing(entry) ?? chunksIn(entry));
  }

  /** Each session with its chunks that may hold the query. */
  async *mayHold(entries: readonly Entry[]): AsyncGenerator<MayHold> {
    for (let i = 0; i < entries.length; i += AT_ONCE) {
      const some = entries.slice(i, i + AT_ONCE);
      const candidates = await Promise.all(some.map((entry) => this.candidates(entry)));
      for (const [n, entry] of some.entries()) yield { entry, candidates: candidates[n] ?? [] };
      if (mustYield()) await yieldNow();
    }
  }

  /** Adds what another thread did for this question. */
  add({ chunks, candidates, inflated }: SearchStats): void {
    this.stats.chunks += chunks;
    this.stats.candidates += candidates;
    this.stats.inflated += inflated;
  }

  /** Chunks of a session that may hold the query, by their signatures. */
  async candidates(entry: Entry): Promise<Candidate[]> {
    this.#signal?.throwIfAborted();
    const candidates: Candidate[] = [];
    const isCached = entry.index !== undefined;
    for (const part of await this.#entries.indexOf(entry)) {
      this.stats.chunks += part.chunks.length;
      candidates.push(...candidatesIn(part, this.#compiled));
    }
    if (!isCached && candidates.length === 0) this.readInVain++;
    this.stats.candidates += candidates.length;
    return candidates;
  }

  /** Calls `onMatch` with each message of these chunks that matches and counts, until it returns true. */
  async each(
    entry: Entry,
    candidates: readonly Candidate[],
    onMatch: (match: Searched, one: Candidate) => boolean,
  ): Promise<void> {
    for (const one of candidates) {
      const messages = await this.#messages(entry, one);
      if (mustYield()) await yieldNow();
      this.inVain++;
      let isFirst = true;
      for (const match of matchesIn(messages, this.#compiled)) {
        if (match === null) {
          this.#signal?.throwIfAborted();
          if (mustYield()) await yieldNow();
        } else if (counts(one.earlier, match.event.seq)) {
          if (isFirst) this.inVain--;
          isFirst = false;
          if (onMatch(match, one)) return;
        }
      }
    }
  }

  /** Its first matches; undefined where no message of these chunks matches and its title does not. */
  async hits(entry: Entry, candidates: readonly Candidate[]): Promise<SessionHits | undefined> {
    const { id, projectId } = entry;
    const hits: SessionHits = { id, projectId, matchCount: 0, matchRelation: "eq", matches: [] };
    for (const [i, one] of candidates.entries()) {
      if (hits.matchCount > 0 && i >= COUNTED_CHUNKS) {
        hits.matchRelation = "gte";
        break;
      }
      await this.each(entry, [one], (found, candidate) => {
        hits.matchCount++;
        if (hits.matches.length < MATCHES_SHOWN) hits.matches.push(this.#show(found, candidate));
        return false;
      });
    }
    return hits.matchCount > 0 || this.named(entry) ? hits : undefined;
  }

  /** Its best matches, those first that show most of the words: of its first chunks, and of the others until the best of all is there. */
  async bestHits(entry: Entry, { messages, best }: Found): Promise<SessionHits> {
    const shown: { words: number; worth: number; found: Searched; one: Candidate }[] = [];
    let most = 0;
    for (const [i, one] of (messages > 0 ? await this.candidates(entry) : []).entries()) {
      if (i >= COUNTED_CHUNKS && most >= best) break;
      await this.each(entry, [one], (found) => {
        const worth = weigh(found, this.#compiled);
        most = Math.max(most, worth);
        shown.push({ words: wordsShown(found, this.#compiled), worth, found, one });
        return false;
      });
      shown.sort((a, b) => b.words - a.words || b.worth - a.worth).splice(MATCHES_SHOWN);
      if (shown.length === MATCHES_SHOWN && most >= best) break;
    }
    const matches = shown.map(({ found, one }) => this.#show(found, one));
    return { id: entry.id, projectId: entry.projectId, matchCount: messages, matchRelation: "eq", matches };
  }

  /** Whether any message of these chunks matches, or its title. */
  async any(entry: Entry, candidates: readonly Candidate[]): Promise<boolean> {
    let found = this.named(entry);
    if (found) return true;
    await this.each(entry, candidates, () => {
      found = true;
      return true;
    });
    return found;
  }

  #show(found: Searched, { earlier }: Candidate): FoundMatch {
    const match = toMatch(found, this.#compiled);
    return earlier ? { ...match, version: earlier.version } : match;
  }

  /** Messages of a chunk that may match; none where it cannot be read. */
  async #messages(entry: Entry, { part, chunk }: Candidate): Promise<readonly Searched[]> {
    this.#signal?.throwIfAborted();
    try {
      return searchedIn(await this.#cache.get(entry.id, part, chunk, this.stats), this.#compiled.bytes);
    } catch (error) {
      if (!isDamage(error)) throw error;
      entry.damaged = true;
      return [];
    }
  }
}
