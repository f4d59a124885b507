/** Corrections that a user made in several sessions of a project. */
import type { Claim } from "../read/claims.ts";
import type { Evidence, Finding } from "./finding.ts";
import { relate } from "./same.ts";

/** A claim where it was said. */
export interface Said {
  session: string;
  seq: number;
  at: string | null;
  claim: Claim;
}

/** Sessions in which the same was said, and in which it had the form of a standing wish. */
const SESSIONS = 3;
const STANDING = 2;

/** Groups of claims, the most sessions first; a claim is in one of them. */
export function findCorrections(said: readonly Said[]): Finding[] {
  const left = new Set(said);
  const findings: Finding[] = [];
  for (;;) {
    const best = largest([...left]);
    if (!best) return findings;
    for (const one of best.same) left.delete(one);
    // Who said the opposite at last has changed their mind.
    const last = best.same.reduce((latest, { at }) => (String(at) > latest ? String(at) : latest), "");
    const isTakenBack = said.some((one) => relate(best.seed.claim, one.claim) === "opposite" && String(one.at) > last);
    const finding = isTakenBack ? undefined : toFinding(best.same);
    if (finding) findings.push(finding);
  }
}

function largest(said: readonly Said[]): { seed: Said; same: Said[] } | undefined {
  let best: { seed: Said; same: Said[]; sessions: number } | undefined;
  for (const seed of said) {
    if (!seed.claim.isStanding) continue;
    const same = said.filter((one) => one === seed || relate(seed.claim, one.claim) === "same");
    const sessions = sessionsOf(same);
    const standing = sessionsOf(same.filter(({ claim }) => claim.isStanding));
    if (sessions >= SESSIONS && standing >= STANDING && sessions > (best?.sessions ?? 0))
      best = { seed, same, sessions };
  }
  return best;
}

const sessionsOf = (said: readonly Said[]) => new Set(said.map(({ session }) => session)).size;

/** A word with which a line may begin as it is. */
const BEGINS =
  /^(?:use|don't|do not|never|always|avoid|no|stop|prefer|only|make sure|write|keep|immer|keine?|nimm|nie|verwende)\b/i;

function toFinding(said: readonly Said[]): Finding | undefined {
  const worth = (text: string) => (BEGINS.test(text) ? 1_000 : 0) - text.length;
  const best = said
    .filter(({ claim }) => claim.isStanding)
    .toSorted((a, b) => worth(b.claim.text) - worth(a.claim.text) || (a.session < b.session ? -1 : 1))
    .map(({ claim }) => toLine(claim))
    .find((line) => line !== undefined);
  if (best === undefined) return undefined;
  const evidence: Evidence[] = said.map(({ session, seq, at, claim }) => ({
    session,
    seq,
    at,
    text: claim.text,
    tokens: 0,
  }));
  const [words = []] = said
    .map(({ claim }) => [...claim.unwanted])
    .filter(({ length }) => length > 0)
    .sort((a, b) => a.length - b.length);
  const key = [...new Set(said.flatMap(({ claim }) => [...claim.wanted, ...claim.unwanted]))].sort().join(" ");
  return { kind: "correction", key, line: best, evidence, mistake: { words } };
}

/** The user's own words as a line of instructions. Undefined where they could be read as markup. */
function toLine({ text, unwanted }: Claim): string | undefined {
  const plain = text
    .replaceAll(/\s+/g, " ")
    .replace(/^(?:you|we) (?=(?:must|should|have to|need to|never|always|don't|do not)\b)/i, "")
    .trim();
  if (/[<>{}]|^[#\-*|]|[`]{2}/.test(plain)) return undefined;
  const whole =
    BEGINS.test(plain) ||
    unwanted.size === 0 ||
    !/^[\p{L}\p{N}@./_-]+(?: [\p{L}\p{N}@./_-]+)?,? (?:not|instead|rather)\b/u.test(plain)
      ? plain
      : `use ${plain}`;
  const first =
    BEGINS.test(whole) || /^[a-z]+ [a-z]/.test(whole) ? `${whole.charAt(0).toUpperCase()}${whole.slice(1)}` : whole;
  return /[.。]$/.test(first) ? first : `${first}${/[\p{Script=Han}\p{Script=Hiragana}]/u.test(first) ? "。" : "."}`;
}
