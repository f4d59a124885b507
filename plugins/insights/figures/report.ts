/** The table of usage: tokens and cost by time, model, project, tool or kind of session. */
import { type Database, mustYield, type SessionUsage, type TokenUsage, type UsageEvidence, yieldNow } from "sessarc";
import { plainModel } from "sessarc/adapter";
import { modelName } from "../prices/names.ts";
import type { Cost, Prices } from "../prices/pricing.ts";
import { type DayRange, dayName, monthName, weekName, type Zone } from "./buckets.ts";
import { type ModelUsage, toModels } from "./models.ts";
import {
  type Asked,
  findLabels,
  type Key,
  readEvidence,
  readTokens,
  readWork,
  rootsByModel,
  tokensBySession,
  type WorkRow,
} from "./questions.ts";
import type { Scope } from "./sql.ts";
import { at, computeTotal, Tally } from "./tally.ts";

export const GROUPS = [
  "day",
  "week",
  "month",
  "session",
  "model",
  "project",
  "tool",
  "kind",
  "branch",
  "worktree",
] as const;
export type By = (typeof GROUPS)[number];

export interface UsageSums {
  /** Sub-agents count with the session that started them. */
  sessions: number;
  /** Null for a model: a message belongs to none. */
  messages: number | null;
  activeMs: number | null;
  usage: SessionUsage;
  /** All models in one. */
  tokens: TokenUsage;
  cost: Cost;
  models: ModelUsage[];
}
export interface UsageRow extends UsageSums {
  /**
   * Day, Monday of a week, month, id of a session or project, tool, kind of session, name of a model (`models[].model`), a branch as
   * `<id of its project>:<name>`, or the path of a work tree. Of a branch or work tree that no log names the name is empty.
   */
  key: string;
  /** Name to show, where the key is none. */
  label: string | null;
}
export interface UsageReport {
  by: By;
  tz: string;
  /** Local days, both included; null is open. */
  range: { from: string | null; to: string | null };
  /** Time going on; else the dearest first. */
  rows: UsageRow[];
  /** How many rows there are; with `limit` not all of them are in `rows`. */
  rowCount: number;
  totals: UsageSums;
  /** Of all sessions with something in the range. */
  evidence: UsageEvidence;
  /** Models with tokens and without a price. */
  unpriced: string[];
  /** Models whose price is the user's own. */
  overridden: string[];
}

/** What a report adds up: rows by key, and everything together. */
export interface Sums {
  rows: Map<string, Tally>;
  totals: Tally;
  /** Of all sessions with something in the range. */
  evidence: UsageEvidence;
  /** How many rows there are, where `rows` has the first of them only. */
  rowCount?: number;
}

const DAY_KEYS = { day: dayName, week: weekName, month: monthName };
type Time = keyof typeof DAY_KEYS;
export const isByTime = (by: By): by is Time => by in DAY_KEYS;

/** Key of the row in which something of a local day counts. */
export const keyOn = (by: Time, day: number): string => DAY_KEYS[by](day);

/** What keys of questions become rows. */
function toKeys(
  by: Exclude<By, "session">,
  names: Names,
): {
  key: Key;
  work: (row: WorkRow) => string;
  tokens: (key: string | number) => string;
} {
  if (isByTime(by)) {
    const names = new Map<number, string>();
    const name = (day: number) => at(names, day, () => keyOn(by, day));
    return { key: "day", work: ({ day }) => name(day), tokens: (day) => name(Number(day)) };
  }
  if (by === "model") return { key: "model", work: () => "", tokens: (model) => modelName(plainModel(String(model))) };
  if (by === "worktree") {
    const tree = (cwd: string) => names.get(cwd) ?? cwd;
    return { key: by, work: (row) => tree(row.key), tokens: (cwd) => tree(String(cwd)) };
  }
  return { key: by, work: (row) => row.key, tokens: String };
}

/** Names of projects by id; by work tree: the work tree of each folder. */
type Names = ReadonlyMap<string, string>;

/** The report over the archive. Its questions are asked in one event-loop turn: they see one moment. `limit`: of rows. */
export async function report(db: Database, by: By, asked: Asked, names: Names, limit?: number): Promise<UsageReport> {
  const { prices, scope } = asked;
  const sums = await (by === "session" ? sessionSums(db, asked, limit) : sumsBy(db, by, asked, names));
  const labels = (keys: readonly string[]) => (by === "session" ? findLabels(db, keys) : toLabels(by, keys, names));
  return toReport(by, scope.zone, scope.range, prices, sums, labels, limit);
}

/** Where a log names no branch or folder. */
const NONE = "—";

async function toLabels(by: By, keys: readonly string[], names: Names): Promise<ReadonlyMap<string, string>> {
  if (by === "branch")
    return new Map(
      keys.map((key) => {
        const [project = "", ...branch] = key.split(":");
        return [key, `${names.get(project) ?? project}: ${branch.join(":") || NONE}`];
      }),
    );
  return by === "worktree" ? new Map([["", NONE]]) : names;
}

async function sumsBy(db: Database, by: Exclude<By, "session">, asked: Asked, names: Names): Promise<Sums> {
  const { prices } = asked;
  const { key, work: keyOfWork, tokens: keyOfTokens } = toKeys(by, names);
  const [work, tokens, roots, evidence] = await Promise.all([
    readWork(db, asked, {
      key: key === "none" || key === "day" || key === "model" ? undefined : key,
      byDay: key === "day",
    }),
    readTokens(db, asked, key),
    by === "model" ? rootsByModel(db, asked) : [],
    readEvidence(db, asked),
  ]);
  const rows = new Map<string, Tally>();
  const totals = new Tally(prices);
  const row = (key: string) => at(rows, key, () => new Tally(prices));
  for (const one of work) {
    totals.addWork(one);
    totals.addRoot(one.root);
    if (by === "model") continue;
    const own = row(keyOfWork(one));
    own.addWork(one);
    own.addRoot(one.root);
    if (mustYield()) await yieldNow();
  }
  for (const one of tokens) {
    totals.addTokens(one);
    row(keyOfTokens(one.key)).addTokens(one);
    if (mustYield()) await yieldNow();
  }
  for (const { root, model } of roots) row(modelName(plainModel(model))).addRoot(root);
  return { rows, totals, evidence };
}

/** With `limit` SQL chooses the sessions that have rows: the dearest. */
async function sessionSums(db: Database, asked: Asked, limit?: number): Promise<Sums> {
  const { prices } = asked;
  const [work, tokens, all, evidence] = await Promise.all([
    readWork(db, asked),
    tokensBySession(db, asked, limit),
    readTokens(db, asked, "none"),
    readEvidence(db, asked),
  ]);
  const rows = new Map<string, Tally>();
  const totals = new Tally(prices);
  for (const one of all) totals.addTokens(one);
  for (const one of tokens) {
    at(rows, String(one.key), () => new Tally(prices)).addTokens(one);
    if (mustYield()) await yieldNow();
  }
  // Sessions without tokens come after all others.
  const isFull = limit !== undefined && rows.size >= limit;
  for (const one of work) {
    totals.addWork(one);
    totals.addRoot(one.root);
    const own = isFull ? rows.get(one.session) : at(rows, one.session, () => new Tally(prices));
    own?.addWork(one);
    own?.addRoot(one.session);
    if (mustYield()) await yieldNow();
  }
  return { rows, totals, evidence, rowCount: work.length };
}

/** Puts the rows in order: time going on, else the dearest first. `labels`: names of the rows that are shown. */
export async function toReport(
  by: By,
  zone: Zone,
  range: DayRange,
  prices: Prices,
  { rows, totals, evidence, rowCount = rows.size }: Sums,
  labels: (keys: readonly string[]) => Promise<ReadonlyMap<string, string | null>>,
  limit?: number,
): Promise<UsageReport> {
  const list: { key: string; tally: Tally; microdollars: number; tokens: number }[] = [];
  for (const [key, tally] of rows) {
    list.push({ key, tally, microdollars: tally.cost.microdollars, tokens: computeTotal(tally.tokens) });
    if (mustYield()) await yieldNow();
  }
  if (isByTime(by)) list.sort((a, b) => (a.key < b.key ? -1 : 1));
  else list.sort((a, b) => b.microdollars - a.microdollars || b.tokens - a.tokens || (a.key < b.key ? -1 : 1));
  const shown = limit === undefined ? list : list.slice(0, limit);
  const names = await labels(shown.map(({ key }) => key));
  const total = sums(totals);
  const table: UsageRow[] = [];
  for (const { key, tally } of shown) {
    table.push({ key, label: names.get(key) ?? null, ...sums(tally, by) });
    if (mustYield()) await yieldNow();
  }
  return {
    by,
    ...rangeNames({ zone, range }),
    rows: table,
    rowCount,
    totals: total,
    evidence,
    ...priceNotes(total, prices),
  };
}

/** Zone and days of a report, by name. */
export const rangeNames = ({ zone, range }: Pick<Scope, "zone" | "range">): Pick<UsageReport, "tz" | "range"> => ({
  tz: zone.name,
  range: {
    from: range.from === null ? null : dayName(range.from),
    to: range.to === null ? null : dayName(range.to),
  },
});

/** Characters of JSON in one written chunk. */
const TOGETHER = 1 << 16;

/** The report as JSON, in pieces: there may be a row of each of very many sessions. */
export async function* writeReport({ by, tz, range, rows, ...end }: UsageReport): AsyncGenerator<string> {
  let text = `${JSON.stringify({ by, tz, range }).slice(0, -1)},"rows":[`;
  for (const [i, row] of rows.entries()) {
    text += (i > 0 ? "," : "") + JSON.stringify(row);
    if (text.length < TOGETHER) continue;
    yield text;
    text = "";
    if (mustYield()) await yieldNow();
  }
  yield `${text}],${JSON.stringify(end).slice(1)}`;
}

export function sums(tally: Tally, by?: By): UsageSums {
  return {
    sessions: tally.sessions,
    messages: by === "model" ? null : tally.messages,
    activeMs: by === "model" ? null : tally.activeMs,
    usage: tally.usage,
    tokens: tally.tokens,
    cost: tally.cost,
    models: toModels(tally),
  };
}

/** Models of a total without a price, and those at a price of the user. */
export const priceNotes = ({ cost, usage }: Pick<UsageSums, "cost" | "usage">, prices: Prices) => ({
  unpriced: cost.unpriced,
  overridden: Object.keys(usage)
    .filter((model) => prices.price(model)?.origin === "override")
    .sort(),
});
