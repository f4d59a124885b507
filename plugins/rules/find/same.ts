/** Whether two claims say the same, or the opposite. */
import type { Claim } from "../read/claims.ts";
import { COMMON } from "../read/words.ts";

/** Words that both have, of all their words; a common word counts a third. */
const ENOUGH = 0.5;
const ENOUGH_OF_MANY = 0.6;

export type Relation = "same" | "opposite" | "none";

export function relate(a: Claim, b: Claim): Relation {
  const fits = doFit(a.verb, b.verb);
  if (fits && (overlaps(a.wanted, b.unwanted) || overlaps(a.unwanted, b.wanted))) return "opposite";
  const isRefused = fits && overlaps(a.unwanted, b.unwanted);
  const isWanted = overlaps(a.wanted, b.wanted);
  // `X instead of Y` and `Z instead of Y` are two wishes.
  if (isRefused) return isWanted || !isNamed(a) || !isNamed(b) || sizeOf(a.unwanted) > 1 ? "same" : "none";
  return isWanted ? "same" : "none";
}

const isNamed = ({ wanted }: Claim) => [...wanted].some((word) => !COMMON.has(word));
const sizeOf = (words: ReadonlySet<string>) => [...words].filter((word) => !COMMON.has(word)).length;

/** Verbs of making and using are one where something is refused: `no X`, `don't use X`, `stop writing X`. */
const LIGHT: ReadonlySet<string | undefined> = new Set(["make", "use", undefined]);
const doFit = (a: string | undefined, b: string | undefined) => a === b || (LIGHT.has(a) && LIGHT.has(b));

function overlaps(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size === 0 || b.size === 0) return false;
  let shared = 0;
  let all = 0;
  let named = 0;
  for (const word of new Set([...a, ...b])) {
    const weight = COMMON.has(word) ? 1 / 3 : /[/_.]/.test(word) ? 3 : 1;
    all += weight;
    if (!a.has(word) || !b.has(word)) continue;
    shared += weight;
    if (weight >= 1) named++;
  }
  const least = Math.min(sizeOf(a), sizeOf(b));
  return named > 0 && shared / all >= (least > 1 ? ENOUGH_OF_MANY : ENOUGH);
}
