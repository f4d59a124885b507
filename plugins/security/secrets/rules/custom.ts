/** Rules of the user: always on a linear-time engine, whatever the pattern. */
import type { RE2JS } from "re2js";
import { expressions } from "../match/expressions.ts";
import type { Rule } from "./rules.ts";

export interface CustomMatcher {
  rule: Rule;
  /** Spans in `text`, in order. Linear; about 2-20 MB/s. Stops when `expired` returns true and returns what it has. */
  find(text: string, expired: () => boolean): { spans: Span[]; complete: boolean };
}

interface Span {
  start: number;
  end: number;
}

const CHUNK = 16_384;
const OVERLAP = 2_048;
const NEAR = 1_024;

/** Why a pattern is refused, or undefined. `at` is the offset of the part that is wrong, when the engine names one. */
export function patternProblem(
  rule: Pick<Rule, "type" | "pattern" | "flags">,
): { message: string; at: number | null } | undefined {
  if (rule.pattern === "") return { message: "The pattern is empty", at: 0 };
  if (rule.pattern.length > 4_096) return { message: "The pattern is longer than 4096 characters", at: 4_096 };
  const unknown = [...rule.flags].find((flag) => !"ims".includes(flag));
  if (unknown !== undefined) return { message: `Unknown flag ${unknown}: use i, m and s`, at: null };
  try {
    const compiled = compile(rule);
    if (compiled.test("")) return { message: "The pattern matches the empty text", at: 0 };
  } catch (error) {
    if (!(error instanceof expressions().RE2JSSyntaxException)) throw error;
    const part = error.getPattern();
    const at = part ? rule.pattern.indexOf(part) : -1;
    return { message: error.getDescription(), at: at < 0 ? null : at };
  }
  return undefined;
}

/** Throws what RE2JS throws when the pattern does not compile: call `patternProblem` first. */
export function compileCustom(rule: Rule): CustomMatcher {
  const keywords = rule.keywords.map((word) => word.toLowerCase()).filter(Boolean);
  if (rule.type === "literal" && rule.flags === "")
    return { rule, find: (text) => ({ spans: literalSpans(text, rule.pattern), complete: true }) };
  const expression = compile(rule);

  return {
    rule,
    find(text, expired) {
      const spans: Span[] = [];
      for (const { start, end } of regions(text, keywords)) {
        for (let from = start; from < end; from += CHUNK) {
          if (expired()) return { spans, complete: false };
          const to = Math.min(from + CHUNK + OVERLAP, end);
          collect(expression, text, from, to, spans);
          if (to === end) break;
        }
      }
      return { spans, complete: true };
    },
  };
}

/** Matches of one piece. What touches a border of the piece is tried again with the text around it. */
function collect(expression: RE2JS, text: string, from: number, to: number, spans: Span[]): void {
  const matcher = expression.matcher(text.slice(from, to));
  while (matcher.find()) {
    const found = { start: from + matcher.start(), end: from + matcher.end() };
    const cut = (found.start === from && from > 0) || (found.end === to && to < text.length);
    const span = cut ? confirm(expression, text, found.start) : found;
    if (!span || span.end <= span.start) continue;
    const last = spans.at(-1);
    if (!last || span.start >= last.end) spans.push(span);
    else last.end = Math.max(last.end, span.end);
  }
}

/** The match at exactly this place, with its surroundings in sight; undefined when it was made by the cut alone. */
function confirm(expression: RE2JS, text: string, start: number): Span | undefined {
  const from = Math.max(0, start - 1);
  const to = Math.min(text.length, start + 4 * CHUNK);
  const matcher = expression.matcher(text.slice(from, to));
  if (!matcher.find(start - from) || matcher.start() !== start - from) return undefined;
  const end = from + matcher.end();
  return end === to && to < text.length ? undefined : { start, end };
}

/** The whole text, or the surroundings of the keywords. */
function regions(text: string, keywords: readonly string[]): Span[] {
  if (keywords.length === 0) return [{ start: 0, end: text.length }];
  const lower = text.toLowerCase();
  // A few characters change length when lowered: then the offsets would not fit.
  if (lower.length !== text.length) return [{ start: 0, end: text.length }];
  const spans = keywords.flatMap((word) => literalSpans(lower, word));
  spans.sort((a, b) => a.start - b.start);
  const out: Span[] = [];
  for (const span of spans) {
    const start = Math.max(0, span.start - NEAR);
    const end = Math.min(text.length, span.end + NEAR);
    const last = out.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

function literalSpans(text: string, literal: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) {
    spans.push({ start: at, end: at + literal.length });
  }
  return spans;
}

function compile(rule: Pick<Rule, "type" | "pattern" | "flags">): RE2JS {
  const { RE2JS } = expressions();
  let flags = 0;
  if (rule.flags.includes("i")) flags |= RE2JS.CASE_INSENSITIVE;
  if (rule.flags.includes("m")) flags |= RE2JS.MULTILINE;
  if (rule.flags.includes("s")) flags |= RE2JS.DOTALL;
  if (rule.type === "literal") return RE2JS.compile(RE2JS.quote(rule.pattern), flags);
  const source = rule.type === "glob" ? globSource(rule.pattern, (text) => RE2JS.quote(text)) : rule.pattern;
  return RE2JS.compile(source, flags);
}

/** `*` any run without blanks (at most 512), `?` one character, the rest as written. */
function globSource(glob: string, quote: (text: string) => string): string {
  return [...glob].map((char) => (char === "*" ? "\\S{0,512}" : char === "?" ? "\\S" : quote(char))).join("");
}
