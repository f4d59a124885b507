/** Counts what matches in sessions, in a worker: it reads their signatures and inflates the chunks that may hold the query. */

import { EVENT_KINDS, mustYield, yieldNow } from "sessarc";
import { createTranscripts, type Transcripts } from "sessarc/storage";
import { isDamage } from "../catalogue/damage.ts";
import { candidatesIn, counts, type TextOf } from "./candidate.ts";
import { type CompiledQuery, compile, matchesIn } from "./match.ts";
import type { Query } from "./query.ts";
import { type Found, mostOf, weigh } from "./rank.ts";
import { searchedIn } from "./searched.ts";

/** A session with the parts of all its texts. */
export interface CountWork {
  id: string;
  parts: readonly TextOf[];
}

export interface CountJob {
  /** The data directory. */
  dir: string;
  query: Query;
  work: readonly CountWork[];
}

export interface Counted extends Found {
  /** Messages by kind, in the order of `EVENT_KINDS`. */
  kinds: number[];
  /** Chunks of the session, those that passed their signature, and those inflated. */
  chunks: number;
  candidates: number;
  inflated: number;
  /** Some of it could not be read: that is left out. */
  damaged: boolean;
}

/** One answer for each session of the work, in its order. */
export const countSessions = ({ dir, query, work }: CountJob): Promise<Counted[]> =>
  countHere(createTranscripts({ dir }), query, work);

/** The same on the thread of these transcripts: others run meanwhile, and it throws when `signal` aborts. */
export async function countHere(
  transcripts: Pick<Transcripts, "index" | "chunkBytes">,
  query: Query,
  work: readonly CountWork[],
  signal?: AbortSignal,
): Promise<Counted[]> {
  const compiled = compile(query);
  const answer: Counted[] = [];
  for (const { id, parts } of work) {
    const counted: Counted = {
      ...{ messages: 0, best: 0, kinds: EVENT_KINDS.map(() => 0) },
      ...{ chunks: 0, candidates: 0, inflated: 0, damaged: false },
    };
    /** Leaves out what cannot be read. */
    const attempt = async (read: () => Promise<void>) => {
      signal?.throwIfAborted();
      if (mustYield()) await yieldNow();
      await read().catch((error: unknown) => {
        if (!isDamage(error)) throw error;
        counted.damaged = true;
      });
    };
    for (const { part, earlier } of parts)
      await attempt(async () => {
        const index = await transcripts.index(id, part);
        const candidates = candidatesIn({ ...index, sidecars: index.sidecars, earlier }, compiled);
        counted.chunks += index.chunks.length;
        counted.candidates += candidates.length;
        for (const { chunk: entry } of candidates)
          await attempt(async () => {
            counted.inflated++;
            const bytes = await transcripts.chunkBytes(id, part, entry);
            await countIn(bytes, compiled, earlier, counted);
          });
      });
    answer.push(counted);
  }
  return answer;
}

/** Adds the messages of a chunk that match and count. */
async function countIn(
  bytes: Buffer,
  compiled: CompiledQuery,
  earlier: TextOf["earlier"],
  counted: Counted,
): Promise<void> {
  for (const match of matchesIn(searchedIn(bytes.toString("latin1"), compiled.bytes), compiled)) {
    if (!match) {
      if (mustYield()) await yieldNow();
      continue;
    }
    const { kind, seq } = match.event;
    if (!counts(earlier, seq)) continue;
    counted.messages++;
    const at = EVENT_KINDS.indexOf(kind);
    counted.kinds[at] = (counted.kinds[at] ?? 0) + 1;
    if (mostOf(kind, compiled) > counted.best) counted.best = Math.max(counted.best, weigh(match, compiled));
  }
}
