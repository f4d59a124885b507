/** From rows to what the scanner runs: expressions, keywords and which keyword starts which expression. */
import { ASSIGNMENT, VALUE_END } from "./assign.ts";
import type { Candidate, Verdict } from "./candidate.ts";
import { CHECKS } from "./checks.ts";
import {
  type Anchor,
  classSource,
  headOf,
  literalSource,
  pickLongest,
  readShape,
  tailOf,
  takes,
  toAnchors,
  toSource,
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
  identifier: (() => RegExp) | undefined;
}

const SEPARATOR = "[_.\\-]?";

/** What every thread that scans needs at once; expressions, of which a scan tries few, are made when they are asked for. */
export function compileRow(row: Row): Matcher {
  const { parts, marked } = readShape(row.shape);
  const bindings = toBindings(row, parts);
  const expression = once(() => toExpression(row, parts, marked));
  const tail = once(() => (row.kind === "token" ? compileTail(row, parts) : undefined));
  // Token: a dash in front belongs to the run in front, since the value may hold dashes itself.
  const dashed = once(() => row.kind === "token" && takes(parts, "-"));
  return {
    row,
    marked,
    bindings,
    keywords: [...new Set(bindings.map((binding) => binding.keyword))],
    check: row.check && CHECKS[row.check],
    longest: marked ? Number.POSITIVE_INFINITY : pickLongest(parts),
    head: (value: string) => headOf(parts, value),
    get expression() {
      return expression();
    },
    get pattern() {
      return toPattern(row, toSource(parts, row.insensitive), marked);
    },
    get tail() {
      return tail();
    },
    get dashed() {
      return dashed();
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function toExpression(row: Row, parts: readonly Part[], marked: boolean): RegExp {
  const source = toSource(parts, row.insensitive) + (row.kind === "assignment" ? VALUE_END : "");
  const sticky = row.kind === "token" || row.kind === "assignment" ? "y" : "g";
  return new RegExp(source, marked ? `d${sticky}` : sticky);
}

function toPattern(row: Row, source: string, marked: boolean): string {
  if (row.kind === "file") return (row.files ?? []).join("|");
  if (row.kind !== "assignment") return source;
  const names = (row.names ?? []).map((name) => identifierSource(name, row.nameCase !== undefined));
  return `(?:${names.join("|")})${ASSIGNMENT}${marked ? source : `(${source})`}${VALUE_END}`;
}

function toBindings(row: Row, parts: readonly Part[]): Binding[] {
  if (row.kind === "assignment") return assignmentBindings(row);
  return row.kind === "token" ? tokenBindings(row, parts) : nearBindings(row);
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
    known = new Uint8Array(65_536);
    every ??= Buffer.from(Uint16Array.from({ length: 65_536 }, (_, code) => code).buffer).toString("utf16le");
    for (const { index, 0: run } of every.matchAll(new RegExp(`${source}+`, "g")))
      known.fill(1, index, index + run.length);
    members.set(source, known);
  }
  return known;
}

/** Every UTF-16 unit, in order. */
let every: string | undefined;

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

function assignmentBindings(row: Row): Binding[] {
  return (row.names ?? []).flatMap((name) => {
    const simple = !name.includes("_") && !row.nameCase;
    const identifier = simple
      ? undefined
      : once(() => new RegExp(identifierSource(name, row.nameCase !== undefined), "y"));
    return leads(name).map((keyword) => ({ keyword, back: 0, exact: undefined, head: "", run: undefined, identifier }));
  });
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
