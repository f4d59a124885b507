/** The table of usage: tokens and cost by time, model, project, tool or kind of session. */
import type { SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import { modelName } from "../prices/names.ts";
import type { Cost, Prices } from "../prices/pricing.ts";
import { Adder, eachShareIn, type RowsOf } from "./add.ts";
import { type Origin, originAt } from "./block.ts";
import type { Blocks } from "./blocks.ts";
import { type DayRange, dayName, inRange, monthName, weekName, type Zone } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import { type DayReader, readDays } from "./days.ts";
import { type ModelUsage, modelsOf } from "./models.ts";
import { nameOf } from "./names.ts";
import { addEvidence, type GroupChoice, isOf, noEvidence } from "./rollup.ts";
import { PriceKeys, Sum } from "./sums.ts";
import { at, Tally, totalOf } from "./tally.ts";

export const GROUPS = ["day", "week", "month", "session", "model", "project", "tool", "kind"] as const;
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
  /** Day, Monday of a week, month, id of a session or project, tool, kind of session, or name of a model (`models[].model`). */
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

interface Rows {
  rows: Map<string, { tally: Tally; label: string | null }>;
  totals: Tally;
  /** Of all sessions with something in the range. */
  evidence: UsageEvidence;
}

/** The first rows of a report; default all of them. */
export const firstRows = (report: UsageReport, limit: number | undefined): UsageReport =>
  limit === undefined ? report : { ...report, rows: report.rows.slice(0, limit) };

/** Sessions a report is of: `accept` chooses among their origins; default all of them. */
export interface Choice {
  blocks: Blocks;
  accept?: ((origin: Origin) => boolean) | undefined;
}

const DAY_KEYS = { day: dayName, week: weekName, month: monthName };
type Time = keyof typeof DAY_KEYS;
export const isByTime = (by: By): by is Time => by in DAY_KEYS;
const isByOrigin = (by: By): by is keyof Origin => by === "project" || by === "tool" || by === "kind";

/**
 * The report over sessions: some 10 µs for thousands of them that stand together and lie in the range; of others some 100 ns each, as much each
 * quarter-hour of those that an edge of the range cuts, or where days are rows.
 */
export async function report(
  by: Exclude<By, "session">,
  { blocks, accept }: Choice,
  zone: Zone,
  range: DayRange,
  projectNames: ReadonlyMap<string, string>,
  prices: Prices,
): Promise<UsageReport> {
  const keys = new PriceKeys(prices);
  const adder = new Adder(blocks, zone, range, keys);
  const sums = new Map<string, Sum>();
  const row = (key: string) => at(sums, key, () => new Sum());
  const origins: Sum[] = [];
  const models: Sum[] = [];
  const days = new Map<number, Sum>();
  const dayKey = isByTime(by) ? DAY_KEYS[by] : undefined;
  const rowsOf: RowsOf = {
    of: isByOrigin(by)
      ? (origin) => {
          const sum = origins[origin] ?? row(originAt(origin)[by]);
          origins[origin] = sum;
          return sum;
        }
      : undefined,
    ofModel: by === "model" ? (model) => (models[model] ??= row(modelName(nameOf(model)))) : undefined,
    ofDay: dayKey && ((day) => at(days, day, () => row(dayKey(day)))),
  };
  await adder.addAll(accept, rowsOf);
  for (const sum of sums.values()) adder.totals.addTokens(sum);
  const rows = [...sums].map(([key, sum]): [string, { tally: Tally; label: string | null }] => {
    const label = by === "project" ? (projectNames.get(key) ?? null) : null;
    return [key, { tally: keys.tally(sum), label }];
  });
  const totals = keys.tally(adder.totals);
  return toReport(by, zone, range, prices, { rows: new Map(rows), totals, evidence: adder.evidence });
}

/** The report by time over all sessions, or those of a tool or kind, from the sums of days: its cost grows with the days. */
export async function reportOfDays(
  by: Time,
  { rollup, blocks }: Pick<Figures, "rollup" | "blocks">,
  zone: Zone,
  range: DayRange,
  prices: Prices,
  of: GroupChoice = {},
): Promise<UsageReport> {
  const rows: Rows["rows"] = new Map();
  const totals = new Tally(prices);
  const keys = new Map<number, string>();
  const keyOn = (day: number) => at(keys, day, () => DAY_KEYS[by](day));
  const row = (day: number) => at(rows, keyOn(day), () => ({ tally: new Tally(prices), label: null })).tally;
  const use: DayReader = {
    onSlot(day, _, messages, activeMs, errors) {
      totals.addWork(messages, activeMs, errors);
      row(day).addWork(messages, activeMs, errors);
    },
    onTokens(day, _, slot) {
      totals.addUsage(slot);
      row(day).addUsage(slot);
    },
    onSessions(day, tool, before, count) {
      if (tool !== null) return;
      const isNew = before === null || !inRange(before, range);
      if (isNew) totals.addSessions(count);
      if (isNew || keyOn(before) !== keyOn(day)) row(day).addSessions(count);
    },
  };
  readDays(rollup, zone, range, prices, use, of);
  const isAllTime = range.from === null && range.to === null;
  const evidence = isAllTime ? rollup.evidence(of) : noEvidence();
  if (!isAllTime)
    await eachShareIn(
      blocks,
      zone,
      range,
      (_, { block, i }) => block.addEvidence(i, evidence),
      (share) => addEvidence(evidence, share.evidence),
      (origin) => isOf(origin, of),
    );
  return toReport(by, zone, range, prices, { rows, totals, evidence });
}

function toReport(by: By, zone: Zone, range: DayRange, prices: Prices, { rows, totals, evidence }: Rows): UsageReport {
  const list = [...rows].map(([key, { tally, label }]): UsageRow => toRow(by, key, label, tally));
  if (isByTime(by)) list.sort((a, b) => (a.key < b.key ? -1 : 1));
  else
    list.sort(
      (a, b) =>
        b.cost.microdollars - a.cost.microdollars || totalOf(b.tokens) - totalOf(a.tokens) || (a.key < b.key ? -1 : 1),
    );
  return { ...headOf(by, zone, range), rows: list, rowCount: list.length, ...endOf(prices, totals, evidence) };
}

export const toRow = (by: By, key: string, label: string | null, tally: Tally): UsageRow => ({
  key,
  label,
  ...sums(tally, by),
});

/** What stands before the rows. */
export const headOf = (by: By, { name }: Zone, { from, to }: DayRange): Pick<UsageReport, "by" | "tz" | "range"> => ({
  by,
  tz: name,
  range: { from: from === null ? null : dayName(from), to: to === null ? null : dayName(to) },
});

/** What stands behind them. */
export function endOf(
  prices: Prices,
  totals: Tally,
  evidence: UsageEvidence,
): Pick<UsageReport, "totals" | "evidence" | "unpriced" | "overridden"> {
  const total = sums(totals);
  return {
    totals: total,
    evidence,
    unpriced: total.cost.unpriced,
    overridden: Object.keys(total.usage)
      .filter((model) => prices.price(model)?.origin === "override")
      .sort(),
  };
}

function sums(tally: Tally, by?: By): UsageSums {
  return {
    sessions: tally.sessions,
    messages: by === "model" ? null : tally.messages,
    activeMs: by === "model" ? null : tally.activeMs,
    usage: tally.usage,
    tokens: tally.tokens,
    cost: tally.cost,
    models: modelsOf(tally),
  };
}
