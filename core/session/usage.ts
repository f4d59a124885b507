/** Token bookkeeping: the ledger counts each paid reply once, however often a log repeats it. */
import { hash53 } from "../utils/hash.ts";
import { classed, findPriceClass, type PriceFacts } from "./price-class.ts";
import type { SessionUsage, TokenUsage, UsageEntry, UsageEvidence } from "./session.ts";

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** Tokens that no reply has; from some millions of millions on sums would no longer be exact. */
const TOO_MANY = 1e12;

/** Figures as logs have them, each read by `toCount`. `reasoning`: what a log counts beside the output; it is added to that. */
export type LooseUsage = { [F in keyof TokenUsage | "reasoning"]?: unknown };

/** No tokens of any kind. */
export function emptyUsage(): TokenUsage {
  return { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
}

/**
 * A count from a log: an integer, also of a numeric string; 0 when it is missing or no number. NaN when it is negative, infinite, or a million millions
 * and more: the ledger counts that as 0 and reports it. What is computed of several counts leaves such a one out (`possible`), so that it costs no other.
 */
export function toCount(value: unknown): number {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number !== "number" || (typeof value === "string" && Number.isNaN(number))) return 0;
  return number >= 0 && number < TOO_MANY ? Math.trunc(number) : Number.NaN;
}

/** For sums and differences: 0 for a count that cannot be. */
export const possible = (count: number): number => count || 0;

const isPossible = (usage: LooseUsage): boolean =>
  !Number.isNaN(toCount(usage.input)) &&
  !Number.isNaN(toCount(usage.output)) &&
  !Number.isNaN(toCount(usage.reasoning)) &&
  !Number.isNaN(toCount(usage.cacheRead)) &&
  !Number.isNaN(toCount(usage.cacheWrite5m)) &&
  !Number.isNaN(toCount(usage.cacheWrite1h));

/** Adds `tokens` to `usage[model]`; an impossible count adds nothing. */
export function addUsage(usage: SessionUsage, model: string, tokens: LooseUsage): void {
  addTokens(usage, model, toTokens(tokens));
}

function addUp(usage: SessionUsage, model: string): TokenUsage {
  // A hostile log may name its model so; writing to it would change every object.
  const name = model === "__proto__" ? "unknown" : model;
  const known = Object.hasOwn(usage, name) ? usage[name] : undefined;
  if (known) return known;
  const sum = emptyUsage();
  usage[name] = sum;
  return sum;
}

function addTokens(usage: SessionUsage, model: string, tokens: TokenUsage): void {
  const sum = addUp(usage, model);
  sum.input += tokens.input;
  sum.output += tokens.output;
  sum.cacheWrite5m += tokens.cacheWrite5m;
  sum.cacheWrite1h += tokens.cacheWrite1h;
  sum.cacheRead += tokens.cacheRead;
}

/** Adds the tokens of `from` to those of `into`, model by model. Changes `into`. */
export function mergeUsage(into: SessionUsage, from: SessionUsage): void {
  for (const [model, tokens] of Object.entries(from)) addUsage(into, model, tokens);
}

/** The UTC quarter-hour of an ISO time: `2026-11-20T20:15`. Empty when it is no time. */
export function toSlot(iso: string): string {
  const utc = iso.endsWith("Z") && iso.length >= 20 ? iso : toUtc(iso);
  return utc && `${utc.slice(0, 14)}${String(Math.floor(Number(utc.slice(14, 16)) / 15) * 15).padStart(2, "0")}`;
}

function toUtc(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

/** Names a reply in every log that repeats it. With the model: what another model answered is not a copy, whatever its ids are. */
export const replyHash = (tool: string, { key, model, of = tool }: Pick<UsageEntry, "key" | "model" | "of">): number =>
  hash53(`${of}\0${key}\0${model}`);

export interface LedgerEntry {
  /** Identity of the reply; absent: this record is a reply of its own. */
  key?: string | undefined;
  at?: string | undefined;
  model: string;
  usage: LooseUsage;
  inherited?: boolean | undefined;
  /** What the price depends on beside model and time: speed or service tier, and whether the tokens are those of one model call. */
  price?: PriceFacts | undefined;
}

/** What a ledger counted: members of a session's summary. Counts are tokens; slots are UTC quarter-hours. */
export interface LedgerSummary {
  usage: SessionUsage;
  inheritedUsage?: SessionUsage;
  slots: Record<string, SessionUsage>;
  /** Tokens of `usage` (key "") and `slots` with another than the standard price. */
  classes?: Record<string, SessionUsage>;
  replies: UsageEntry[];
  evidence: UsageEvidence;
}

/** Counts the tokens of one session, each reply once (`createLedger`). */
export interface Ledger {
  /**
   * Counts a usage record. Of several with one key the largest output wins; model and time are the first one's. A count that is impossible is 0, and the
   * record is counted in `evidence.impossible`. O(1).
   */
  add(entry: LedgerEntry): void;
  /** Sums so far, and all replies. */
  summary(): LedgerSummary;
}

/** Starts empty. Memory grows with the replies. */
export function createLedger(): Ledger {
  const entries: UsageEntry[] = [];
  const byKey = new Map<string, UsageEntry>();
  const evidence: UsageEvidence = { records: 0, requests: 0, duplicatesFolded: 0, inheritedExcluded: 0 };

  const sums = () => {
    const usage: SessionUsage = {};
    const inherited: SessionUsage = {};
    const slots: Record<string, SessionUsage> = {};
    const classes: Record<string, SessionUsage> = {};
    for (const entry of entries) {
      addTokens(entry.inherited ? inherited : usage, entry.model, entry.usage);
      const slot = entry.at && !entry.inherited ? toSlot(entry.at) : "";
      if (entry.priceClass !== undefined && !entry.inherited)
        for (const name of slot ? ["", slot] : [""]) {
          classes[name] ??= {};
          addTokens(classes[name], classed(entry.model, entry.priceClass), entry.usage);
        }
      if (!slot) continue;
      slots[slot] ??= {};
      addTokens(slots[slot], entry.model, entry.usage);
    }
    return { usage, inherited, slots, ...(Object.keys(classes).length > 0 && { classes }) };
  };

  return {
    add({ key, at, model, usage, inherited, price }) {
      evidence.records++;
      if (!isPossible(usage)) evidence.impossible = (evidence.impossible ?? 0) + 1;
      const first = key === undefined ? undefined : byKey.get(key);
      if (first) {
        evidence.duplicatesFolded++;
        const tokens = toTokens(usage);
        if (!isLarger(tokens, first.usage)) return;
        first.usage = tokens;
        setClass(first, price);
        return;
      }
      const entry: UsageEntry = { key, at, model, usage: toTokens(usage) };
      setClass(entry, price);
      if (inherited) {
        entry.inherited = true;
        evidence.inheritedExcluded++;
      } else evidence.requests++;
      entries.push(entry);
      if (key !== undefined) byKey.set(key, entry);
    },
    summary() {
      const { usage, inherited, slots, classes } = sums();
      const replies = entries.map((entry) => ({ ...entry, usage: { ...entry.usage } }));
      const summary: LedgerSummary = { usage, slots, replies, evidence: { ...evidence } };
      if (classes) summary.classes = classes;
      if (Object.keys(inherited).length > 0) summary.inheritedUsage = inherited;
      return summary;
    },
  };
}

function setClass(entry: UsageEntry, price: PriceFacts | undefined): void {
  const priceClass = price && findPriceClass(price, entry.usage);
  if (priceClass === undefined) delete entry.priceClass;
  else entry.priceClass = priceClass;
}

/** What counts of a record: 0 for what is missing or cannot be. */
export function toTokens(usage: LooseUsage): TokenUsage {
  return {
    input: possible(toCount(usage.input)),
    output: possible(toCount(usage.output)) + possible(toCount(usage.reasoning)),
    cacheWrite5m: possible(toCount(usage.cacheWrite5m)),
    cacheWrite1h: possible(toCount(usage.cacheWrite1h)),
    cacheRead: possible(toCount(usage.cacheRead)),
  };
}

const computeTotal = (usage: TokenUsage) => FIELDS.reduce((sum, field) => sum + usage[field], 0);

function isLarger(a: TokenUsage, b: TokenUsage): boolean {
  return a.output > b.output || (a.output === b.output && computeTotal(a) > computeTotal(b));
}
