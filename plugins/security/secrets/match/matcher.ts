/** From rows to what the scanner runs: expressions, keywords and which keyword starts which expression. */
import { ASSIGNMENT, VALUE_END } from "./assign.ts";
import type { Candidate, Verdict } from "./candidate.ts";
import { CHECKS } from "./checks.ts";
import {
  type Anchor,
  classSource,
  composeShape,
  headOf,
  literalSource,
  pickLongest,
  tailOf,
  takes,
  toAnchors,
} from "./compose.ts";
import type { Row } from "./row.ts";
import type { Part } from "./shape.ts";

/** One row, compiled. Compiled once per process and shared by all scanners: expressions keep no state between calls. */
export interface Matcher {
  row: Row;
  /** Sticky, except for `near` and `sweep`. For assignments it matches at the value. */
  expression: RegExp;
  /** The secret is a group of the match. */
  marked: boolean;
  /** For listing: the whole expression, identifier and operator included. */
  pattern: string;
  keywords: string[];
  bindings: Binding[];
  /** A longer run than the row says belongs to the value too. */
  tail: { expression: RegExp; confidence: Row["confidence"] } | undefined;
  check: ((candidate: Candidate) => Verdict) | undefined;
  head(value: string): string;
  /** Token: a dash in front belongs to the run in front, since the value may hold dashes itself. */
  dashed: boolean;
  /** Assignment without blanks in its value: the value is not longer. */
  longest: number;
}

/** How a keyword leads to a match. */
export interface Binding {
  keyword: string;
  /** Token: characters from the start of the match to the keyword. */
  back: number;
  /** Token: the literal as written, when case matters. */
  exact: string | undefined;
  /** Token: the literal a match begins with, when that alone says what follows; else empty. */
  head: string;
  /** Token: the run before the keyword, walked backwards. */
  run: { chars: Uint8Array; min: number; max: number } | undefined;
  /** Assignment: matches the identifier at the keyword. Undefined when the keyword is the identifier. */
  identifier: RegExp | undefined;
}

const SEPARATOR = "[_.\\-]?";

export function compileRow(row: Row): Matcher {
  const shape = composeShape(row.shape, row.insensitive);
  const base = {
    row,
    marked: shape.marked,
    check: row.check && CHECKS[row.check],
    head: (value: string) => headOf(shape.parts, value),
    tail: undefined,
    dashed: row.kind === "token" && takes(shape.parts, "-"),
    longest: shape.marked ? Number.POSITIVE_INFINITY : pickLongest(shape.parts),
  };
  if (row.kind === "assignment") return { ...base, ...assignment(row, shape.source, shape.marked) };
  const bindings = row.kind === "token" ? tokenBindings(row, shape.parts) : nearBindings(row);
  const sticky = row.kind === "token" ? "y" : "g";
  return {
    ...base,
    expression: new RegExp(shape.source, shape.marked ? `d${sticky}` : sticky),
    pattern: row.kind === "file" ? (row.files ?? []).join("|") : shape.source,
    keywords: [...new Set(bindings.map((binding) => binding.keyword))],
    bindings,
    tail: row.kind === "token" ? compileTail(row, shape.parts) : undefined,
  };
}

/**
 * A value longer than the row says is taken whole when its head is certain, or its length open. A fixed length that is
 * exceeded makes the finding a possible one.
 */
function compileTail(row: Row, parts: readonly Part[]): Matcher["tail"] {
  const tail = tailOf(parts);
  if (!tail || (row.confidence !== "definite" && !tail.open)) return undefined;
  return { expression: new RegExp(`${tail.source}{1,8192}`, "y"), confidence: tail.open ? row.confidence : "possible" };
}

/** Shorter heads, and those that end with a dash, also stand inside of ordinary words. */
const HEAD = /^.{3,}[^-]$/s;

function tokenBindings(row: Row, parts: readonly Part[]): Binding[] {
  return toAnchors(parts).map((anchor: Anchor) => ({
    keyword: anchor.text.toLowerCase(),
    back: anchor.back,
    exact: row.insensitive ? undefined : anchor.text,
    head:
      row.confidence === "definite" && !row.insensitive && anchor.back === 0 && !anchor.run && HEAD.test(anchor.text)
        ? anchor.text
        : "",
    run: anchor.run && {
      chars: toMembers(classSource(anchor.run.chars, false, row.insensitive)),
      min: anchor.run.min,
      max: anchor.run.max,
    },
    identifier: undefined,
  }));
}

/** Rows share them. */
const members = new Map<string, Uint8Array>();

function toMembers(source: string): Uint8Array {
  let known = members.get(source);
  if (!known) {
    const test = new RegExp(source);
    known = Uint8Array.from({ length: 65_536 }, (_, code) => Number(test.test(String.fromCharCode(code))));
    members.set(source, known);
  }
  return known;
}

function nearBindings(row: Row): Binding[] {
  const words = row.near?.words ?? [];
  return words.map((word) => ({
    keyword: word,
    back: 0,
    exact: undefined,
    head: "",
    run: undefined,
    identifier: undefined,
  }));
}

function assignment(row: Row, value: string, marked: boolean) {
  const names = row.names ?? [];
  const sources = names.map((name) => identifierSource(name, row.nameCase !== undefined));
  const bindings = names.flatMap((name) => {
    const simple = !name.includes("_") && !row.nameCase;
    const identifier = simple ? undefined : new RegExp(identifierSource(name, row.nameCase !== undefined), "y");
    return leads(name).map((keyword) => ({ keyword, back: 0, exact: undefined, head: "", run: undefined, identifier }));
  });
  return {
    expression: new RegExp(value + VALUE_END, marked ? "dy" : "y"),
    pattern: `(?:${sources.join("|")})${ASSIGNMENT}${marked ? value : `(${value})`}${VALUE_END}`,
    keywords: [...new Set(bindings.map((binding) => binding.keyword))],
    bindings,
  };
}

function identifierSource(name: string, exactCase: boolean): string {
  const cases = exactCase ? spellings(name) : [name];
  return cases
    .map((one) =>
      one
        .split("_")
        .map((word) => literalSource(word, !exactCase))
        .join(SEPARATOR),
    )
    .map((one) => `(?:${one})`)
    .join("|");
}

function spellings(name: string): string[] {
  const lower = name.toLowerCase();
  return [lower, lower.charAt(0).toUpperCase() + lower.slice(1), lower.toUpperCase()];
}

/** Keywords that begin an identifier: its first two words in every way of joining them. */
function leads(name: string): string[] {
  const [first = "", second] = name.toLowerCase().split("_").filter(Boolean);
  return second === undefined ? [first] : ["", "_", "-", "."].map((separator) => first + separator + second);
}
