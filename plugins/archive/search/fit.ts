/** How well a text fits the words of a question: whole words before parts of words, words side by side before words apart. */

/** The words of a question, and all of them side by side where there are several. */
export interface Wanted {
  words: readonly RegExp[];
  phrase: RegExp | null;
}

/** Of a word that is found as it is, at the beginning of a word ("tests"), and inside one ("latest"). */
const WHOLE = 1;
const BEGINS = 0.6;
const INSIDE = 0.2;
/** Words that follow each other as they were asked. */
export const SIDE_BY_SIDE = 1.25;
/** Hits of a word that are weighed in a text. */
const LOOKED = 50;

const WORD = /[\p{L}\p{N}_]/u;
/** Written without spaces: a part of a sentence is a word. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** Whether a word may begin or end between the two characters. */
const isEdge = (inside: string, outside: string) =>
  outside === "" || !WORD.test(outside) || !WORD.test(inside) || UNSPACED.test(inside) || UNSPACED.test(outside);

function fitAt(text: string, start: number, end: number): number {
  if (!isEdge(text.charAt(start), text.charAt(start - 1))) return INSIDE;
  return isEdge(text.charAt(end - 1), text.charAt(end)) ? WHOLE : BEGINS;
}

/** The best hit of a word in a text: where it is and how well it fits. Undefined where it is not. */
export function bestHit(text: string, word: RegExp): { at: number; fit: number } | undefined {
  let best: { at: number; fit: number } | undefined;
  word.lastIndex = 0;
  for (let looked = 0; looked < LOOKED; looked++) {
    const hit = word.exec(text);
    if (!hit) break;
    const fit = fitAt(text, hit.index, hit.index + hit[0].length);
    if (!best || fit > best.fit) best = { at: hit.index, fit };
    if (fit === WHOLE) break;
  }
  return best;
}

/** Words that are looked for beside each other: a question may have a thousand. */
const TOGETHER = 8;

/** The beginning of the stretch of `room` characters that has the most words, whole ones first, and how many; undefined where none is in the text. */
export function findDensest(
  text: string,
  words: readonly RegExp[],
  room: number,
): { at: number; words: number } | undefined {
  const hits = words.slice(0, TOGETHER).flatMap((word, of) => {
    const found: { of: number; at: number; end: number; fit: number }[] = [];
    word.lastIndex = 0;
    for (let hit = word.exec(text); hit && found.length < LOOKED; hit = word.exec(text)) {
      const end = hit.index + hit[0].length;
      found.push({ of, at: hit.index, end, fit: fitAt(text, hit.index, end) });
    }
    return found;
  });
  hits.sort((a, b) => a.at - b.at);
  let best: { at: number; words: number } | undefined;
  let most = 0;
  for (const [i, { at }] of hits.entries()) {
    const fits = new Map<number, number>();
    for (let j = i; j < hits.length; j++) {
      const hit = hits[j];
      if (!hit || hit.at >= at + room) break;
      if (hit.end <= at + room) fits.set(hit.of, Math.max(fits.get(hit.of) ?? 0, hit.fit));
    }
    // A word more counts more than how well one fits.
    const worth = fits.size + [...fits.values()].reduce((sum, fit) => sum + fit, 0) / (TOGETHER + 1);
    if (worth > most) {
      most = worth;
      best = { at, words: fits.size };
    }
  }
  return best;
}

/** Letters of a word that is marked inside of others, where the question has more words. */
const LEAST_INSIDE = 4;

/**
 * The hits of a word that fit best, as [start, end): whole words, else beginnings of words, else what is inside them. A word of fewer than
 * four letters is not marked inside of others ("an" in "and"), unless it is the only word: then it is why the text was found.
 */
export function bestHits(text: string, word: RegExp, isOnly: boolean): [number, number][] {
  word.lastIndex = 0; // matchAll starts there
  const hits = [...text.matchAll(word)].map((hit) => ({ start: hit.index, end: hit.index + hit[0].length }));
  const fits = hits.map(({ start, end }) => fitAt(text, start, end));
  const best = fits.reduce((most, fit) => Math.max(most, fit), 0);
  return hits.flatMap(({ start, end }, i) =>
    fits[i] === best && (best > INSIDE || isOnly || end - start >= LEAST_INSIDE) ? [[start, end]] : [],
  );
}

/** 0: none of the words is in it; 1: all as whole words; more where they stand side by side. */
export function fitOf(text: string, { words, phrase }: Wanted): number {
  let sum = 0;
  for (const word of words) sum += bestHit(text, word)?.fit ?? 0;
  if (sum === 0) return 0;
  return (sum / words.length) * (phrase?.test(text) ? SIDE_BY_SIDE : 1);
}
