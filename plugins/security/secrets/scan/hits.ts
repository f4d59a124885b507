/** Runs the built-in rules over one reading of a text. */
import { valueStart } from "../match/assign.ts";
import { computeEntropy } from "../match/checks.ts";
import type { Matcher } from "../match/matcher.ts";
import { isSample } from "../match/words.ts";
import type { Confidence } from "../rules/rules.ts";
import { closingQuote, endOfRun, isWord, lastAt, wordBefore } from "./chars.ts";
import { plainReading, type Reading } from "./decode.ts";
import { isNear, type Surroundings, surround } from "./near.ts";
import { createPrefilter } from "./prefilter.ts";
import type { Match } from "./resolve.ts";
import { findGroup, hasEnding, isGlued, type Keyword, named } from "./spans.ts";

export interface Hits {
  /** Adds what is found to `out`, in offsets of the original text. Answers how far into the reading it came. */
  find(reading: Reading, path: string | undefined, expired: () => boolean, out: Match[]): number;
}

/** The clock is read after each piece of this length. */
const PIECE = 16_384;
/** Values one rule checks inside one unbroken run, because of `token=token=token=…`. */
const LOOKS = 8;
/** Long matches that a rule discards at overlapping places; the text after the last one is then reported as unchecked. */
const RETREATS = 64;
const LONG = 256;

const NOTHING: Reading = plainReading("");

interface Entry extends Keyword {
  /** Place of the matcher in the state arrays. */
  index: number;
}

export function createHits(matchers: readonly Matcher[]): Hits {
  const entries = new Map<string, Entry[]>();
  matchers.forEach((matcher, index) => {
    for (const binding of matcher.bindings) {
      const list = entries.get(binding.keyword) ?? [];
      // Field by field: a spread takes ten times as long, for thousands of them.
      const { keyword, back, exact, head, run, identifier } = binding;
      list.push({ keyword, back, exact, head, run, identifier, matcher, index });
      entries.set(binding.keyword, list);
    }
  });
  const table = [...entries.values()];
  const lengths = [...entries.keys()].map((word) => word.length);
  const prefilter = createPrefilter([...entries.keys()]);
  const sweeps = matchers.filter((matcher) => matcher.row.kind === "sweep");
  const sweepable =
    sweeps.length > 0 ? new RegExp(sweeps.map((matcher) => matcher.expression.source).join("|")) : undefined;
  const files = matchers.filter((matcher) => matcher.row.kind === "file");
  // Where the last match of each matcher ended, and the last value it checked.
  // Places are counted on from text to text (`base`), so that nothing needs to be cleared between texts.
  const done = new Float64Array(matchers.length);
  const tried = new Float64Array(matchers.length);
  // How often a matcher looked into the run of characters it is in.
  const runs = new Float64Array(matchers.length);
  const looks = new Int32Array(matchers.length);
  // The last tail each matcher ran along: a place inside of it has the same end.
  const tailFrom = new Float64Array(matchers.length);
  const tailTo = new Float64Array(matchers.length);
  // The stretch in which a matcher took long matches back, and how often.
  const retreat = new Float64Array(matchers.length);
  const retreats = new Int32Array(matchers.length);
  let base = 1;
  let length = 0;

  // The text at hand. Scanning is synchronous: one text at a time.
  let text = "";
  let reading = NOTHING;
  let path: string | undefined;
  let out: Match[] = [];
  let limited = false;
  const near = new Map<Matcher, Surroundings>();
  // The identifier end that `value` and `runEnd` belong to.
  let valueFor = -1;
  let value = -1;
  let runEnd = -1;

  function onHit(keyword: number, at: number): void {
    const list = table[keyword] as Entry[];
    for (let i = 0; i < list.length; i++) {
      const entry = list[i] as Entry;
      const kind = entry.matcher.row.kind;
      if (kind === "token") token(entry, at);
      else if (kind === "assignment") assigned(entry, at, at + (lengths[keyword] as number));
      else surround(near, entry.matcher, at, at + (lengths[keyword] as number), text.length);
    }
  }

  function token(entry: Entry, at: number): void {
    const { matcher, exact, run, index } = entry;
    if (exact !== undefined && !text.startsWith(exact, at)) return;
    let start = at - entry.back;
    if (run) {
      const stop = Math.max(0, start - run.max);
      while (start > stop && run.chars[text.charCodeAt(start - 1)]) start--;
      if (at - start < run.min) return;
    }
    if (base + start < (done[index] as number)) return;
    if (!matcher.row.inside && isGlued(text, entry, start)) return;
    if (matcher.row.notAfter && start > 0 && matcher.row.notAfter.includes(text.charAt(start - 1))) return;
    if (base + start < (retreat[index] as number) && (retreats[index] as number) > RETREATS) {
      limited = true;
      return;
    }
    const end = attempt(matcher, index, start);
    if (end > 0) done[index] = base + end;
  }

  /** A match was taken back: the next one that overlaps it costs as much again. */
  function takeBack(index: number, start: number, end: number): 0 {
    if (end - start < LONG) return 0;
    retreats[index] = base + start < (retreat[index] as number) ? (retreats[index] as number) + 1 : 1;
    retreat[index] = base + end;
    return 0;
  }

  /** Where the run of a matcher's last class ends that begins at `at`. Linear over a text, however often it is asked. */
  function endOfTail(expression: RegExp, index: number, at: number): number {
    if (base + at < (tailFrom[index] as number) || base + at >= (tailTo[index] as number)) {
      expression.lastIndex = at;
      if (!expression.test(text)) return at;
      tailFrom[index] = base + at;
      tailTo[index] = base + expression.lastIndex;
    }
    return (tailTo[index] as number) - base;
  }

  function assigned(entry: Entry, at: number, end: number): void {
    const { matcher, identifier, index } = entry;
    let identifierEnd = end;
    if (identifier) {
      const name = identifier();
      name.lastIndex = at;
      if (!name.test(text)) return;
      identifierEnd = name.lastIndex;
    }
    if (identifierEnd !== valueFor) {
      valueFor = identifierEnd;
      value = valueStart(text, identifierEnd);
      if (value >= runEnd) runEnd = endOfRun(text, value);
    }
    if (value < 0 || tried[index] === base + value || runEnd - value > matcher.longest + 1) return;
    tried[index] = base + value;
    if (runs[index] === base + runEnd) {
      looks[index] = (looks[index] as number) + 1;
      if ((looks[index] as number) > LOOKS) {
        limited = true;
        return;
      }
    } else {
      runs[index] = base + runEnd;
      looks[index] = 1;
    }
    const { expression, row } = matcher;
    const close = row.whole === "quotes" ? closingQuote(text, value) : -1;
    if (close >= value + 8 && accept(matcher, at, value, close, close, row.confidence)) return;
    expression.lastIndex = value;
    if (!matcher.marked) {
      if (expression.test(text)) accept(matcher, at, value, expression.lastIndex, expression.lastIndex, row.confidence);
      return;
    }
    const span = findGroup(expression.exec(text), 0);
    if (span) accept(matcher, at, span[0], span[1], expression.lastIndex, row.confidence);
  }

  /** A token at exactly this place; answers its end or 0. */
  function attempt(matcher: Matcher, index: number, start: number): number {
    const { expression, tail } = matcher;
    expression.lastIndex = start;
    let secretStart = start;
    let secretEnd = 0;
    if (matcher.marked) {
      const span = findGroup(expression.exec(text), 0);
      if (!span) return 0;
      [secretStart, secretEnd] = span;
    } else if (expression.test(text)) secretEnd = expression.lastIndex;
    else return 0;
    let end = expression.lastIndex;
    let confidence: Confidence = matcher.row.confidence;
    if (matcher.row.whole === "at") secretEnd = lastAt(text, secretEnd);
    if (matcher.row.whole === "quotes") secretEnd = Math.max(secretEnd, closingQuote(text, secretStart));
    if (!random(matcher, secretStart, secretEnd)) return takeBack(index, start, end);
    if (tail && secretEnd === end) {
      const tailEnd = endOfTail(tail.expression, index, end);
      if (tailEnd > end) {
        end = tailEnd;
        secretEnd = end;
        confidence = tail.confidence;
      }
    }
    const next = text.charCodeAt(end);
    const goesOn = isWord(next) && isWord(text.charCodeAt(end - 1));
    if (!matcher.row.inside && goesOn && (next !== 95 || matcher.row.confidence !== "definite")) return 0;
    if (accept(matcher, start, secretStart, secretEnd, end, confidence)) return end;
    return takeBack(index, start, end);
  }

  function random({ row }: Matcher, start: number, end: number): boolean {
    return row.entropy === undefined || computeEntropy(text.slice(start, Math.min(end, start + 1024))) > row.entropy;
  }

  function accept(
    matcher: Matcher,
    from: number,
    start: number,
    end: number,
    stop: number,
    certain: Confidence,
  ): boolean {
    const { row } = matcher;
    if (row.files && path !== undefined && !hasEnding(path, row.files)) return false;
    const secret = text.slice(start, end);
    if (row.kind !== "token" && !random(matcher, start, end)) return false;
    if (row.category !== "personal" && secret.length < 300 && isSample(secret)) return false;
    const verdict = matcher.check?.({ text, start, end, from, stop }) ?? true;
    if (!verdict) return false;
    // A value in quotes goes whole, also where the rule's own alphabet ends before.
    const close = row.kind === "assignment" ? closingQuote(text, start) : -1;
    const whole = close > end && !/\s/.test(text.slice(end, close)) ? close : end;
    out.push({
      ruleId: row.id,
      rule: row.name,
      confidence: verdict === "weak" ? "possible" : certain,
      start: reading.origin(start),
      end: reading.origin(whole),
      category: row.category ?? "secret",
      head: matcher.marked ? "" : matcher.head(secret),
    });
    return true;
  }

  /** Every match inside a piece of the text; the piece is cut out, so the search cannot run on behind it. */
  function search(matcher: Matcher, start: number, end: number, wanted: (at: number) => boolean): void {
    const piece = text.slice(start, end);
    const { expression } = matcher;
    expression.lastIndex = 0;
    for (let match = expression.exec(piece); match; match = expression.exec(piece)) {
      const from = start + match.index;
      const to = from + match[0].length;
      if (match[0] === "") expression.lastIndex++;
      const span = matcher.marked ? findGroup(match, start) : ([from, to] as const);
      const whole = matcher.row.inside || !(wordBefore(text, from) || isWord(text.charCodeAt(to)));
      if (span && whole && wanted(from)) accept(matcher, from, span[0], span[1], to, matcher.row.confidence);
    }
  }

  function find(from: Reading, name: string | undefined, expired: () => boolean, matches: Match[]): number {
    ({ text } = from);
    base += length + 2;
    length = text.length;
    reading = from;
    path = name;
    out = matches;
    near.clear();
    valueFor = -1;
    runEnd = -1;
    limited = false;
    let skipped = false;
    let at = 0;
    for (let state = 0; at < text.length; ) {
      const to = Math.min(at + PIECE, text.length);
      state = prefilter.run(text, at, to, state, onHit);
      at = to;
      if (at < text.length && expired()) break;
    }
    for (const [matcher, surroundings] of near) {
      for (const span of surroundings.spans) {
        if (expired()) skipped = true;
        else search(matcher, span.start, span.end, (from) => isNear(text, matcher, surroundings, from));
      }
    }
    if (sweepable && expired()) skipped = true;
    else if (sweepable?.test(text)) {
      for (const matcher of sweeps) {
        if (expired()) skipped = true;
        else search(matcher, 0, at, () => true);
      }
    }
    if (path !== undefined) for (const matcher of files) named(matcher, path, text, reading, out);
    // What was left out behind the last keyword makes the answer partial too.
    const reached = skipped || limited ? Math.min(at, text.length - 1) : at;
    text = "";
    reading = NOTHING;
    out = [];
    return reached;
  }

  return { find };
}
