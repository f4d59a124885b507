/** A chunk that may hold a query. */
import type { ChunkEntry, PartIndex, TranscriptPart } from "sessarc/storage";
import { type CompiledQuery, mayHoldAll } from "./match.ts";
import type { Query } from "./query.ts";

/** Of an earlier text only those messages count that no later one has: [from, to) by seq. */
interface EarlierOf {
  version: number;
  own: readonly (readonly [from: number, to: number])[];
}

/** A part of the session's own text, or of an earlier one. */
export interface TextOf {
  part: TranscriptPart;
  earlier?: EarlierOf | undefined;
}

/** The same with its directory and signatures. */
export type TextPart = PartIndex & Pick<TextOf, "earlier">;

export interface Candidate {
  part: TranscriptPart;
  chunk: ChunkEntry;
  earlier?: EarlierOf | undefined;
}

/** Whether a message counts: all of a session's own text, of an earlier one what is its own. All else is found in a later one. */
export const counts = (earlier: EarlierOf | undefined, seq: number): boolean =>
  !earlier || overlaps(earlier, seq, seq + 1);

/** Chunks of a part that may hold the query, by their signatures. */
export function candidatesIn({ part, chunks, sidecars, earlier }: TextPart, compiled: CompiledQuery): Candidate[] {
  const candidates: Candidate[] = [];
  for (const chunk of chunks) {
    const [start, length] = chunk.sidecar;
    if (mayCount(chunk, compiled.query, earlier) && mayHoldAll(sidecars, start, length, compiled))
      candidates.push({ part, chunk, earlier });
  }
  return candidates;
}

/** Whether a chunk has messages of the asked time that count. */
function mayCount(chunk: ChunkEntry, { after, before }: Query, earlier: EarlierOf | undefined): boolean {
  if (after !== null && (chunk.lastAt === null || chunk.lastAt < after)) return false;
  if (before !== null && (chunk.firstAt === null || chunk.firstAt >= before)) return false;
  return !earlier || overlaps(earlier, chunk.firstSeq, chunk.firstSeq + chunk.count);
}

const overlaps = ({ own }: EarlierOf, from: number, to: number): boolean =>
  own.some(([start, end]) => start < to && end > from);
