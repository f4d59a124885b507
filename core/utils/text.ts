/** Small text questions with one right answer. */

/** The text on one line: each run of white space is a space, none at the ends. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** One line of at most 200 characters. */
export function toTitle(text: string | undefined): string | undefined {
  const line = oneLine(text?.slice(0, 2000) ?? "");
  return line ? [...line].slice(0, 200).join("") : undefined;
}

/** Counts one record of an unknown type, by name (its first 80 characters). */
export function countUnknown(unknown: Record<string, number>, name: string): void {
  const key = name === "__proto__" ? "?" : name.slice(0, 80);
  unknown[key] = (Object.hasOwn(unknown, key) ? (unknown[key] ?? 0) : 0) + 1;
}

/**
 * The known word nearest to `word` (letters inserted, deleted, changed or swapped), or undefined when none is close: half of a word, or more, is
 * right.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(Math.max(2, Math.ceil(word.length / 3)), Math.floor(word.length / 2)) + 1;
  for (const candidate of known) {
    // A beginning is a likely abbreviation.
    const isStart = word.length > 1 && candidate.toLowerCase().startsWith(word.toLowerCase());
    const distance = isStart ? 1 : editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Optimal string alignment distance. Cost: product of the lengths; for words, not for texts. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(before, j - 2) + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;

/** A copy of the text: a slice of a long string keeps the whole string in memory. */
export const alone = (text: string): string =>
  text.length < 13 || !text.isWellFormed() ? text : Buffer.from(text, "utf8").toString("utf8");
