/** Secrets in events: every string of the tree, with the key or the flag beside it as its name. */
import type { Json, SessionEvent } from "sessarc";
import { type Rule, toMatchers } from "../rules/rules.ts";
import { createPrefilter } from "./prefilter.ts";
import type { Finding, ScanOptions, TextScanner } from "./scan.ts";

/** A string of a tree. `name` is the key or flag that names its value. */
export interface Leaf {
  text: string;
  /** Dotted; a key that is itself a finding is not spelled out. */
  field: string;
  name: string | undefined;
}

export interface EventFinding extends Finding {
  /** `text`, `tool_input.env.TOKEN`; `…#key` when the key itself is the secret. */
  field: string;
}

export interface EventScan {
  findings: EventFinding[];
  partial: boolean;
  scannedBytes: number;
}

/** Fields of an event that are not text of anybody. */
const FIXED = new Set(["seq", "kind", "at", "is_error", "truncated"]);
const NAME_LIMIT = 4_096;
const DEPTH = 100;

export interface LeafScanner {
  scanLeaf(leaf: Leaf, options?: ScanOptions): { findings: Finding[]; partial: boolean; scannedBytes: number };
  scanEvent(event: SessionEvent, options?: ScanOptions): EventScan;
}

export function createLeafScanner(scanner: TextScanner): LeafScanner {
  const namesSecret = createNames(scanner.rules);

  function scanLeaf({ text, name }: Leaf, options?: ScanOptions) {
    const result = scanner.scan(text, options);
    if (name === undefined || text.length > NAME_LIMIT || text.length < 4 || !namesSecret(name)) return result;
    const prefix = `${name}="`;
    const named = scanner.scan(`${prefix}${text}"`, options);
    const within = named.findings.filter(
      (finding) =>
        finding.start >= prefix.length &&
        finding.end <= prefix.length + text.length &&
        !result.findings.some(
          (own) => own.end > finding.start - prefix.length && own.start < finding.end - prefix.length,
        ),
    );
    const moved = within.map((one) => ({ ...one, start: one.start - prefix.length, end: one.end - prefix.length }));
    const findings = [...result.findings, ...moved].sort((a, b) => a.start - b.start);
    return { ...result, partial: result.partial || named.partial, findings };
  }

  function scanEvent(event: SessionEvent, options: ScanOptions = {}): EventScan {
    const deadline = performance.now() + (options.budgetMs ?? Number.POSITIVE_INFINITY);
    const all: EventScan = { findings: [], partial: false, scannedBytes: 0 };
    const hidden = (key: string) => scanner.scan(key).findings.length > 0;
    const tooDeep = () => {
      all.partial = true;
    };
    for (const leaf of listLeaves(event, hidden, tooDeep)) {
      const left = deadline - performance.now();
      if (left <= 0) return { ...all, partial: true };
      const result = scanLeaf(leaf, Number.isFinite(left) ? { ...options, budgetMs: left } : options);
      all.findings.push(...result.findings.map((finding) => ({ ...finding, field: leaf.field })));
      all.partial ||= result.partial;
      all.scannedBytes += result.scannedBytes;
    }
    return all;
  }

  return { scanLeaf, scanEvent };
}

/** Every string of an event, keys included. `hidden` says which keys must not show in `field`; `tooDeep` hears of what is left out. */
export function* listLeaves(
  event: SessionEvent,
  hidden: (key: string) => boolean = () => false,
  tooDeep: () => void = () => {},
): Generator<Leaf> {
  for (const [key, value] of Object.entries(event)) {
    if (FIXED.has(key) || value === undefined) continue;
    // The fields of an event are fixed names: only what stands inside them names anything.
    if (typeof value === "string") yield { text: value, field: key, name: undefined };
    else yield* walk(value, key, undefined, { hidden, tooDeep }, 0);
  }
}

/** Every string of a JSON value, keys included. */
export function* listStrings(value: Json): Generator<Leaf> {
  yield* walk(value, "", undefined, { hidden: () => false, tooDeep: () => {} }, 0);
}

interface Ways {
  hidden: (key: string) => boolean;
  tooDeep: () => void;
}

function* walk(value: Json, field: string, name: string | undefined, ways: Ways, depth: number): Generator<Leaf> {
  if (typeof value === "string") yield { text: value, field, name };
  if (typeof value === "number") yield { text: String(value), field, name };
  if (typeof value !== "object" || value === null) return;
  if (isTooDeep(depth)) {
    ways.tooDeep();
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* walk(item, `${field}.${index}`, flagBefore(value, index) ?? name, ways, depth + 1);
    }
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    yield { text: key, field: `${field}#key`, name: undefined };
    yield* walk(item, `${field}.${ways.hidden(key) ? "•••" : key}`, key, ways, depth + 1);
  }
}

/** `["--api-key", "…"]`: the flag names the value. */
export function flagBefore(list: readonly Json[], index: number): string | undefined {
  const before = list[index - 1];
  return typeof before === "string" && /^--?[a-z]/i.test(before) && before.length < 64 ? before : undefined;
}

export function isTooDeep(depth: number): boolean {
  return depth > DEPTH;
}

export function isFixed(field: string): boolean {
  return FIXED.has(field);
}

/** Whether a key could be the identifier of an assignment rule. */
function createNames(rules: readonly Rule[]): (key: string) => boolean {
  const matchers = rules.flatMap((rule) => toMatchers(rule.id)).filter((matcher) => matcher.row.kind === "assignment");
  const prefilter = createPrefilter([...new Set(matchers.flatMap((matcher) => matcher.keywords))]);
  const known = new Map<string, boolean>();
  return (key) => {
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    let hit = false;
    if (key.length <= 128)
      prefilter.run(key, 0, key.length, 0, () => {
        hit = true;
      });
    if (known.size < 10_000) known.set(key, hit);
    return hit;
  };
}
