/** Which part of a match is the secret, and files that are one as a whole. */
import type { Matcher } from "../match/matcher.ts";
import type { Reading } from "./decode.ts";
import type { Match } from "./resolve.ts";

export function hasEnding(path: string, endings: readonly string[]): boolean {
  const lower = path.toLowerCase();
  return endings.some((ending) => lower.endsWith(ending));
}

/** A file that is a secret as a whole, by its name. */
export function named(matcher: Matcher, path: string, text: string, reading: Reading, out: Match[]): void {
  const { row } = matcher;
  if (!hasEnding(path, row.files ?? [])) return;
  const whole = { start: 0, end: reading.origin(text.length) };
  out.push({ ruleId: row.id, rule: row.name, confidence: row.confidence, ...whole, category: "secret", head: "" });
}

/** The first group that took part. */
export function groupOf(match: RegExpExecArray | null, offset: number): readonly [number, number] | undefined {
  const groups = match?.indices;
  if (!groups) return undefined;
  for (let i = 1; i < groups.length; i++) {
    const group = groups[i];
    if (group) return [group[0] + offset, group[1] + offset];
  }
  return undefined;
}
