/** Compares two texts: hunks of lines, with the words that differ in lines that were changed. */
import { diffWordsWithSpace, structuredPatch } from "diff";
import type { DiffLine, Hunk } from "./diff-types.ts";

/** More lines than this are not looked into word by word. */
const WORDS_UP_TO = 400;

/** Up to so many characters comparing is a matter of a millisecond. */
const AT_ONCE = 12_000;

export interface How {
  /** Equal lines around a change. */
  context: number;
  /** In ms. */
  timeout: number;
  /** The texts are cut out of a file: the end of the last line says nothing of it. */
  excerpt?: boolean;
}

/** Short enough to be compared while the row is drawn; a new text needs no comparing. */
export const isQuick = (before: string, after: string): boolean =>
  before === "" || before.length + after.length <= AT_ONCE;

/** null when it takes longer than the limit. */
export function compareLines(before: string, after: string, { excerpt = false, ...how }: How): Hunk[] | null {
  if (before === "" && after !== "") return [toNew(after)];
  const options = { ...how, ignoreNewlineAtEof: excerpt };
  const patch = structuredPatch("a", "b", before, after, undefined, undefined, options);
  if (!patch) return null;
  return patch.hunks.map(({ lines, oldStart, newStart, oldLines, newLines }) => {
    let a = oldStart;
    let b = newStart;
    const drawn = lines.flatMap((text): DiffLine[] => {
      const sign = text[0];
      const rest = text.slice(1);
      if (sign === "\\") return [];
      if (sign === "-") return [{ sign: "-", a: a++, b: null, text: rest, words: [] }];
      if (sign === "+") return [{ sign: "+", a: null, b: b++, text: rest, words: [] }];
      return [{ sign: " ", a: a++, b: b++, text: rest, words: [] }];
    });
    return { oldStart, newStart, oldLines, newLines, lines: drawn };
  });
}

/** The same with the words that differ, which are looked for as long as there is time, by `now` in ms. */
export function compare(before: string, after: string, how: How, now = () => performance.now()): Hunk[] | null {
  const ends = now() + how.timeout;
  const hunks = compareLines(before, after, how);
  const changed = (hunks ?? []).reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (changed <= WORDS_UP_TO) for (const { lines } of hunks ?? []) emphasise(lines, () => ends - now());
  return hunks;
}

function toNew(text: string): Hunk {
  const lines = text.replace(/\n$/, "").split("\n");
  return {
    oldStart: 0,
    newStart: 1,
    oldLines: 0,
    newLines: lines.length,
    lines: lines.map((line, i) => ({ sign: "+", a: null, b: i + 1, text: line, words: [] })),
  };
}

/** As many removed as added lines next to each other are taken for the same lines, changed. `timeLeft` in ms. */
function emphasise(lines: DiffLine[], timeLeft: () => number): void {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]?.sign !== "-") continue;
    const from = i;
    while (lines[i]?.sign === "-") i++;
    const middle = i;
    while (lines[i]?.sign === "+") i++;
    if (middle - from !== i - middle) {
      i--;
      continue;
    }
    for (let k = 0; k < middle - from; k++) {
      const old = lines[from + k];
      const now = lines[middle + k];
      if (!old || !now || old.text.length + now.text.length > 2_000) continue;
      const left = timeLeft();
      if (left <= 0) return;
      const parts = diffWordsWithSpace(old.text, now.text, { timeout: left });
      if (!parts) return;
      const same = parts
        .filter((part) => !part.added && !part.removed)
        .reduce((sum, part) => sum + part.value.trim().length, 0);
      // Lines with next to nothing in common are other lines: marking all of them says nothing.
      if (same * 3 < Math.max(old.text.trim().length, now.text.trim().length)) continue;
      let a = 0;
      let b = 0;
      for (const part of parts) {
        const { length } = part.value;
        if (part.removed) old.words.push([a, a + length]);
        if (part.added) now.words.push([b, b + length]);
        if (!part.added) a += length;
        if (!part.removed) b += length;
      }
    }
    i--;
  }
}
