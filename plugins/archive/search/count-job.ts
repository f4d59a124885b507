/** Counts what matches in many chunks, in a worker: reading, inflating and looking are only work. */
import { createTranscripts, decodeChunk } from "#internal";
import { isDamage } from "../catalogue/damage.ts";
import { type Candidate, counts } from "./candidate.ts";
import { compile, matchChunk } from "./match.ts";
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
export async function countSessions({ dir, query, work }: CountJob): Promise<Counted[]> {
  const transcripts = createTranscripts({ dir });
  const compiled = compile(query);
  const answer: Counted[] = [];
  for (const { id, candidates } of work) {
    const counted: Counted = { messages: 0, inflated: 0, damaged: false };
    for (const { part, chunk: entry, earlier } of candidates) {
      counted.inflated++;
      try {
        const bytes = await transcripts.chunkBytes(id, part, entry);
        if (compiled.bytes && !compiled.bytes.test(bytes.toString("latin1"))) continue;
        const chunk = decodeChunk(bytes);
        matchChunk(chunk, compiled, (index) => {
          if (counts(earlier, chunk.firstSeq + index)) counted.messages++;
          return false;
        });
      } catch (error) {
        if (!isDamage(error)) throw error;
        counted.damaged = true;
      }
    }
    answer.push(counted);
  }
  return answer;
}
