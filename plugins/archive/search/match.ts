/** Looks for a query's words in one chunk. A hit counts when all words are in one message. */

import type { EventKind, SessionEvent } from "sessarc";
import { mainArgument, pathsIn } from "sessarc/adapter";
import { oneLine } from "sessarc/terminal";
import { composingAfter, toLetters } from "./canonical.ts";
import { bestHit, bestHits, findDensest, type Wanted } from "./fit.ts";
import { hasMessageFilter, type Query } from "./query.ts";
import type { Searched } from "./searched.ts";
import { type Grams, mayHold, toGrams } from "./signature.ts";

export interface Match {
  seq: number;
  /** The earlier text it is in; absent in the session's own. */
  version?: number;
  kind: EventKind;
  at: string | null;
  field: "text" | "tool_input";
  /** Of a call: the tool, and what it was called on (a file, a command, a pattern). */
  tool_name?: string;
  argument?: string;
  snippet: string;
  /** Stretches of `snippet` to mark, as [start, end) in UTF-16 units. */
  ranges: [number, number][];
}

/** A match with the whole text it is in: a redacted snippet is made of that. */
export interface FoundMatch extends Match {
  body: string;
  /** Of the snippet in it. */
  start: number;
  end: number;
}

export interface CompiledQuery extends Wanted {
  query: Query;
  /** Groups of letters in all words that must be there, and in the path if one is asked for. */
  grams: Grams;
  /** Of several paths any may be there: the groups of each. */
  paths: readonly Grams[];
  /** What a message must hold by its bytes alone, the longest word first. Words of which only the text shows whether they are there are left out. */
  bytes: readonly RegExp[];
  /** Longest first: the rarest is looked for across the whole chunk at once. */
  words: RegExp[];
  /** The question, where it may be a session's id or a part of it. */
  id: string | null;
  without: RegExp[];
  filtered: boolean;
}

const BEFORE = 60;
const AFTER = 140;

export function compile(query: Query): CompiledQuery {
  const wanted = query.terms.filter((term) => !term.negated).sort((a, b) => b.text.length - a.text.length);
  const unwanted = query.terms.filter((term) => term.negated);
  const paths = query.path.map(toPathGrams);
  const [path] = paths.length === 1 ? paths : [];
  const words = toGrams(wanted.map((term) => term.text));
  return {
    query,
    grams: path
      ? {
          threes: [...words.threes, ...path.threes],
          fives: [...words.fives, ...path.fives],
          either: [...words.either, ...path.either],
        }
      : words,
    paths: path ? [] : paths,
    bytes:
      wanted.length > 0
        ? wanted.flatMap(({ text }) => toByteRegExp(text) ?? [])
        : [toByteRegExp(only(query.path) ?? only(query.model), DOTTED) ?? []].flat(),
    words: wanted.map((term) => toRegExp(term.text, "giu")),
    phrase: toPhrase(query),
    id: toIdPart(query),
    without: unwanted.map((term) => toRegExp(term.text, "iu")),
    filtered: hasMessageFilter(query),
  };
}

/** Eight characters with a digit among them: any shorter part is in the id of many. */
function toIdPart({ terms: [term, ...others] }: Query): string | null {
  if (!term || term.negated || others.length > 0 || !/^(?=.*\d)[\w:-]{8,}$/.test(term.text)) return null;
  return term.text.toLowerCase();
}

/** Paths and models are compared in lower case, where the dotted capital I begins with an i. */
const DOTTED = "(?:i|\\xc4\\xb0)";

/** In lower case the dotted capital I becomes two characters. Nothing is ruled out by a path that holds the second one. */
const toPathGrams = (path: string): Grams => toGrams(path.includes("\u0307") ? [] : [path]);

const only = (list: readonly string[]) => (list.length === 1 ? list[0] : undefined);

/** False when the chunk of this signature cannot hold the query. */
export const mayHoldAll = (
  bytes: Uint8Array,
  start: number,
  length: number,
  { grams, paths }: CompiledQuery,
): boolean =>
  mayHold(bytes, start, length, grams) &&
  (paths.length === 0 || paths.some((path) => mayHold(bytes, start, length, path)));

/** The words in their order with nothing but a space or a sign between them; null for a single one. */
function toPhrase({ terms }: Query): RegExp | null {
  const wanted = terms.filter((term) => !term.negated).map((term) => toRegExp(term.text, "iu").source);
  return wanted.length > 1 ? new RegExp(wanted.join("[^\\p{L}\\p{N}]{1,3}"), "iu") : null;
}

/** `%`, `_`, `.` and all others are plain characters; case is folded in every script, and every spelling of a character is found. */
function toRegExp(text: string, flags: string): RegExp {
  const quote = (form: string) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const source = toLetters(text)
    .map(({ forms }) => (forms.length === 1 ? quote(forms[0] ?? "") : `(?:${forms.map(quote).join("|")})`))
    .join("");
  const marks = composingAfter(text);
  return new RegExp(marks === "" ? source : `${source}(?![${marks}])`, flags);
}

/**
 * An ASCII text looked for in JSON of UTF-8 read as Latin-1, which saves decoding chunks that do not hold it. Two characters outside
 * ASCII fold to ASCII letters: the long s and the Kelvin sign. `i`: what stands for the letter i.
 */
function toByteRegExp(text: string | undefined, i = "i"): RegExp | null {
  if (text === undefined || !/^[\x20-\x7e]+$/.test(text)) return null;
  const source = JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replace(/i/gi, i)
    .replace(/s/gi, "(?:s|\\xc5\\xbf)")
    .replace(/k/gi, "(?:k|\\xe2\\x84\\xaa)");
  return new RegExp(source, "gi");
}

/** Words searched in single messages between two reads of the clock. */
const WORDS_AT_ONCE = 8;

/**
 * The messages that match, in order. Null now and then, for a check of the clock: a question may have a thousand words, and a message all of
 * them. About 30 µs a chunk and word, plus the hits.
 */
export function* matchesIn(chunk: readonly Searched[], compiled: CompiledQuery): Generator<Searched | null, void> {
  const sets = [[compiled.words, true] as const, [compiled.without, false] as const];
  let looked = 0;
  next: for (const one of chunk) {
    for (const [words, wanted] of sets)
      for (const word of words) {
        if ((toField(one, word) !== undefined) !== wanted) continue next;
        if (++looked % WORDS_AT_ONCE === 0) yield null;
      }
    if (!compiled.filtered || passes(one.event, compiled.query)) yield one;
  }
}

/** How many of the words a snippet of the message shows. */
export const wordsShown = (found: Searched, compiled: CompiledQuery): number => bestPlace(found, compiled)?.words ?? 0;

/** Where a message shows the query: the stretch that has most of the words, all of them marked. */
export function toMatch({ event, input }: Searched, compiled: CompiledQuery): FoundMatch {
  const [first] = compiled.words;
  const found = bestPlace({ event, input }, compiled);
  const { field, at } = found ?? { field: event.text === "" && input !== "" && !first ? "tool_input" : "text", at: 0 };
  const body = field === "text" ? event.text : input;
  const start = wordStart(body, Math.max(0, at - BEFORE));
  const end = wholeEnd(body, at + AFTER);
  const snippet = body.slice(start, end);
  return {
    seq: event.seq,
    kind: event.kind,
    at: event.at ?? null,
    field,
    ...toCall(event),
    snippet,
    ranges: rangesIn(snippet, compiled),
    body,
    start,
    end,
  };
}

/** Positions of the words in a snippet: where one is there as a whole word, not those inside of others. */
export const rangesIn = (snippet: string, { words }: Pick<CompiledQuery, "words">): [number, number][] =>
  merge(words.flatMap((word) => bestHits(snippet, word, words.length === 1)).sort((a, b) => a[0] - b[0]));

/** Words that are in so many titles that a mark on them shows nothing. */
const COMMON: ReadonlySet<string> = new Set(
  "a an and are as at be by do for from how if in is it not of on or so that the then this to was we what when where why with you".split(
    " ",
  ),
);

/** As `rangesIn`, without common words where the query has others. */
export function titleRanges(title: string, compiled: Pick<CompiledQuery, "words" | "query">): [number, number][] {
  const ranges = rangesIn(title, compiled);
  const isCommon = (word: string) => COMMON.has(word.toLowerCase());
  if (compiled.query.terms.every(({ text, negated }) => negated || isCommon(text))) return ranges;
  return ranges.filter(([start, end]) => !isCommon(title.slice(start, end)));
}

const ARGUMENT = 160;

function toCall({ kind, tool_name, tool_input }: SessionEvent): Pick<Match, "tool_name" | "argument"> {
  if (kind !== "tool_use") return {};
  const said = mainArgument(tool_input);
  return {
    ...(tool_name !== undefined && { tool_name }),
    ...(said !== "" && { argument: toArgument(oneLine(said)) }),
  };
}

/** Of a long path the end, with the name of the file; of all else the beginning. */
function toArgument(said: string): string {
  if (said.length <= ARGUMENT || /\s/.test(said) || !/[/\\]/.test(said)) return said.slice(0, ARGUMENT);
  const tail = said.slice(1 - ARGUMENT);
  return `…${tail.slice(Math.max(0, tail.search(/[/\\]/)))}`;
}

function toField({ event, input }: Searched, word: RegExp): { field: Match["field"]; at: number } | undefined {
  word.lastIndex = 0;
  const inText = word.exec(event.text);
  if (inText) return { field: "text", at: inText.index };
  if (input === "") return undefined;
  word.lastIndex = 0;
  const inInput = word.exec(input);
  return inInput ? { field: "tool_input", at: inInput.index } : undefined;
}

interface Place {
  field: Match["field"];
  at: number;
  /** How many of the words are there. */
  words: number;
}

/** Where it is best shown: all words side by side, else most of them near each other; of one word the best hit. */
function bestPlace({ event, input }: Searched, { words, phrase }: CompiledQuery): Place | undefined {
  const [first] = words;
  let best: Place | undefined;
  for (const [field, body] of [["text", event.text] as const, ["tool_input", input] as const]) {
    const beside = phrase?.exec(body);
    if (beside) return { field, at: beside.index, words: words.length };
    const one = words.length === 1 && first ? bestHit(body, first) : undefined;
    const place = one ? { at: one.at, words: 1 } : findDensest(body, words, AFTER);
    if (place && place.words > (best?.words ?? 0)) best = { field, ...place };
  }
  return best;
}

/** Whether the filters of messages let it through. */
function passes({ kind, at: time, model: name, is_error, tool_input }: SessionEvent, query: Query): boolean {
  if (!query.kind.every((kinds) => kinds.includes(kind))) return false;
  if (query.notKind.includes(kind)) return false;
  if (query.error !== null && (is_error === true) !== query.error) return false;
  if (query.after !== null || query.before !== null) {
    const at = Date.parse(time ?? "");
    if (Number.isNaN(at) || (query.after !== null && at < query.after) || (query.before !== null && at >= query.before))
      return false;
  }
  if (query.model.length > 0 || query.notModel.length > 0) {
    const model = name?.toLowerCase() ?? "";
    if (query.model.length > 0 && !query.model.some((wanted) => model.includes(wanted))) return false;
    if (query.notModel.some((unwanted) => model.includes(unwanted))) return false;
  }
  if (query.path.length > 0 || query.notPath.length > 0) {
    const paths = pathsIn(tool_input).map((path) => path.toLowerCase().normalize("NFC"));
    if (query.path.length > 0 && !query.path.some((wanted) => paths.some((path) => path.includes(wanted))))
      return false;
    if (query.notPath.some((unwanted) => paths.some((path) => path.includes(unwanted)))) return false;
  }
  return true;
}

/** Not inside of a word; of a path that is longer than what comes before a hit, at one of its folders. */
function wordStart(body: string, at: number): number {
  if (at === 0) return 0;
  const near = body.slice(at, at + 24);
  const space = near.search(/\s/);
  const folder = near.search(/[/\\]/);
  const start = space >= 0 ? at + space + 1 : folder >= 0 ? at + folder + 1 : at;
  return (body.charCodeAt(start) & 0xfc00) === 0xdc00 ? start + 1 : start; // never half a character
}

/** Characters more than asked for, where a word or a path ends within them: its last part is the name of a file. */
const TO_END = 80;

function wholeEnd(body: string, at: number): number {
  if (at >= body.length) return body.length;
  const rest = body.slice(at, at + TO_END);
  const stop = rest.search(/[\s"'`<>|)\]}]/);
  if (stop >= 0) return at + stop;
  if (at + rest.length === body.length) return body.length;
  return (body.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

function merge(ranges: [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const range of ranges) {
    const last = out.at(-1);
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else out.push(range);
  }
  return out;
}
