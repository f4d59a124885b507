/** The messages of one session that a query finds: what the search accepts, inside one transcript. */
import type { SessionEvent } from "sessarc";
import { compile, matchesIn } from "./match.ts";
import { parseQuery } from "./query.ts";
import { toSearched } from "./searched.ts";

export interface FoundWithin {
  /** In order, 10,000 at most. */
  seqs: number[];
  truncated: boolean;
  /** Words and phrases to mark, without filters and what must not be there. */
  words: string[];
  /** True when no message has all of the words: then `seqs` are those that have one of them. */
  relaxed: boolean;
}

const MOST = 10_000;

/** Linear in the transcript. Throws INVALID_INPUT for a filter's bad value. */
export async function findWithin(
  batches: AsyncIterable<readonly SessionEvent[]>,
  q: string,
  signal: AbortSignal,
): Promise<FoundWithin> {
  const query = parseQuery(q);
  const words = query.terms.flatMap(({ text, negated }) => (negated ? [] : [text]));
  const whole = compile(query);
  const single = words.length > 1 ? words.map((text) => compile({ ...query, terms: [{ text, negated: false }] })) : [];
  const all: number[] = [];
  const some: number[] = [];
  for await (const batch of batches) {
    if (signal.aborted) break;
    const searched = toSearched(batch);
    for (const one of matchesIn(searched, whole)) if (one && all.length < MOST) all.push(one.event.seq);
    if (all.length === MOST) break;
    if (all.length > 0) continue;
    const found = new Set<number>();
    for (const word of single) for (const one of matchesIn(searched, word)) if (one) found.add(one.event.seq);
    for (const seq of [...found].sort((a, b) => a - b)) if (some.length < MOST) some.push(seq);
  }
  const relaxed = all.length === 0 && some.length > 0;
  const seqs = relaxed ? some : all;
  return { seqs, truncated: seqs.length === MOST, words, relaxed };
}
