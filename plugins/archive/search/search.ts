/** Search over the archive: signatures rule chunks out, the rest is inflated and looked at, newest sessions first. */

import type { Database } from "sessarc";
import { sortInSlices, type Transcripts } from "#internal";
import { BoundedMap } from "#internal/adapter";
import type { Changes } from "../catalogue/changes.ts";
import type { Readers } from "../catalogue/readers.ts";
import { ChunkCache } from "./cache.ts";
import { Course, passes, placeBehind } from "./course.ts";
import { Entries } from "./entries.ts";
import { type Entry, newestFirst } from "./entry.ts";
import { foldTable } from "./fold.ts";
import { Looker, type Scope, type SearchStats } from "./looker.ts";
import { compile } from "./match.ts";
import type { Query } from "./query.ts";
import { hitsIn, type SessionHits } from "./session-hits.ts";
import { Shelf, type ShelfOptions } from "./shelf.ts";
import {
  type Counter,
  type CountOptions,
  countAll,
  type KnownCounts,
  type TotalAnswer,
  type TotalProgress,
  type Totals,
} from "./total.ts";

export interface SearchRequest extends Scope {
  limit: number;
  /** Where the last page ended. */
  cursor?: SearchPlace | undefined;
  sort: "recent" | "relevance";
  /** ms after which the search stops and answers what it has. One that has nothing yet goes on: "at least 0" would be no answer. */
  budgetMs: number;
  signal?: AbortSignal | undefined;
}

/** Behind which session a page goes on, and how many the pages before it found. */
export interface SearchPlace {
  sortAt: number;
  id: string;
  found: number;
}

export interface TotalRequest extends Scope {
  /** Told what was counted so far, now and then. */
  onProgress?: ((progress: TotalProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface SearchAnswer {
  results: SessionHits[];
  /** `gte` where more may be found; what could not be read is `damaged`. Never "at least 0". */
  total: { sessions: number; relation: "eq" | "gte" };
  next: SearchPlace | null;
  stats: SearchStats;
  /** Sessions of which something could not be read: it was left out. */
  damaged: number;
}

/** Questions whose counts are kept. */
const KNOWN = 32;
/** Directories of the best sessions read at once. */
const AHEAD = 8;
/** Sessions from which on the first search is prepared. */
const PREPARED_FROM = 5_000;
/** Chunks looked at behind a full page, so that its total is right: about 20 ms. */
const COUNTED_BEHIND = 60;

export class SearchIndex {
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #readers: Readers;
  readonly #counter: ((query: Query) => Counter) | undefined;
  readonly #onDamage: (id: string) => void;
  /** What the last totals counted, by their words and filters of messages. */
  readonly #known = new BoundedMap<string, KnownCounts>(KNOWN);
  readonly #onError: (error: unknown) => void;
  readonly #shelf: Shelf;

  /** `counter`: counts in workers, where there are any. `onDamage`: told the session whose transcript could not be read. */
  constructor(
    db: Database,
    transcripts: Transcripts,
    readers: Readers,
    changes: Changes,
    counter: ((query: Query) => Counter) | undefined,
    onDamage: (id: string) => void,
    shelf: ShelfOptions & { onError: (error: unknown) => void },
  ) {
    this.#readers = readers;
    this.#counter = counter;
    this.#onDamage = onDamage;
    this.#shelf = new Shelf(shelf);
    this.#onError = shelf.onError;
    this.#entries = new Entries(db, transcripts, changes, this.#shelf);
    this.#cache = new ChunkCache(transcripts);
  }

  async close(): Promise<void> {
    this.#cache.clear();
    this.#shelf.close();
    // Whatever it runs into now is nobody's concern: it sees that it is over at its next step.
    await this.#entries.tidied.catch(() => {});
  }

  /** Chunks of a file of columns, at least and at most; for tests. */
  keepFrom(least: number, most: number): void {
    this.#shelf.keepFrom(least, most);
  }

  /** Has the signatures turned around as far as they are enough for it. Every search starts it; who waits for it knows when it is done. */
  tidy(): Promise<void> {
    return this.#entries.tidy();
  }

  /** Does for a large archive what its first search would do. A small one is as quick without, and smaller in memory. */
  async prepare(): Promise<void> {
    if ((await this.#entries.most()) < PREPARED_FROM) return;
    await this.#entries.list();
    foldTable();
    await this.tidy();
  }

  /**
   * Sessions whose messages match, newest first. Cost: about 20 ns a chunk ruled out, 0.3 ms a chunk inflated, 0.05 ms a chunk still
   * in memory; never more than 8 ms without letting others run.
   */
  search(request: SearchRequest): Promise<SearchAnswer> {
    return this.#reading(() => (request.sort === "relevance" ? this.#best(request) : this.#newest(request)));
  }

  /** All sessions and messages that match, counted to the end: every chunk that may hold the query is inflated, once a session. */
  total(request: TotalRequest): Promise<TotalAnswer> {
    return this.#reading(async () => {
      const entries = await this.#entries.list();
      const looker = new Looker(this.#entries, this.#cache, compile(request.query), request.signal);
      const { total } = await this.#count(request, looker, entries, 0);
      this.#tellDamage(request);
      return total;
    });
  }

  /** Counts in all sessions from the `from`th on that pass the filters. */
  async #count(
    request: TotalRequest & Pick<CountOptions, "until">,
    looker: Looker,
    entries: readonly Entry[],
    from: number,
  ): Promise<Totals> {
    const wanted = entries.filter((entry, i) => i >= from && passes(entry, request));
    // Filters of sessions choose among them; what is counted in each does not depend on those.
    const question = JSON.stringify({ ...request.query, tool: [], notTool: [], project: [], notProject: [] });
    const known: KnownCounts = this.#known.get(question) ?? new WeakMap();
    this.#known.set(question, known);
    const { onProgress, signal, until } = request;
    const counter = this.#counter?.(request.query);
    return countAll(looker, wanted, { known, counter, onProgress, signal, until });
  }

  /** Those with most matches: all are counted, and the best looked at. */
  async #best(request: SearchRequest): Promise<SearchAnswer> {
    const entries = await this.#entries.list();
    const { query, signal, cursor, limit, budgetMs } = request;
    const compiled = compile(query);
    const looker = new Looker(this.#entries, this.#cache, compiled, signal);
    const ask = { ...request, until: performance.now() + budgetMs };
    const from = cursor ? placeBehind(entries, cursor) : 0;
    const { found, stoppedAt } = await this.#count(ask, looker, entries, from);
    const results: SessionHits[] = [];
    const sorted = await sortInSlices(found, (a, b) => b.messages - a.messages || newestFirst(a.entry, b.entry));
    const best = sorted.slice(0, limit);
    const next = best.map(({ entry }) => entry);
    for (const [i, { entry, messages }] of best.entries()) {
      const hits = await hitsIn(looker, entry, await looker.candidates(next.slice(i, i + AHEAD)), compiled);
      if (hits) results.push({ ...hits, matchCount: messages, matchRelation: "eq" });
    }
    const damaged = this.#tellDamage(request);
    const sessions = (cursor?.found ?? 0) + found.length;
    const exact = !stoppedAt && damaged === 0 && !cursor;
    return {
      results,
      total: { sessions, relation: exact || sessions === 0 ? "eq" : "gte" },
      next: placeAt(stoppedAt, sessions),
      stats: looker.stats,
      damaged,
    };
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

  #tellDamage(scope: Scope): number {
    const damaged = [...this.#entries.damaged].filter((entry) => passes(entry, scope));
    for (const { id } of damaged) this.#onDamage(id);
    return damaged.length;
  }

  async #newest(request: SearchRequest): Promise<SearchAnswer> {
    const entries = await this.#entries.list();
    const compiled = compile(request.query);
    const looker = new Looker(this.#entries, this.#cache, compiled, request.signal);
    const course = new Course(entries, looker, request, request.cursor);
    const { slices } = looker;
    const results: SessionHits[] = [];
    const started = performance.now();
    const before = request.cursor?.found ?? 0;
    let next: SearchAnswer["next"] = null;
    let complete = true;
    /** Sessions behind the page, where they could be counted. */
    let behind = 0;
    /** The last session that was looked at, and the last with something in it. */
    let last: Entry | undefined;
    let lastFound: Entry | undefined;

    for (let i = 0; ; i++) {
      const entry = await course.at(i);
      if (!entry) break;
      request.signal?.throwIfAborted();
      if (results.length > 0 && performance.now() - started > request.budgetMs) {
        complete = false;
        next = placeAt(last, before + results.length);
        break;
      }
      last = entry;
      if (slices.due) await slices.turn();
      const candidates = await looker.candidates(await course.some(i, looker.ahead(entry)));
      if (candidates.length === 0) continue;
      if (results.length === request.limit) {
        // One more that matches tells that there is a next page.
        if (!(await looker.any(entry, candidates))) continue;
        next = placeAt(lastFound, before + results.length);
        const rest = request.cursor ? undefined : await countRest(looker, course, i + 1);
        complete = rest !== undefined;
        behind = 1 + (rest ?? 0);
        break;
      }
      const hits = await hitsIn(looker, entry, candidates, compiled);
      if (!hits) continue;
      results.push(hits);
      lastFound = entry;
    }
    const damaged = this.#tellDamage(request);
    const sessions = before + results.length + (complete ? behind : 0);
    const exact = complete && damaged === 0 && !request.cursor;
    return {
      results,
      total: { sessions, relation: exact || sessions === 0 ? "eq" : "gte" },
      next,
      stats: looker.stats,
      damaged,
    };
  }
}

/** Sessions from `from` on that match, where few chunks tell; undefined where it would take longer than a page may. */
async function countRest(looker: Looker, course: Course, from: number): Promise<number | undefined> {
  let chunks = 0;
  for (let i = from; ; i++) {
    const entry = await course.at(i);
    if (!entry) break;
    const more = looker.left(entry);
    if (more === undefined) return undefined;
    chunks += more;
    if (chunks > COUNTED_BEHIND) return undefined;
  }
  let count = 0;
  for (let i = from; ; i++) {
    const entry = await course.at(i);
    if (!entry) return count;
    const candidates = await looker.candidates(await course.some(i, looker.ahead(entry)));
    if (candidates.length > 0 && (await looker.any(entry, candidates))) count++;
  }
}

const placeAt = (entry: Entry | undefined, found: number): SearchPlace | null =>
  entry ? { sortAt: entry.sortAt, id: entry.id, found } : null;
