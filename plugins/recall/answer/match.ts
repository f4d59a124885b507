/** Which terms a text has, and how well. */
import type { Term } from "./terms.ts";

/** At the beginning of a word (or of a part of a name), and inside of one. */
const BEGINS = 1;
const INSIDE = 0.5;
/** Letters that may follow a short form: "test" is in "tests", not in "testament". */
const SHORT = 5;
const TAIL = 3;
/** Hits of a form that are weighed. */
const HITS = 12;

const LETTER = /[\p{L}\p{N}]/u;
const LOWER = /\p{Ll}/u;
const UPPER = /\p{Lu}/u;

/** Characters of a text that are read. */
export const READ = 16_384;

export interface Hit {
  /** 0 to 1. */
  fit: number;
  at: number;
}

/** Of each term its best hit in the text; undefined where it is not. Linear in the first 16 KB. */
export function findTerms(text: string, terms: readonly Term[]): (Hit | undefined)[] {
  const read = text.slice(0, READ);
  const lower = read.toLowerCase();
  // A text of which lower case is longer (İ) has other places: then hump and place are a little off, and the words are found.
  return terms.map(({ forms }) => {
    let best: Hit | undefined;
    for (const [i, form] of forms.entries()) {
      // A word that means the same is a little less than the word itself.
      const hit = bestOf(read, lower, form);
      if (!hit) continue;
      const fit = i === 0 ? hit.fit : hit.fit * 0.8;
      if (!best || fit > best.fit) best = { fit, at: hit.at };
    }
    return best;
  });
}

function bestOf(text: string, lower: string, form: string): Hit | undefined {
  let best: Hit | undefined;
  let at = lower.indexOf(form);
  for (let looked = 0; at >= 0 && looked < HITS; looked++, at = lower.indexOf(form, at + 1)) {
    const fit = fitAt(text, at, form.length);
    if (fit > (best?.fit ?? 0)) best = { fit, at };
    if (fit === BEGINS) break;
  }
  return best;
}

function fitAt(text: string, at: number, length: number): number {
  const before = text.charAt(at - 1);
  const isHump = UPPER.test(text.charAt(at)) && LOWER.test(before);
  const begins = at === 0 || !LETTER.test(before) || isHump || /\d/.test(before);
  if (length >= SHORT) return begins ? BEGINS : INSIDE;
  if (!begins) return 0;
  for (let i = 0; i <= TAIL; i++) {
    const next = text.charAt(at + length + i);
    if (next === "" || !LETTER.test(next) || (UPPER.test(next) && i === 0)) return BEGINS;
  }
  return 0;
}
