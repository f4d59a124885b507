/** Counts what matches in many chunks, in a worker: reading, inflating and looking are only work. */
import { createTranscripts, decodeChunk, type TranscriptPart } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import { type Candidate, counts, type EarlierOf, mayCount } from "./candidate.ts";
import { countInBytes, toByteQuery } from "./count-bytes.ts";
import { compile, matchChunk } from "./match.ts";
import type { Query } from "./query.ts";

/** A part of which any chunk may hold the query. */
export interface CountPart {
  part: TranscriptPart;
  earlier?: EarlierOf | undefined;
}

/** Of one session: the chunks that may hold the query, or all its parts where most do. */
export type CountWork = { id: string } & ({ candidates: readonly Candidate[] } | { parts: readonly CountPart[] });

export interface CountJob {
  /** The data directory. */
  dir: string;
  query: Query;
  work: readonly CountWork[];
}

export interface Counted {
  messages: number;
  /** Chunks there were, and those inflated. */
  chunks: number;
  inflated: number;
  /** Some of it could not be read: that is left out. */
  damaged: boolean;
}

/** One answer for each session of the work, in its order. */
export async function countSessions({ dir, query, work }: CountJob): Promise<Counted[]> {
  const transcripts = createTranscripts({ dir });
  const count = countingOf(query);
  const answer: Counted[] = [];
  for (const one of work) {
    const counted: Counted = { messages: 0, chunks: 0, inflated: 0, damaged: false };
    const leaveOut = (error: unknown) => {
      if (!isDamage(error)) throw error;
      counted.damaged = true;
    };
    const look = async (earlier: EarlierOf | undefined, read: () => Promise<Buffer>) => {
      counted.inflated++;
      const bytes = await read().catch(leaveOut);
      if (bytes) counted.messages += count(bytes, earlier);
    };
    if ("candidates" in one) {
      for (const { part, chunk, earlier } of one.candidates)
        await look(earlier, () => transcripts.chunkBytes(one.id, part, chunk));
    } else {
      for (const { part, earlier } of one.parts) {
        const whole = await transcripts.whole(one.id, part).catch(leaveOut);
        if (!whole) continue;
        for (const chunk of whole.index.chunks) {
          counted.chunks++;
          if (mayCount(chunk, query, earlier)) await look(earlier, () => whole.chunkBytes(chunk));
        }
      }
    }
    answer.push(counted);
  }
  return answer;
}

/** Messages of a chunk that match. */
function countingOf(query: Query): (bytes: Buffer, earlier: EarlierOf | undefined) => number {
  const byBytes = toByteQuery(query);
  if (byBytes) return (bytes, earlier) => countInBytes(bytes, byBytes, earlier && ((seq) => counts(earlier, seq)));
  const compiled = compile(query);
  return (bytes, earlier) => {
    const chunk = decodeChunk(bytes);
    let messages = 0;
    matchChunk(chunk, compiled, (index) => {
      if (counts(earlier, chunk.firstSeq + index)) messages++;
      return false;
    });
    return messages;
  };
}
