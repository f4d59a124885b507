/** Search over the archive: signatures rule chunks out, the others are inflated and matched, newest sessions first. */

import { type Database, mustYield, yieldNow } from "sessarc";
import { type ChunkEntry, decodeChunk, type TranscriptPart, type Transcripts } from "sessarc/storage";
import type { Changes } from "../catalogue/changes.ts";
import { isDamage } from "../catalogue/damage.ts";
import type { Readers } from "../catalogue/readers.ts";
import { ChunkCache } from "./cache.ts";
import { CountCache, type Derived } from "./count-cache.ts";
import { Entries } from "./entries.ts";
import { type Entry, type ListPlace, newestFirst, passes, type Scope } from "./entry.ts";
import { foldTable } from "./fold.ts";
import { Lookup, type MayHold, type SearchStats, type SessionHits } from "./lookup.ts";
import { compile } from "./match.ts";
import { type Promising, type Wish, Wishes, type WishStats } from "./promising.ts";
import { Shelf, type ShelfOptions } from "./shelf.ts";
import { respell, Vocabulary } from "./spelling.ts";
import {
  type Counter,
  type CountOptions,
  countAll,
  countIn,
  type TotalAnswer,
  type TotalProgress,
  type Totals,
} from "./total.ts";

export interface SearchRequest extends Scope {
  limit: number;
  /** Where the last page ended. */
  cursor?: SearchPlace | undefined;
  sort: "recent" | "relevance";
  /** ms after which the search stops and answers what it has. One that has found nothing goes on: "at least 0" would be no answer. */
  budgetMs: number;
  signal?: AbortSignal | undefined;
}

/** Where the next page goes on. */
export interface SearchPlace {
  /** How many the pages before it found. */
  found: number;
  /** Only sessions behind this one. */
  from?: ListPlace | undefined;
  /** By best match: of the sessions down to `end`, where there was no time for more, those that rank behind `after`. */
  end?: ListPlace | undefined;
  after?: Ranked | undefined;
}

interface Ranked extends ListPlace {
  rank: number;
}

interface TotalRequest extends Scope {
  /** Called with what was counted so far, now and then. */
  onProgress?: ((progress: TotalProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

interface SearchAnswer {
  results: SessionHits[];
  /** `gte` where more may be found; what could not be read is `damaged`. Never "at least 0". */
  total: { sessions: number; relation: "eq" | "gte" };
  next: SearchPlace | null;
  stats: SearchStats;
  /** Sessions of which something could not be read: it was left out. */
  damaged: number;
}

/** Inflated chunks from which on the counts are stored for the next start: about 50 ms of work. */
const STORED_FROM = 100;
/** Sessions from which on the first search is prepared. */
const PREPARED_FROM = 5_000;
/** Chunks checked after a full page, so that its total is right: about 20 ms. */
const COUNTED_BEHIND = 60;
/** Chunks a page inflates in vain on this thread before workers rule out the others. */
const IN_VAIN = 64;
/** Sessions of which a page reads signatures in vain before workers read the others: only a large archive without columns has so many. */
const READ_IN_VAIN = 2_000;
/** Work for the words that a misspelt one is compared with, and how long they are used: who types asks with each letter. */
const SPELLING_MS = 200;
const SPELLING_KEPT_MS = 30_000;
/** Words of a question up to which misspelt ones are looked for. */
const MOST_TERMS = 8;

export class SearchIndex {
  readonly #db: Database;
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #readers: Readers;
  readonly #transcripts: Transcripts;
  readonly #counter: Counter | undefined;
  readonly #onDamage: (id: string) => void;
  readonly #onError: (error: unknown) => void;
  readonly #shelf: Shelf;
  readonly #known: CountCache;
  #words: { vocabulary: Vocabulary; at: number } | undefined;

  /** `counter`: counts in workers, where there are any. `onDamage`: called with a session whose transcript could not be read. */
  constructor(
    db: Database,
    transcripts: Transcripts,
    readers: Readers,
    changes: Changes,
    counter: Counter | undefined,
    onDamage: (id: string) => void,
    shelf: ShelfOptions & { counts?: Derived; onError: (error: unknown) => void },
  ) {
    this.#db = db;
    this.#readers = readers;
    this.#transcripts = transcripts;
    this.#counter = counter;
    this.#onDamage = onDamage;
    this.#onError = shelf.onError;
    this.#known = new CountCache(shelf.readOnly ? undefined : shelf.counts);
    this.#shelf = new Shelf(shelf);
    this.#entries = new Entries(db, transcripts, changes, this.#shelf);
    this.#cache = new ChunkCache(transcripts);
  }

  async close(): Promise<void> {
    this.#cache.clear();
    this.#shelf.close();
    // The run under way ends at its next step; an error in it no longer matters.
    await this.#entries.tidied.catch(() => {});
  }

  /** Chunks of a file of columns, at least and at most; for tests. */
  keepFrom(least: number, most: number): void {
    this.#shelf.keepFrom(least, most);
  }

  /** Writes columns for signatures that are in none. Every search starts it; it resolves when it is done. */
  tidy(): Promise<void> {
    return this.#entries.tidy();
  }

  /** Does for a large archive what its first search would do. A small one is as quick without, and smaller in memory. */
  async prepare(): Promise<void> {
    const row = await this.#db.get<{ n: number }>("select count(*) as n from session");
    if ((row?.n ?? 0) < PREPARED_FROM) return;
    await this.#entries.list();
    foldTable();
    await this.tidy();
  }

  /** Sessions whose messages match. Cost: about 20 ns a chunk ruled out, 0.3 ms a chunk inflated, 0.05 ms a cached chunk. */
  search(request: SearchRequest): Promise<SearchAnswer> {
    // Without words all sessions fit alike.
    const isBest = request.sort === "relevance" && request.query.terms.some(({ negated }) => !negated);
    return this.#reading(() => (isBest ? this.#best(request) : this.#newest(request)));
  }

  /** All sessions and messages that match, counted to the end: every chunk that may hold the query is inflated. */
  total(request: TotalRequest): Promise<TotalAnswer> {
    return this.#reading(async () => {
      const entries = await this.#entries.list();
      const { total } = await this.#count(request, this.#lookup(request), entries);
      this.#reportDamage(entries, request);
      return total;
    });
  }

  /**
   * A question that finds nothing, with words as the archive spells them; null where none is near or nothing would be found, either. At most 0.2 s
   * of work for the words, and a search that ends at its first hit.
   */
  async suggest(
    q: string,
    request: SearchRequest,
    toRequest: (q: string) => Promise<SearchRequest>,
  ): Promise<string | null> {
    const terms = request.query.terms.filter(({ negated }) => !negated).map(({ text }) => text);
    if (terms.length === 0 || terms.length > MOST_TERMS) return null;
    const better = respell(q, terms, await this.#vocabulary(request.signal));
    if (better === undefined) return null;
    const { results } = await this.search({ ...(await toRequest(better)), limit: 1, sort: "recent" });
    return results.length > 0 ? better : null;
  }

  /** Words of the titles, and of the newest texts as far as there is time. */
  async #vocabulary(signal: AbortSignal | undefined): Promise<Vocabulary> {
    const known = this.#words;
    if (known && performance.now() - known.at < SPELLING_KEPT_MS) return known.vocabulary;
    const vocabulary = new Vocabulary();
    await this.#reading(async () => {
      const entries = await this.#entries.list();
      for (const { title } of entries) {
        vocabulary.add(title);
        if (mustYield()) await yieldNow();
      }
      const until = performance.now() + SPELLING_MS;
      for (const entry of entries) {
        for (const { part, chunks } of await this.#entries.indexOf(entry))
          for (const chunk of chunks) {
            signal?.throwIfAborted();
            if (vocabulary.isFull || performance.now() > until) return;
            await this.#addWords(entry, part, chunk, vocabulary);
            if (mustYield()) await yieldNow();
          }
      }
    });
    this.#words = { vocabulary, at: performance.now() };
    return vocabulary;
  }

  async #addWords(entry: Entry, part: TranscriptPart, chunk: ChunkEntry, vocabulary: Vocabulary): Promise<void> {
    try {
      const raw = await this.#transcripts.chunkBytes(entry.id, part, chunk);
      for (const { text } of decodeChunk(raw)) vocabulary.add(text);
    } catch (error) {
      if (!isDamage(error)) throw error;
      entry.damaged = true;
    }
  }

  /** Chunks that may answer a question in plain words, the most promising first; `onEnd` is called with what was read. */
  async *promising(wish: Wish, onEnd?: (stats: WishStats) => void): AsyncGenerator<Promising> {
    const end = this.#readers.begin();
    const wishes = new Wishes(this.#entries, this.#cache, wish);
    try {
      yield* wishes.chunks();
    } finally {
      onEnd?.(wishes.stats);
      end();
      this.tidy().catch(this.#onError);
    }
  }

  #lookup({ query, signal }: TotalRequest): Lookup {
    return new Lookup(this.#entries, this.#cache, compile(query), signal);
  }

  async #reading<T>(work: () => Promise<T>): Promise<T> {
    const end = this.#readers.begin();
    try {
      return await work();
    } finally {
      end();
      this.tidy().catch(this.#onError);
    }
  }

  #reportDamage(entries: readonly Entry[], scope: Scope): number {
    const damaged = entries.filter((entry) => entry.damaged && passes(entry, scope));
    for (const { id } of damaged) this.#onDamage(id);
    return damaged.length;
  }

  /** Counts in all of these sessions that pass the filters. */
  async #count(
    request: TotalRequest & Pick<CountOptions, "until">,
    lookup: Lookup,
    entries: readonly Entry[],
  ): Promise<Totals> {
    const wanted = await lookup.wanted(entries, request);
    const { query, onProgress, signal, until } = request;
    // Filters of sessions choose among sessions; the count in each does not depend on them.
    const question = JSON.stringify({ ...query, tool: [], notTool: [], project: [], notProject: [] });
    const known = await this.#known.of(question);
    const means = { counter: this.#counter, transcripts: this.#transcripts };
    const totals = await countAll(lookup, wanted, { ...means, query, known, onProgress, signal, until });
    if (lookup.stats.inflated >= STORED_FROM) await this.#known.store(question, entries).catch(this.#onError);
    return totals;
  }

  /** Sessions that fit best: all are counted and weighed, and those of the page are read again for what it shows. */
  async #best(request: SearchRequest): Promise<SearchAnswer> {
    const { cursor, limit, budgetMs } = request;
    const entries = await this.#entries.list();
    const lookup = this.#lookup(request);
    const until = cursor?.end ? undefined : performance.now() + budgetMs;
    const { found, stoppedAt } = await this.#count(
      { ...request, until },
      lookup,
      upTo(behind(entries, cursor?.from), cursor?.end),
    );
    const end = cursor?.end ?? (stoppedAt && placeOf(stoppedAt));
    const ranked = found
      .map((one) => ({ ...one, ...placeOf(one.entry), rank: lookup.rank(one.entry, one) }))
      .sort(bestFirst);
    const { after } = cursor ?? {};
    const rest = after ? ranked.filter((one) => bestFirst(after, one) < 0) : ranked;
    const results: SessionHits[] = [];
    for (const { entry, ...counted } of rest.slice(0, limit)) results.push(await lookup.bestHits(entry, counted));
    const before = cursor?.found ?? 0;
    const sessions = before + found.length;
    const last = rest.length > limit ? rest[limit - 1] : undefined;
    const next = last
      ? { found: before, from: cursor?.from, end, after: { ...placeOf(last), rank: last.rank } }
      : end
        ? { found: sessions, from: end }
        : null;
    return this.#answer(request, entries, lookup, { results, sessions, isComplete: !end, next });
  }

  async #newest(request: SearchRequest): Promise<SearchAnswer> {
    const { cursor, limit, budgetMs, signal } = request;
    const entries = await this.#entries.list();
    const lookup = this.#lookup(request);
    const wanted = await lookup.wanted(behind(entries, cursor?.from), request);
    const started = performance.now();
    const before = cursor?.found ?? 0;
    const results: SessionHits[] = [];
    let next: SearchPlace | null = null;
    let isComplete = true;
    /** Sessions after the page, where they could be counted. */
    let rest = 0;
    let last: Entry | undefined;
    let lastFound: Entry | undefined;
    for await (const { entry, candidates } of this.#holding(request, lookup, wanted)) {
      signal?.throwIfAborted();
      if (results.length > 0 && performance.now() - started > budgetMs) {
        isComplete = false;
        next = placeAt(last, before + results.length);
        break;
      }
      last = entry;
      if (candidates.length === 0 && !lookup.named(entry)) continue;
      if (results.length === limit) {
        // One more session that matches shows that there is another page.
        if (!(await lookup.any(entry, candidates))) continue;
        next = placeAt(lastFound, before + results.length);
        const counted = cursor ? undefined : await countRest(lookup, wanted.slice(wanted.indexOf(entry) + 1));
        isComplete = counted !== undefined;
        rest = isComplete ? 1 + (counted ?? 0) : 0;
        break;
      }
      const hits = await lookup.hits(entry, candidates);
      if (!hits) continue;
      results.push(hits);
      lastFound = entry;
    }
    const sessions = before + results.length + rest;
    return this.#answer(request, entries, lookup, { results, sessions, isComplete, next });
  }

  /** Sessions with chunks that may hold the query. Where many were inflated or read in vain, workers rule out the others first. */
  async *#holding({ query, signal }: SearchRequest, lookup: Lookup, wanted: readonly Entry[]): AsyncGenerator<MayHold> {
    const counter = this.#counter;
    const transcripts = this.#transcripts;
    let next = 0;
    for await (const one of lookup.mayHold(wanted)) {
      yield one;
      next++;
      if (counter && (lookup.inVain >= IN_VAIN || lookup.readInVain >= READ_IN_VAIN)) break;
    }
    while (counter && next < wanted.length) {
      signal?.throwIfAborted();
      const work: Entry[] = [];
      for (let size = 0; next < wanted.length && size < counter.lanes * counter.chunks; next++) {
        const entry = wanted[next] as Entry;
        work.push(entry);
        size += lookup.most(entry);
      }
      const counted = await countIn(lookup, work, { query, counter, transcripts, signal });
      for (const [i, entry] of work.entries()) {
        const one = counted[i];
        if (one?.messages === 0) lookup.add(one);
        yield { entry, candidates: one?.messages === 0 ? [] : await lookup.candidates(entry) };
      }
    }
  }

  #answer(
    request: SearchRequest,
    entries: readonly Entry[],
    { stats }: Lookup,
    {
      results,
      sessions,
      isComplete,
      next,
    }: { results: SessionHits[]; sessions: number; isComplete: boolean; next: SearchPlace | null },
  ): SearchAnswer {
    const damaged = this.#reportDamage(entries, request);
    const isExact = (isComplete && damaged === 0 && !request.cursor) || sessions === 0;
    return { results, total: { sessions, relation: isExact ? "eq" : "gte" }, next, stats, damaged };
  }
}

/** How many of these sessions match, where few chunks may hold the query; undefined where it would take longer than a page may. */
async function countRest(lookup: Lookup, entries: readonly Entry[]): Promise<number | undefined> {
  let chunks = 0;
  for (const entry of entries) {
    // Of a session that no columns know, at least the directory must be read.
    chunks += lookup.passing(entry) ?? (entry.index ? 0 : 1);
    if (chunks > COUNTED_BEHIND) return undefined;
  }
  chunks = 0;
  const rest: MayHold[] = [];
  for await (const one of lookup.mayHold(entries)) {
    chunks += one.candidates.length;
    if (chunks > COUNTED_BEHIND) return undefined;
    rest.push(one);
  }
  let count = 0;
  for (const { entry, candidates } of rest) if (await lookup.any(entry, candidates)) count++;
  return count;
}

/** Sessions that come after `place`. */
function behind(entries: readonly Entry[], place: ListPlace | undefined): readonly Entry[] {
  if (!place) return entries;
  const at = entries.findIndex((entry) => entry.id !== place.id && newestFirst(entry, place) > 0);
  return at < 0 ? [] : entries.slice(at);
}

const upTo = (entries: readonly Entry[], end: ListPlace | undefined): readonly Entry[] =>
  end ? entries.filter((entry) => entry.id === end.id || newestFirst(entry, end) < 0) : entries;

const placeOf = ({ sortAt, id }: ListPlace): ListPlace => ({ sortAt, id });
const bestFirst = (a: Ranked, b: Ranked) => b.rank - a.rank || newestFirst(a, b);

const placeAt = (entry: Entry | undefined, found: number): SearchPlace | null =>
  entry ? { found, from: placeOf(entry) } : null;
