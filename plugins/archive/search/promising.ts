/**
 * Messages that may answer a question in plain words, of which no message need have all. Columns and signatures say which chunks may have which
 * words; the rarer a word, the more it is worth. Cost: some 5 µs a word and file of columns, 20 ns a word and chunk, and what the caller reads.
 */
import { mustYield, type SessionEvent, yieldNow } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import type { ChunkCache } from "./cache.ts";
import type { ColumnFile } from "./columns.ts";
import type { Entries } from "./entries.ts";
import type { Entry } from "./entry.ts";
import { searchedIn } from "./searched.ts";
import { type Grams, mayHold, toGrams } from "./signature.ts";

/** What is asked for. */
export interface Wish {
  /** Each in all its forms, of which any counts; 32 at most, the others are not looked for. */
  terms: readonly (readonly string[])[];
  /** What a term is worth that this many of all chunks may have. Unknown of short words in a large archive. */
  weigh(term: number, count: number | undefined, total: number): number;
  /** Ids of projects; default all. */
  projects?: ReadonlySet<string> | undefined;
}

/** Messages of a session that follow each other. */
export interface Promising {
  session: string;
  projectId: string;
  /** Its name, else its title, else its first prompt. */
  title: string;
  /** ms: when it was active last. */
  sortAt: number;
  events: readonly SessionEvent[];
  /** What of the terms the chunk may have, as `weigh` says: no message has more. */
  most: number;
}

/** What was read. */
export interface WishStats {
  /** Chunks of the archive, or of its projects. */
  chunks: number;
  /** Groups of letters that were read in files of columns. */
  rows: number;
  /** Sessions of which signatures were checked. */
  signatures: number;
}

const TERMS = 32;
/** Chunks that are ordered exactly. */
const ORDERED = 96;
/** Of one session. */
const OF_ONE = 4;
const STEPS = 1_024;
/** Sessions checked between two checks of the clock. */
const STEP = 1_024;

interface Place {
  entry: Entry;
  /** Of all chunks of the entry. */
  chunk: number;
}

export class Wishes {
  readonly stats: WishStats = { chunks: 0, rows: 0, signatures: 0 };
  readonly #entries: Entries;
  readonly #cache: ChunkCache;
  readonly #wish: Wish;
  readonly #terms: readonly (readonly Grams[])[];
  /** Terms that columns know nothing of: a form is shorter than five letters. */
  readonly #short: number;
  /** Chunks that may be read, and a bit for each term that they may have. */
  readonly #places: Place[] = [];
  readonly #masks: number[] = [];

  constructor(entries: Entries, cache: ChunkCache, wish: Wish) {
    this.#entries = entries;
    this.#cache = cache;
    this.#wish = wish;
    this.#terms = wish.terms.slice(0, TERMS).map((forms) => forms.map((form) => toGrams([form])));
    this.#short = this.#terms.reduce(
      (bits, forms, i) => (forms.some(({ fives }) => fives.length === 0) ? bits | (1 << i) : bits),
      0,
    );
  }

  /** The most promising chunks first, equal ones by their age, the newest first. Chunks that cannot be read are left out. */
  async *chunks(): AsyncGenerator<Promising> {
    await this.#collect();
    const weights = this.#weights();
    const worth = (mask: number) => {
      let sum = 0;
      for (let rest = mask; rest !== 0; rest &= rest - 1) sum += weights[31 - Math.clz32(rest & -rest)] ?? 0;
      return sum;
    };
    const first = this.#first(this.#masks.map(worth));
    const ordered: { place: Place; most: number }[] = [];
    for (const i of first) {
      const place = this.#places[i];
      if (!place) continue;
      const mask = (this.#masks[i] ?? 0) | (place.entry.columns ? await this.#shortOf(place) : 0);
      if (mask !== 0) ordered.push({ place, most: worth(mask) });
    }
    ordered.sort((a, b) => b.most - a.most);
    const read = new Map<string, number>();
    for (const { place, most } of ordered) {
      const { id, projectId, title, sortAt } = place.entry;
      const count = read.get(id) ?? 0;
      if (count === OF_ONE) continue;
      read.set(id, count + 1);
      const events = await this.#read(place);
      if (events) yield { session: id, projectId, title, sortAt, events, most };
    }
  }

  /** All chunks in scope with the terms that they may have, newest sessions first. */
  async #collect(): Promise<void> {
    const { projects } = this.#wish;
    const masks = new Map<ColumnFile, Int32Array | undefined>();
    for (const [i, entry] of (await this.#entries.list()).entries()) {
      if (i % STEP === 0 && mustYield()) await yieldNow();
      if (projects && !projects.has(entry.projectId)) continue;
      const { columns } = entry;
      if (columns && !masks.has(columns.file)) masks.set(columns.file, this.#masksOf(columns.file));
      const known = columns && masks.get(columns.file);
      if (known)
        for (let chunk = 0; chunk < columns.count; chunk++) this.#add(entry, chunk, known[columns.from + chunk] ?? 0);
      else await this.#check(entry);
    }
    this.stats.chunks = this.#places.length;
  }

  #add(entry: Entry, chunk: number, mask: number): void {
    this.#places.push({ entry, chunk });
    this.#masks.push(mask);
  }

  /** By its signatures. */
  async #check(entry: Entry): Promise<void> {
    this.stats.signatures++;
    let chunk = 0;
    for (const { chunks, sidecars } of await this.#entries.indexOf(entry))
      for (const { sidecar } of chunks) this.#add(entry, chunk++, this.#maskOf(sidecars, sidecar, -1));
  }

  #maskOf(sidecars: Uint8Array, [start, length]: readonly [number, number], of: number): number {
    let mask = 0;
    for (const [term, forms] of this.#terms.entries())
      if ((of >>> term) & 1 && forms.some((grams) => mayHold(sidecars, start, length, grams))) mask |= 1 << term;
    return mask;
  }

  /** Of each chunk of the file a bit for each term; undefined where the file cannot be read. */
  #masksOf(file: ColumnFile): Int32Array | undefined {
    try {
      const masks = new Int32Array(file.chunks);
      for (const [term, forms] of this.#terms.entries()) {
        if ((this.#short >>> term) & 1) continue;
        for (const { fives } of forms) {
          this.stats.rows += fives.length;
          // Most bytes of a rare word are 0.
          for (const [byte, bits] of file.having(fives).entries())
            for (let rest = bits; rest !== 0; rest &= rest - 1) {
              const chunk = byte * 8 + (31 - Math.clz32(rest & -rest));
              masks[chunk] = (masks[chunk] ?? 0) | (1 << term);
            }
        }
      }
      return masks;
    } catch {
      // Its sessions are checked by their own signatures, and the file is rebuilt.
      this.#entries.drop(file);
      return undefined;
    }
  }

  #weights(): number[] {
    const counts = new Array<number>(this.#terms.length).fill(0);
    let isPlaced = false;
    for (const [i, mask] of this.#masks.entries()) {
      isPlaced ||= this.#places[i]?.entry.columns !== undefined;
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        const term = 31 - Math.clz32(rest & -rest);
        counts[term] = (counts[term] ?? 0) + 1;
      }
    }
    const total = this.#masks.length;
    return counts.map((count, term) =>
      this.#wish.weigh(term, isPlaced && (this.#short >>> term) & 1 ? undefined : count, total),
    );
  }

  /** Indexes of those that are worth most, in their order. Linear: most chunks of a large archive have some common word. */
  #first(worths: readonly number[]): number[] {
    const best = worths.reduce((most, one) => Math.max(most, one), 0);
    // Nothing but short words: the newest, of which the signatures are checked.
    if (best === 0) return this.#short === 0 ? [] : worths.slice(0, ORDERED).map((_, i) => i);
    const counts = new Uint32Array(STEPS + 1);
    const step = (worth: number) => Math.floor((worth / best) * STEPS);
    for (const worth of worths) counts[step(worth)] = (counts[step(worth)] ?? 0) + 1;
    let least = STEPS;
    for (let sum = counts[STEPS] ?? 0; least > 1 && sum < ORDERED; sum += counts[least] ?? 0) least--;
    const first: number[] = [];
    for (const [i, worth] of worths.entries()) if (worth > 0 && step(worth) >= least) first.push(i);
    return first.sort((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || a - b).slice(0, ORDERED);
  }

  /** The chunk with the part that it is in. */
  async #find({ entry, chunk }: Place) {
    let at = chunk;
    for (const part of await this.#entries.indexOf(entry)) {
      const one = part.chunks[at];
      if (one) return { ...part, one };
      at -= part.chunks.length;
    }
    return undefined;
  }

  async #shortOf(place: Place): Promise<number> {
    if (this.#short === 0) return 0;
    this.stats.signatures++;
    const found = await this.#find(place);
    return found ? this.#maskOf(found.sidecars, found.one.sidecar, this.#short) : 0;
  }

  async #read(place: Place): Promise<readonly SessionEvent[] | undefined> {
    const found = await this.#find(place);
    // What a log no longer says is no answer.
    if (!found || found.earlier) return undefined;
    try {
      const bytes = await this.#cache.get(place.entry.id, found.part, found.one, { inflated: 0 });
      return searchedIn(bytes, []).map(({ event }) => event);
    } catch (error) {
      if (!isDamage(error)) throw error;
      place.entry.damaged = true;
      return undefined;
    }
  }
}
