/** Scans one text: keywords first, then only the expressions they lead to. */

import { computeEntropy } from "../match/checks.ts";
import { type CustomMatcher, compileCustom } from "../rules/custom.ts";
import { type Confidence, type Rule, rulesVersion, toMatchers } from "../rules/rules.ts";
import { plainReading, type Reading, stripAnsi, TooMuch, unescapeJson } from "./decode.ts";
import { DECODE_LIMIT, decodeRuns, loosen } from "./encoded.ts";
import { createHits, type Hits } from "./hits.ts";
import { type Match, resolveOverlaps, subtract } from "./resolve.ts";

export interface Finding {
  ruleId: string;
  rule: string;
  confidence: Confidence;
  /** Offsets in the scanned text, UTF-16 units, end exclusive. */
  start: number;
  end: number;
  /** The value itself: never leaves the process, never stored. */
  secret: string;
  /** For showing: a literal head the rule knows, then dots. No character and no length of the secret. */
  masked: string;
  category: "secret" | "personal";
}

export interface ScanOptions {
  /** Stop after so many milliseconds; the answer then says `partial`. */
  budgetMs?: number;
  /** Name of the file the text came from, where known: some rules hold for some files only. */
  path?: string;
  /** Also what is encoded: base64, hexadecimal, escapes, pieces; by the rules that are sure. */
  forms?: boolean;
  /** Encoded characters undone in one text at most; past it the answer says `partial`. Default 4 MB. */
  decodeLimit?: number;
}

export interface ScanResult {
  findings: Finding[];
  /** True when a budget ended the scan, or a rule was left: what follows `scannedBytes` was not checked, or not by all rules. */
  partial: boolean;
  /** UTF-8 bytes of text that were checked. */
  scannedBytes: number;
}

export interface TextScanner {
  scan(text: string, options?: ScanOptions): ScanResult;
  readonly version: string;
  readonly rules: readonly Rule[];
}

export interface ScannerOptions {
  /** Default: both. `["secret"]` leaves personal data alone. */
  categories?: readonly ("secret" | "personal")[];
}

const MASK = "••••••";
/** Encodings inside of encodings that are undone. */
const FORMS_DEPTH = 2;

/** Disabled rules are left out. A custom pattern that does not compile throws: see `patternProblem`. Cost: a few ms. */
export function createTextScanner(rules: readonly Rule[], options: ScannerOptions = {}): TextScanner {
  const categories = options.categories ?? ["secret", "personal"];
  const active = rules.filter((rule) => rule.enabled && (rule.kind === "allow" || categories.includes(rule.category)));
  const builtin = active.filter((rule) => rule.kind === "redact" && toMatchers(rule.id).length > 0);
  const hits = createHits(builtin.flatMap((rule) => toMatchers(rule.id)));
  /** For `forms`, which few scans ask for. */
  let sureHits: Hits | undefined;
  const sure = () => {
    sureHits ??= createHits(
      builtin
        .flatMap((rule) => toMatchers(rule.id))
        .filter(({ row }) => row.confidence === "definite" && row.kind === "token"),
    );
    return sureHits;
  };
  const custom = active.filter((rule) => !builtin.includes(rule)).map(compileCustom);
  const redact = custom.filter(({ rule }) => rule.kind === "redact");
  const allow = custom.filter(({ rule }) => rule.kind === "allow");

  /** The sure rules over what a reading says in other spellings, two levels deep. False when not all of it was checked. */
  function findForms(reading: Reading, limit: number, expired: () => boolean, out: Match[]): boolean {
    let left = limit;
    let complete = true;
    const spend = (cost: number) => {
      left -= cost;
      complete &&= left >= 0 && !expired();
      return complete;
    };
    const look = (from: Reading, depth: number, found: Match[]): void => {
      if (!spend(0)) return;
      const loose = depth < FORMS_DEPTH ? loosen(from, expired) : undefined;
      if (loose) complete &&= sure().find(loose, undefined, expired, found) === loose.text.length;
      const base = loose ?? from;
      for (const piece of decodeRuns(base.text, limit, spend)) {
        const inner: Match[] = [];
        const plain = plainReading(piece.text);
        complete &&= (piece.dump ? hits : sure()).find(plain, undefined, expired, inner) === piece.text.length;
        if (depth + 1 < FORMS_DEPTH) look(plain, depth + 1, inner);
        // The whole stretch is the value: a part of it decodes to nothing anybody could use to hide it.
        for (const match of inner.filter(({ confidence }) => piece.dump || confidence === "definite").slice(0, 1))
          (piece.dump ? dumped : found).push({
            ...match,
            head: "",
            start: base.origin(piece.start),
            end: base.origin(piece.end),
          });
      }
    };
    const found: Match[] = [];
    const dumped: Match[] = [];
    complete = within(() => look(reading, 0, found)) && complete;
    out.push(...found.filter(({ confidence }) => confidence === "definite"), ...dumped);
    return complete;
  }

  function scan(text: string, options: ScanOptions = {}): ScanResult {
    const { budgetMs, path, forms = false, decodeLimit = DECODE_LIMIT } = options;
    const deadline = budgetMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + budgetMs;
    const expired = () => deadline !== Number.POSITIVE_INFINITY && performance.now() > deadline;
    const matches: Match[] = [];
    const allowed: Match[] = [];
    let reached = text.length;
    // The text without colours, then the lines that hold JSON escapes with one and with two levels undone.
    let reading: Reading | undefined = plainReading(text);
    if (!within(() => (reading = stripAnsi(plainReading(text), expired)))) reached = 0;
    for (let level = 0; reading; level++) {
      const end = hits.find(reading, path, expired, matches);
      const complete = findCustom(redact, reading, expired, matches);
      if (!complete || end < reading.text.length)
        reached = level > 0 ? 0 : Math.min(reached, complete ? reading.origin(end) : 0);
      if (forms && !findForms(reading, decodeLimit, expired, matches)) reached = 0;
      // What is allowed must be known even when time is up: fewer allowed spans only hide more.
      if (matches.length > 0) findCustom(allow, reading, expired, allowed);
      const from: Reading = reading;
      reading = undefined;
      const go = () => {
        const inner = unescapeJson(from, expired);
        reading = inner && stripAnsi(inner, expired);
      };
      if (level < 2 && from.text.includes("\\") && (expired() || !within(go))) reached = 0;
    }
    if (matches.length === 0)
      return { findings: [], partial: reached < text.length, scannedBytes: toBytes(text, reached) };
    const found = resolveOverlaps(matches.flatMap((match) => subtract(match, allowed)));
    return {
      findings: found.map((match) => toFinding(text, match)),
      partial: reached < text.length,
      scannedBytes: toBytes(text, reached),
    };
  }

  let version: string | undefined;
  return {
    scan,
    rules: active,
    get version() {
      version ??= rulesVersion(active);
      return version;
    },
  };
}

/** False: there was too much to do. An expression that runs along megabytes may have no stack left for them. */
function within(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof TooMuch || error instanceof RangeError) return false;
    throw error;
  }
}

function toBytes(text: string, reached: number): number {
  return Buffer.byteLength(reached < text.length ? text.slice(0, reached) : text);
}

function findCustom(
  matchers: readonly CustomMatcher[],
  reading: Reading,
  expired: () => boolean,
  out: Match[],
): boolean {
  let complete = true;
  for (const { rule, find } of matchers) {
    const found = find(reading.text, expired);
    complete &&= found.complete;
    for (const span of found.spans) {
      if (rule.entropy !== null && computeEntropy(reading.text.slice(span.start, span.end)) <= rule.entropy) continue;
      const place = { start: reading.origin(span.start), end: reading.origin(span.end) };
      out.push({
        ruleId: rule.id,
        rule: rule.name,
        confidence: rule.confidence,
        category: rule.category,
        head: "",
        ...place,
      });
    }
  }
  return complete;
}

function toFinding(text: string, { head, ...match }: Match): Finding {
  return { ...match, secret: text.slice(match.start, match.end), masked: head + MASK };
}
