/** Where a match may begin, which part of it is the secret, and files that are one as a whole. */
import type { Binding, Matcher } from "../match/matcher.ts";
import { dashBefore, wordBefore } from "./chars.ts";
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
export function findGroup(match: RegExpExecArray | null, offset: number): readonly [number, number] | undefined {
  const groups = match?.indices;
  if (!groups) return undefined;
  for (let i = 1; i < groups.length; i++) {
    const group = groups[i];
    if (group) return [group[0] + offset, group[1] + offset];
  }
  return undefined;
}

/** A keyword, and the matcher that waits for it. */
export interface Keyword extends Binding {
  matcher: Matcher;
}

/** Right behind a letter only a head counts that no word ends with (`task_test_` holds a key's); behind a `_` a shorter one will do. */
const LONG_HEAD = 10;

/** The match would begin inside of a longer word. An unmistakable head may: `key_npm_…`. */
export function isGlued(text: string, { matcher, head }: Keyword, start: number): boolean {
  // A parameter may follow any character.
  if ("?&;".includes(text.charAt(start))) return false;
  if (matcher.dashed && dashBefore(text, start)) return head === "";
  if (!wordBefore(text, start)) return false;
  return head === "" || (head.length < LONG_HEAD && text.charCodeAt(start - 1) !== 95);
}
