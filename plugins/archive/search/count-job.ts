/** Counts what matches in many chunks, in a worker: reading, inflating and looking are only work. */
import { createTranscripts, decodeChunk } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import { type Candidate, counts } from "./candidate.ts";
import { countInBytes, toByteQuery } from "./count-bytes.ts";
import { compile, matchChunk } from "./match.ts";
import type { Query } from "./query.ts";

/** Chunks of one session that may hold the query. */
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
  /** Some of it could not be read: that is left out. */
  damaged: boolean;
}

/** One answer for each session of the work, in its order. */
export async function countSessions({ dir, query, work }: CountJob): Promise<Counted[]> {
  const transcripts = createTranscripts({ dir });
  const compiled = compile(query);
  const byBytes = toByteQuery(query);
  const answer: Counted[] = [];
  for (const { id, candidates } of work) {
    const counted: Counted = { messages: 0, damaged: false };
    for (const one of candidates) {
      try {
        const bytes = await transcripts.chunkBytes(id, one.part, one.chunk);
        if (byBytes) {
          counted.messages += countInBytes(bytes, byBytes, (seq) => counts(one.earlier, seq));
          continue;
        }
        const chunk = decodeChunk(bytes);
        matchChunk(chunk, compiled, (index) => {
          if (counts(one.earlier, chunk.firstSeq + index)) counted.messages++;
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
