/**
 * The words of a text as the server's index of trigrams holds them: letters of every script as ASCII, so that the index works whatever locale the
 * database has. A text that contains a question's text contains the question's words, each as a part of a word: words only rule sessions out.
 */

/** Letters, digits and `_` of ASCII, and everything outside of ASCII. */
const RUN = /[0-9A-Za-z_\u0080-\uffff]+/g;

/** The words of a text, as they are stored. */
export function toWords(text: string): string[] {
  return (text.match(RUN) ?? []).map(encode);
}

/** Case is folded as a search folds it: characters that are equal to a search are equal here. */
function encode(run: string): string {
  return run
    .replace(/[\u0080-\uffff]/gu, spell)
    .replace(/[\u{10000}-\u{10ffff}]/gu, spell)
    .toLowerCase();
}

const spelled = new Map<string, string>();
const MOST_SPELLED = 20_000;

/** A character as three digits of base 36. Some characters share a spelling, which lets a session pass that a closer reading rules out. */
function spell(char: string): string {
  const known = spelled.get(char);
  if (known !== undefined) return known;
  const upper = char.toUpperCase();
  const folded = ([...upper].length === 1 ? upper : char).toLowerCase();
  const one = [...folded].length === 1 ? folded : char;
  const code = one.codePointAt(0) ?? 0;
  const made = code < 128 ? one : (code % 36 ** 3).toString(36).padStart(3, "0");
  if (spelled.size < MOST_SPELLED) spelled.set(char, made);
  return made;
}

/** Patterns that the stored words of a session match that contains all these texts; undefined where no index can find them: too short. */
export function findPatterns(texts: readonly string[]): string[] | undefined {
  // Half of a character may be a part of a whole one, which is spelled in another way.
  const words = [...new Set(texts.flatMap((text) => toWords(text.replace(/\p{Surrogate}/gu, " "))))].sort(
    (a, b) => b.length - a.length,
  );
  // A trigram is three letters or digits in a row.
  const found = words.filter((word) => /[0-9a-z]{3}/.test(word));
  if (found.length === 0) return undefined;
  return found.slice(0, MOST_PATTERNS).map((word) => `%${word.slice(0, LONGEST).replace(/[\\%_]/g, "\\$&")}%`);
}
/** More patterns rule out little more. */
const MOST_PATTERNS = 12;
const LONGEST = 200;
