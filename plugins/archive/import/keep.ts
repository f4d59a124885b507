/** What a session's log no longer says stays: texts stored before, of which something is missing in the one just read. */

import type { SessionEvent } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { isDamage } from "../catalogue/damage.ts";
import { createNumbering, type KnownMessage, type Seen } from "../counting/identity.ts";
import { collectFacts } from "./facts.ts";
import type { EarlierText, StoredText } from "./types.ts";

/**
 * Of `stored` (newest first) those that hold messages which neither the text just read nor a later one has. Reads each of them once;
 * one that is damaged counts as far as it can be read.
 */
export async function keepEarlier(
  stored: readonly StoredText[],
  seen: Seen,
  read: (parts: readonly TranscriptPart[]) => AsyncIterable<SessionEvent[]>,
  adapter: Pick<Adapter, "skills" | "tools">,
): Promise<EarlierText[]> {
  const kept: EarlierText[] = [];
  for (const { version, parts } of stored) {
    const number = createNumbering();
    const facts = collectFacts(adapter);
    const only: KnownMessage[] = [];
    const own: [from: number, to: number][] = [];
    try {
      for await (const events of read(parts)) {
        for (const event of events) {
          const known = number(event);
          if (seen.holds(event, known)) {
            facts.pass(event);
            continue;
          }
          facts.add(event);
          only.push(known);
          const last = own.at(-1);
          if (last?.[1] === event.seq) last[1]++;
          else own.push([event.seq, event.seq + 1]);
        }
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    if (only.length === 0) continue;
    for (const known of only) seen.put(known);
    const { errorCount } = facts;
    const names = Float64Array.from(only, (known) => known.name);
    kept.push({ version, parts, own, names, count: only.length, errorCount, facts: facts.finish(undefined) });
  }
  return kept;
}
