/** What a page shows of a session: its first matches, and how many there are. */
import type { Candidate } from "./candidate.ts";
import type { Entry } from "./entry.ts";
import type { Looker } from "./looker.ts";
import { type CompiledQuery, type FoundMatch, toMatch } from "./match.ts";

export interface SessionHits {
  id: string;
  projectId: string;
  matchCount: number;
  /** `gte` when the session was too large to count to its end. */
  matchRelation: "eq" | "gte";
  matches: FoundMatch[];
}

const MATCHES_SHOWN = 3;
/** Chunks of one session fetched at once. */
const AHEAD = 4;
/** Chunks of one session counted through once there is something to show. */
const COUNTED_CHUNKS = 8;

/** Undefined where nothing of these chunks matches. */
export async function hitsIn(
  looker: Looker,
  entry: Entry,
  candidates: readonly Candidate[],
  compiled: CompiledQuery,
): Promise<SessionHits | undefined> {
  const { id, projectId } = entry;
  const hits: SessionHits = { id, projectId, matchCount: 0, matchRelation: "eq", matches: [] };
  let counted = 0;
  for (let at = 0; at < candidates.length; at += AHEAD) {
    const some = candidates.slice(at, at + AHEAD);
    for (const one of some) {
      const chunk = await looker.chunk(entry, one);
      if (looker.slices.due) await looker.slices.turn();
      if (!chunk) continue;
      await looker.match(chunk, one, (index) => {
        hits.matchCount++;
        if (hits.matches.length === MATCHES_SHOWN) return false;
        const match = toMatch(chunk, index, compiled);
        hits.matches.push(one.earlier ? { ...match, version: one.earlier.version } : match);
        return false;
      });
    }
    counted += some.length;
    if (hits.matchCount > 0 && counted >= COUNTED_CHUNKS && at + AHEAD < candidates.length) {
      hits.matchRelation = "gte";
      break;
    }
  }
  return hits.matchCount > 0 ? hits : undefined;
}
