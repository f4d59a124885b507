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

/** Where the text has any form of the terms, to the end of the word, as [start, end) in order. */
export function placesOf(text: string, terms: readonly Term[]): [number, number][] {
  const lower = text.toLowerCase();
  // Lower case is longer (İ): no place is the text's own.
  if (lower.length !== text.length) return [];
  const found: [number, number][] = [];
  for (const form of new Set(terms.flatMap(({ forms }) => forms)))
    for (let at = lower.indexOf(form); at >= 0; at = lower.indexOf(form, at + form.length))
      if (fitAt(text, at, form.length) === BEGINS) found.push([at, wordEnd(text, at + form.length)]);
  const places: [number, number][] = [];
  for (const [start, end] of found.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = places.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else places.push([start, end]);
  }
  return places;
}

/** The end of the word, or of this part of a name, that goes on at `at`. */
function wordEnd(text: string, at: number): number {
  let end = at;
  while (LETTER.test(text.charAt(end)) && !isHump(text, end)) end++;
  return end;
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

/** A capital after a small letter: a part of a name begins. */
const isHump = (text: string, at: number) => UPPER.test(text.charAt(at)) && LOWER.test(text.charAt(at - 1));

function fitAt(text: string, at: number, length: number): number {
  const before = text.charAt(at - 1);
  const begins = at === 0 || !LETTER.test(before) || isHump(text, at) || /\d/.test(before);
  if (length >= SHORT) return begins ? BEGINS : INSIDE;
  if (!begins) return 0;
  for (let i = 0; i <= TAIL; i++) {
    const next = text.charAt(at + length + i);
    if (next === "" || !LETTER.test(next) || (UPPER.test(next) && i === 0)) return BEGINS;
  }
  return 0;
}
