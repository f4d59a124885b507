/** Whether a mistake still happens since its line was accepted. */
import { saidIn } from "./find/find.ts";
import type { Finding } from "./find/finding.ts";
import { relate } from "./find/same.ts";
import { readClaims } from "./read/claims.ts";
import { toKey } from "./read/differ.ts";
import type { SessionReading } from "./read/session.ts";
import type { AcceptedRow } from "./store.ts";

/** How often it happened in so many sessions. */
export interface Happened {
  times: number;
  sessions: number;
  /** About how many tokens the failed calls took; of a correction 0. */
  tokens: number;
}

export interface Effect {
  before: Happened;
  /** In the sessions that began since. */
  after: Happened;
  /** About how many tokens of failed calls fewer than at the rate of before; of a correction 0, never below 0. */
  saved: number;
  /** What the line cost in the sessions since. */
  spent: number;
}

/** What later sessions are compared with, as JSON. */
export const toSeeds = ({ kind, key, evidence }: Pick<Finding, "kind" | "key" | "evidence">): string =>
  JSON.stringify(kind === "command" ? [key] : [...new Set(evidence.map(({ text }) => text))].slice(0, 50));

const fromSeeds = (seeds: string): string[] =>
  (JSON.parse(seeds) as unknown[]).filter((one) => typeof one === "string");

/** Whether two lists of seeds are of the same mistake. */
export function isOf(accepted: string, seeds: string): boolean {
  const known = fromSeeds(accepted);
  return fromSeeds(seeds).some((seed) => known.includes(seed));
}

/** How often the mistake of an accepted line is in these sessions. */
export function countAgain(
  { kind, seeds }: Pick<AcceptedRow, "kind" | "seeds">,
  sessions: readonly SessionReading[],
): Happened {
  const known = fromSeeds(seeds);
  if (kind === "command") {
    const slips = sessions.flatMap(({ slips: own }) => own.filter((slip) => known.includes(toKey(slip.failed, slip))));
    return {
      times: slips.length,
      sessions: sessions.length,
      tokens: slips.reduce((sum, { tokens }) => sum + tokens, 0),
    };
  }
  const claims = known.flatMap((text) => readClaims(text, false));
  const again = saidIn(sessions).filter(({ claim }) => claims.some((one) => relate(one, claim) === "same"));
  return { times: new Set(again.map(({ session }) => session)).size, sessions: sessions.length, tokens: 0 };
}

export function toEffect(before: Happened, after: Happened, lineTokens: number): Effect {
  const expected = before.sessions === 0 ? 0 : (before.tokens / before.sessions) * after.sessions;
  return { before, after, saved: Math.max(0, Math.round(expected - after.tokens)), spent: lineTokens * after.sessions };
}
