/** Counts what matches in many chunks, in a worker: reading, inflating and looking are only work. */
import { createTranscripts, decodeChunk, Slices, type Transcripts } from "#internal";
import { isDamage } from "../catalogue/damage.ts";
import { type Candidate, counts } from "./candidate.ts";
import { compile, matchesIn } from "./match.ts";
import type { Query } from "./query.ts";

/** Of one session: the chunks that may hold the query. */
export interface CountWork {
  id: string;
  candidates: readonly Candidate[];
}

export interface CountJob {
  /** The data directory. */
  dir: string;
  query: Query;
  work: readonly CountWork[];
}

export interface Counted {
  messages: number;
  inflated: number;
  /** Some of it could not be read: that is left out. */
  damaged: boolean;
}

/** One answer for each session of the work, in its order. */
export const countSessions = ({ dir, query, work }: CountJob): Promise<Counted[]> =>
  countHere(createTranscripts({ dir }), query, work);

/** The same on the thread of these transcripts: others run meanwhile, and it throws when `signal` aborts. */
export async function countHere(
  transcripts: Pick<Transcripts, "chunkBytes">,
  query: Query,
  work: readonly CountWork[],
  signal?: AbortSignal,
): Promise<Counted[]> {
  const compiled = compile(query);
  const slices = new Slices();
  const answer: Counted[] = [];
  for (const { id, candidates } of work) {
    const counted: Counted = { messages: 0, inflated: 0, damaged: false };
    for (const { part, chunk: entry, earlier } of candidates) {
      signal?.throwIfAborted();
      if (slices.due) await slices.turn();
      counted.inflated++;
      try {
        const bytes = await transcripts.chunkBytes(id, part, entry);
        if (compiled.bytes && !compiled.bytes.test(bytes.toString("latin1"))) continue;
        const chunk = decodeChunk(bytes);
        for (const index of matchesIn(chunk, compiled)) {
          if (index !== null) counted.messages += counts(earlier, chunk.firstSeq + index) ? 1 : 0;
          else if (slices.due) await slices.turn();
        }
      } catch (error) {
        if (!isDamage(error)) throw error;
        counted.damaged = true;
      }
    }
    answer.push(counted);
  }
  return answer;
}
