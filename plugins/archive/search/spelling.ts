/**
 * The nearest known word of one that nothing has. Known are the words of all titles and of the newest texts, as far as they are read in a fifth of
 * a second; which of them a question may use is decided by asking it.
 */

/** Times a word was seen, and how it is written. */
interface Known {
  text: string;
  count: number;
}

const WORD = /\p{L}[\p{L}\p{M}_]{2,23}/gu;
/** Words of which nothing nearer is looked for: too short to tell, or no word at all. */
const ASKED = /^\p{L}[\p{L}\p{M}_]{3,23}$/u;
const MOST_WORDS = 60_000;
/** From this length on two letters may be wrong, below it one. */
const LONG = 7;

export class Vocabulary {
  readonly #words = new Map<string, Known>();

  get isFull(): boolean {
    return this.#words.size >= MOST_WORDS;
  }

  /** Some 50 ns a letter. */
  add(text: string): void {
    for (const [word] of text.matchAll(WORD)) {
      const key = word.toLowerCase();
      const known = this.#words.get(key);
      if (known) known.count++;
      else if (!this.isFull) this.#words.set(key, { text: word, count: 1 });
    }
  }

  /** The word that differs least, of several the most frequent; undefined for one that is known, or near none. Some 5 ms. */
  nearest(asked: string): string | undefined {
    if (!ASKED.test(asked)) return undefined;
    const wanted = asked.toLowerCase();
    const most = wanted.length >= LONG ? 2 : 1;
    let best: { text: string; distance: number; count: number } | undefined;
    for (const [word, { text, count }] of this.#words) {
      // A search finds parts of words.
      if (word.includes(wanted)) return undefined;
      if (Math.abs(word.length - wanted.length) > most) continue;
      const distance = distanceOf(wanted, word, best ? best.distance : most);
      if (distance === undefined) continue;
      if (!best || distance < best.distance || count > best.count) best = { text, distance, count };
    }
    return best?.text;
  }
}

/** Letters to add, remove, change or swap with their neighbour; undefined above `most`. */
function distanceOf(a: string, b: string, most: number): number | undefined {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    // A swap reaches two rows back, and costs one more than the row it begins in.
    if (least > most + 1) return undefined;
    before = last;
    last = row;
  }
  const distance = last[b.length] ?? 0;
  return distance <= most ? distance : undefined;
}

/** The question with each word that nothing has replaced by the nearest that is known; undefined where none is. */
export function respell(q: string, terms: readonly string[], vocabulary: Vocabulary): string | undefined {
  let text = q;
  for (const term of terms) {
    const word = vocabulary.nearest(term);
    if (word === undefined) continue;
    // Whole: the same letters may be a part of another word before it.
    const at = text.search(new RegExp(`(?<![\\p{L}\\p{M}_:])${term}(?![\\p{L}\\p{M}_:])`, "u"));
    if (at >= 0) text = text.slice(0, at) + word + text.slice(at + term.length);
  }
  return text === q ? undefined : text;
}
