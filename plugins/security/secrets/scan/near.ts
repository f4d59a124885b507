/** Rules that hold only near a word: where to search, and whether a match is near enough. */
import type { Matcher } from "../match/matcher.ts";

/** Spans around the words of a `near` rule, merged, and where the words stand. */
export interface Surroundings {
  spans: { start: number; end: number }[];
  words: number[];
}

/** Adds the surroundings of a word; those of neighbouring words become one. */
export function surround(
  near: Map<Matcher, Surroundings>,
  matcher: Matcher,
  at: number,
  end: number,
  length: number,
): void {
  const { before = 0, after = 0 } = matcher.row.near ?? {};
  let found = near.get(matcher);
  if (!found) {
    found = { spans: [], words: [] };
    near.set(matcher, found);
  }
  found.words.push(at);
  const start = Math.max(0, at - before);
  const stop = Math.min(length, end + after);
  const last = found.spans.at(-1);
  if (last && start <= last.end) last.end = stop;
  else found.spans.push({ start, end: stop });
}

/** Some word stands close enough, and not too many lines before. */
export function isNear(text: string, matcher: Matcher, { words }: Surroundings, from: number): boolean {
  const near = matcher.row.near;
  if (!near) return false;
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle] as number) <= from) low = middle + 1;
    else high = middle;
  }
  const previous = words[low - 1];
  const next = words[low];
  if (next !== undefined && next - from <= near.before) return true;
  if (previous === undefined || from - previous > near.after + 16) return false;
  return near.lines === undefined || text.slice(previous, from).split("\n").length - 1 <= near.lines;
}
