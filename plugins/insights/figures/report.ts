/** The table of usage: tokens and cost by time, session, model, project, tool or kind of session. */
import { emptyUsage, type SessionUsage, type TokenUsage, type UsageEvidence } from "sessarc";
import { modelName } from "../prices/names.ts";
import type { Cost } from "../prices/pricing.ts";
import { type DayRange, dayName, inRange, monthName, weekName, type Zone } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import { type CubeSession, nameOf } from "./cube-session.ts";
import { readDays, sessionsNear } from "./days.ts";
import { type ModelUsage, modelsOf } from "./models.ts";
import { addEvidence, FIELDS, noEvidence } from "./rollup.ts";
import { at, inSlices, type Prices, Tally, totalOf } from "./tally.ts";

export const GROUPS = ["day", "week", "month", "session", "model", "project", "tool", "kind"] as const;
export type Group = (typeof GROUPS)[number];

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
  by: Group;
  tz: string;
  /** Local days, both included; null is open. */
  range: { from: string | null; to: string | null };
  /** Time going on; else the dearest first. */
  rows: UsageRow[];
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

const DAY_KEYS = { day: dayName, week: weekName, month: monthName };

/** A row while it is added up. */
interface Sum {
  tally: Tally;
  label: string | null;
  /** Tokens of models whose price never changes, by number of the model: plain sums, in the order of `FIELDS`. */
  steady: (Float64Array | undefined)[];
}

/** The report over `sessions`. Linear in their quarter-hours: about 20 ns each. */
export async function report(
  by: Group,
  sessions: readonly CubeSession[],
  zone: Zone,
  range: DayRange,
  projectNames: ReadonlyMap<string, string>,
  prices: Prices,
): Promise<UsageReport> {
  const rows = new Map<string, Sum>();
  const totals = new Tally(prices);
  const evidence = noEvidence();
  const dayKey = by === "day" || by === "week" || by === "month" ? DAY_KEYS[by] : undefined;
  const row = (key: string, label: string | null = null): Sum =>
    at(rows, key, () => ({ tally: new Tally(prices), label, steady: [] }));
  const rowOf = (session: CubeSession): Sum => {
    if (by === "session") return row(session.id, session.label);
    if (by === "project") return row(session.project, projectNames.get(session.project) ?? null);
    return row(by === "kind" ? session.kind : session.tool);
  };
  const days = new Map<number, Sum>();
  const onDay = dayKey && ((day: number) => at(days, day, () => row(dayKey(day))));
  const models: { isSteady: boolean; row: Sum | undefined }[] = [];
  const modelOf = (number: number) => {
    const name = nameOf(number);
    const isSteady = prices.keyAt(name, 0) === name;
    const model = { isSteady, row: by === "model" ? row(modelName(name)) : undefined };
    models[number] = model;
    return model;
  };
  const isAll = range.from === null && range.to === null;
  const dayOf = (quarter: number) => (isAll && !onDay ? 0 : zone.day(quarter));
  await inSlices(sessions, (session) => {
    let own: Sum | undefined;
    let touched = false;
    const ownOf = () => {
      own ??= rowOf(session);
      return own;
    };
    for (let i = 0; i < session.slots; i++) {
      const day = dayOf(session.quarter(i));
      if (!isAll && !inRange(day, range)) continue;
      touched = true;
      totals.addWork(session.messages(i), session.activeMs(i), session.errors(i));
      if (by !== "model") (onDay?.(day) ?? ownOf()).tally.addSlot(session, i);
    }
    for (let i = 0; i < session.tokenSlots; i++) {
      const day = dayOf(session.tokenQuarter(i));
      if (!isAll && !inRange(day, range)) continue;
      touched = true;
      const number = session.modelAt(i);
      const model = models[number] ?? modelOf(number);
      const sum = model.row ?? onDay?.(day) ?? ownOf();
      sum.tally.addRoot(session.root);
      if (model.isSteady) {
        const sums = sum.steady[number] ?? new Float64Array(FIELDS.length);
        sum.steady[number] = sums;
        session.addTokens(i, sums);
      } else {
        const slot = session.tokens(i);
        totals.addUsage(slot);
        sum.tally.addUsage(slot);
      }
    }
    if (!touched) return;
    totals.addRoot(session.root);
    addEvidence(evidence, session.evidence);
    if (by === "session" && own) settle(own, totals);
  });
  for (const sum of rows.values()) settle(sum, totals);
  return toReport(by, zone, range, prices, { rows, totals, evidence });
}

/** Puts the plain sums into the row, and into the totals. */
function settle({ tally, steady }: Sum, totals: Tally): void {
  steady.forEach((sums, number) => {
    if (!sums) return;
    const tokens = emptyUsage();
    FIELDS.forEach((field, i) => {
      tokens[field] = sums[i] as number;
    });
    const slot = { quarter: 0, model: nameOf(number), tokens };
    tally.addUsage(slot);
    totals.addUsage(slot);
  });
  steady.length = 0;
}

/** Groups whose report is made from the sums of days. */
export const isByDays = (by: Group): by is "day" | "week" | "month" | "tool" => by in DAY_KEYS || by === "tool";

/** The report over all sessions, from the sums of days: its cost grows with the days alone, but for the evidence of a part of them. */
export async function reportOfAll(
  by: "day" | "week" | "month" | "tool",
  { rollup }: Figures,
  zone: Zone,
  range: DayRange,
  prices: Prices,
): Promise<UsageReport> {
  const rows: Rows["rows"] = new Map();
  const totals = new Tally(prices);
  const keyOf = by === "tool" ? undefined : DAY_KEYS[by];
  const keys = new Map<number, string>();
  const keyOn = (day: number, tool: string) => (keyOf ? at(keys, day, () => keyOf(day)) : tool);
  const row = (key: string) => at(rows, key, () => ({ tally: new Tally(prices), label: null })).tally;
  readDays(rollup, zone, range, prices, {
    onSlot(day, tool, messages, activeMs, errors) {
      totals.addWork(messages, activeMs, errors);
      row(keyOn(day, tool)).addWork(messages, activeMs, errors);
    },
    onTokens(day, tool, slot) {
      totals.addUsage(slot);
      row(keyOn(day, tool)).addUsage(slot);
    },
    onSessions(day, tool, before, count) {
      const isNew = before === null || !inRange(before, range);
      if (tool === null) {
        if (isNew) totals.addSessions(count);
        if (keyOf && (isNew || keyOn(before, "") !== keyOn(day, ""))) row(keyOn(day, "")).addSessions(count);
      } else if (!keyOf && isNew) row(tool).addSessions(count);
    },
  });
  const { evidence } = rollup;
  if (range.from === null && range.to === null) return toReport(by, zone, range, prices, { rows, totals, evidence });
  const part = noEvidence();
  await inSlices(sessionsNear(rollup, range), (session) => {
    if (session.isIn(zone, range)) addEvidence(part, session.evidence);
  });
  return toReport(by, zone, range, prices, { rows, totals, evidence: part });
}

function toReport(
  by: Group,
  zone: Zone,
  range: DayRange,
  prices: Prices,
  { rows, totals, evidence }: Rows,
): UsageReport {
  const list = [...rows].map(([key, { tally, label }]): UsageRow => ({ key, label, ...sums(tally, by) }));
  if (by in DAY_KEYS) list.sort((a, b) => (a.key < b.key ? -1 : 1));
  else
    list.sort(
      (a, b) =>
        b.cost.microdollars - a.cost.microdollars || totalOf(b.tokens) - totalOf(a.tokens) || (a.key < b.key ? -1 : 1),
    );
  const total = sums(totals);
  return {
    by,
    tz: zone.name,
    range: { from: range.from === null ? null : dayName(range.from), to: range.to === null ? null : dayName(range.to) },
    rows: list,
    totals: total,
    evidence,
    unpriced: total.cost.unpriced,
    overridden: Object.keys(total.usage)
      .filter((model) => prices.price(model)?.origin === "override")
      .sort(),
  };
}

function sums(tally: Tally, by?: Group): UsageSums {
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
