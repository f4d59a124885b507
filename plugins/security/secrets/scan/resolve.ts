/** From overlapping matches to findings: the more specific and more certain rule names the whole stretch. */
import type { Confidence } from "../rules/rules.ts";

export interface Match {
  ruleId: string;
  rule: string;
  confidence: Confidence;
  start: number;
  end: number;
  category: "secret" | "personal";
  /** Text before the secret that may be shown: a literal head. */
  head: string;
}

const RANK: Record<Confidence, number> = { definite: 2, probable: 1, possible: 0 };

/**
 * Sorted by start, without overlaps. A stretch covered by several matches is reported once, as long as all of them
 * together, so that no rest of a value stays outside.
 */
export function resolveOverlaps(matches: Match[]): Match[] {
  matches.sort((a, b) => a.start - b.start || b.end - a.end);
  const out: Match[] = [];
  for (const match of matches) {
    const last = out.at(-1);
    if (!last || match.start >= last.end) {
      out.push(match);
      continue;
    }
    const best = better(match, last) ? match : last;
    out[out.length - 1] = { ...best, start: last.start, end: Math.max(last.end, match.end) };
  }
  return out;
}

function better(a: Match, b: Match): boolean {
  if (a.category !== b.category) return a.category === "secret";
  const specific = Number(GENERAL.has(b.ruleId)) - Number(GENERAL.has(a.ruleId));
  if (specific !== 0) return specific > 0;
  const rank = RANK[a.confidence] - RANK[b.confidence];
  return rank !== 0 ? rank > 0 : a.head.length > b.head.length;
}

/** Rules that know the place, not the credential: a specific rule's finding replaces theirs. */
const GENERAL = new Set([
  "generic-api-key",
  "env-secret",
  "password-assignment",
  "password-flag",
  "password-prompt",
  "bearer-token",
  "authorization-header",
  "key-header",
  "oauth-token",
  "query-token",
  "url-password",
  "url-token",
  "session-cookie",
  "openai-like-key",
  "curl-auth-header",
  "curl-auth-user",
]);

/** What is left of a match outside the spans an allow rule covers. */
export function subtract(match: Match, allowed: readonly { start: number; end: number }[]): Match[] {
  let rest = [match];
  for (const span of allowed) {
    rest = rest.flatMap((piece) => {
      if (span.end <= piece.start || span.start >= piece.end) return [piece];
      const out: Match[] = [];
      if (span.start > piece.start) out.push({ ...piece, end: span.start });
      if (span.end < piece.end) out.push({ ...piece, start: span.end });
      return out;
    });
  }
  return rest;
}
