/** Compares two texts: hunks of lines, with the words that differ in lines that were changed. */
import { diffWordsWithSpace, structuredPatch } from "diff";
import type { DiffLine, Hunk } from "./diff-types.ts";

/** More lines than this are not looked into word by word. */
const WORDS_UP_TO = 400;

/** null when it takes longer than the limit in ms; the words that differ are looked for as long as there is time, by `now` in ms. */
export function compare(
  before: string,
  after: string,
  context: number,
  timeout: number,
  now = () => performance.now(),
): Hunk[] | null {
  const ends = now() + timeout;
  const patch = structuredPatch("a", "b", before, after, undefined, undefined, { context, timeout });
  if (!patch) return null;
  const changed = patch.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return patch.hunks.map((hunk) => {
    let a = hunk.oldStart;
    let b = hunk.newStart;
    const lines = hunk.lines.flatMap((text): DiffLine[] => {
      const sign = text[0];
      const rest = text.slice(1);
      if (sign === "\\") return [];
      if (sign === "-") return [{ sign: "-", a: a++, b: null, text: rest, words: [] }];
      if (sign === "+") return [{ sign: "+", a: null, b: b++, text: rest, words: [] }];
      return [{ sign: " ", a: a++, b: b++, text: rest, words: [] }];
    });
    if (changed <= WORDS_UP_TO) emphasise(lines, () => ends - now());
    const { oldStart, newStart, oldLines, newLines } = hunk;
    return { oldStart, newStart, oldLines, newLines, lines };
  });
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
