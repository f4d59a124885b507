/** The table of usage: tokens and cost by time, session, model, project, tool or kind of session. */
import type { SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import { modelName } from "../prices/names.ts";
import type { Cost } from "../prices/pricing.ts";
import { type DayRange, dayName, inRange, monthName, weekName, type Zone } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import type { CubeSession } from "./cube-session.ts";
import { readDays, sessionsNear } from "./days.ts";
import { type ModelUsage, modelsOf } from "./models.ts";
import { addEvidence, noEvidence } from "./rollup.ts";
import { at, inSlices, type Prices, Tally, totalOf, visit } from "./tally.ts";

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

/** The report over `sessions`. Linear in their quarter-hours. */
export async function report(
  by: Group,
  sessions: readonly CubeSession[],
  zone: Zone,
  range: DayRange,
  projectNames: ReadonlyMap<string, string>,
  prices: Prices,
): Promise<UsageReport> {
  const found: Rows = { rows: new Map(), totals: new Tally(prices), evidence: noEvidence() };
  const { rows, totals, evidence } = found;
  const byDay = by === "day" || by === "week" || by === "month" ? DAY_KEYS[by] : undefined;
  const dayKeys = new Map<number, string>();
  const modelKeys = new Map<string, string>();
  const row = (key: string, label: string | null = null) =>
    at(rows, key, () => ({ tally: new Tally(prices), label })).tally;
  await inSlices(sessions, (session) => {
    const rowOf =
      by === "session"
        ? () => row(session.id, session.label)
        : by === "project"
          ? () => row(session.project, projectNames.get(session.project) ?? null)
          : by === "tool"
            ? () => row(session.tool)
            : by === "kind"
              ? () => row(session.kind)
              : undefined;
    const onDay = byDay && ((day: number) => row(at(dayKeys, day, () => byDay(day))));
    const touched = visit(
      session,
      zone,
      range,
      (i, day) => {
        totals.addSlot(session, i);
        (rowOf?.() ?? onDay?.(day))?.addSlot(session, i);
      },
      (slot, day) => {
        totals.addTokens(session, slot);
        (rowOf?.() ?? onDay?.(day) ?? row(at(modelKeys, slot.model, () => modelName(slot.model)))).addTokens(
          session,
          slot,
        );
      },
    );
    if (touched) addEvidence(evidence, session.evidence);
  });
  return toReport(by, zone, range, prices, found);
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
