/** A question in plain words as the terms it is looked for by. */
import { SAME } from "./glossary.ts";

/** One meaning of a question, in all forms of which any counts. */
export interface Term {
  /** In lower case: beginnings of words, or several words. */
  forms: readonly string[];
  /** A share of what its rarity makes it worth: what many questions have says little. */
  share: number;
  /** As it was asked, where the first form is only its beginning: of two chunks that have the beginning, one may have the word. */
  exact?: string;
}

export interface Asked {
  terms: readonly Term[];
  /** Kinds of facts that the wording asks for. */
  wants: ReadonlySet<string>;
}

/** Characters of a question that are read, and its terms: a pasted log is as long as it likes. */
const MOST = 2_000;
const TERMS = 28;
/** Letters from which on a signature can rule a word out. */
const EXACT = 5;

const words = (text: string) => new Set(text.split(" "));
const STOP = words(
  "a an the and or but not no nor so if then than that this these those there here it its they them their we us our you your i me my he she who whom whose which what when where why how is are was were be been being am do does did done doing have has had having can could should would will shall may might must to of in on at by for from with without into onto about over under after before between again once same as too very just also only own such some any each every all both more most other another off up out down let lets get got gets one ones via per ago weeks week ever already still now",
);
/** What a question says of anything. */
const WEAK = words(
  "fix fixed fixes fixing solve solved resolve resolved error errors fail failed fails failing failure issue issues problem problems bug bugs broken work works working worked change changed changes changing use used uses using need needs needed make makes made add added file files code test tests thing things way ways happen happened reason choose chose chosen decide decided decision choice pick picked prefer say said told rule new old run runs running ran start go goes going gone went find want wanted did cannot could",
);
const WANTS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:why|reason|decid\w*|decision|chose|choose|choice|chosen|pick\w*|instead|versus|vs|or)\b/i, "decided"],
  [/\b(?:fix\w*|solv\w*|resolv\w*|unstuck|workaround|work(?:s|ed)? again)\b/i, "fixed"],
  [/\b(?:error|fail\w*|exception|crash\w*|E[A-Z]{4,}|TS\d{4})\b|(?:Error|Exception):/, "failed"],
  [
    /\b(?:did i (?:say|tell|ask|complain)|i (?:said|told|complain)|feedback|correct\w*|rule|prefer\w*|should (?:i|we|it))\b/i,
    "corrected",
  ],
];

const ENDINGS =
  /(?:ations?|itions?|ments?|ingly|ings?|ers?|ors?|ions?|ives?|ances?|ences?|ably|ables?|ibles?|ness|ed|es|ly|al|s|e|y|ies|ied)$/;

const INDEX = new Map<string, readonly string[]>();
for (const list of SAME) for (const word of list) INDEX.set(stemOf(word), list);

export function toAsked(question: string): Asked {
  const text = question.slice(0, MOST).normalize("NFC");
  const found = new Map<string, Term>();
  for (const word of toWords(text)) {
    if (found.size === TERMS) break;
    if (STOP.has(word)) continue;
    const stem = stemOf(word);
    if (found.has(stem)) continue;
    const same = INDEX.get(stem)?.map((one) => (one.includes(" ") ? one : stemOf(one))) ?? [];
    const exact = word.length > stem.length && word.length >= EXACT && { exact: word };
    found.set(stem, {
      forms: [...new Set([stem, ...same])],
      share: WEAK.has(word) || stem.length < 3 ? 0.3 : 1,
      ...exact,
    });
  }
  const wants = WANTS.filter(([pattern]) => pattern.test(text)).map(([, kind]) => kind);
  return { terms: [...found.values()], wants: new Set(wants) };
}

/** Words in lower case, parts of names apart: `loadInvoice_v2` has `load` and `invoice`. */
function* toWords(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    for (const [part] of run.matchAll(/\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+(?!\p{Ll})|\p{N}+|[\p{L}\p{M}]+/gu)) {
      const word = part.toLowerCase();
      // A short number is in everything.
      if (word.length > 1 && !/^\p{N}{1,2}$/u.test(word)) yield word;
    }
}

/** A word without the ending that says its form: at least four letters remain, of a short word all. */
export function stemOf(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word))
    return word.length === 4 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
  const stem = word.replace(ENDINGS, "");
  if (stem.length < 4) return word.replace(/(?:es|s)$/, (end, at: number) => (at >= 4 ? "" : end));
  // "running", "stopped"
  return /([bdgmnprt])\1$/.test(stem) && stem.length > 4 ? stem.slice(0, -1) : stem;
}
