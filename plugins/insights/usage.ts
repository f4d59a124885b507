/** GET /usage and GET /prices: tokens and cost by time, session, model, project or tool. */
import { defineRoute, SessarcError, type SessionUsage, type TokenUsage, type UsageEvidence } from "sessarc";
import * as v from "valibot";
import { type DayRange, dayName, monthName, weekName, zoneOf } from "./buckets.ts";
import type { CubeSession } from "./cube.ts";
import type { Cost, ModelPrice, Rates } from "./pricing.ts";
import { day, toRange } from "./range.ts";
import { at, inSlices, Tally, totalOf, visit } from "./tally.ts";

export const GROUPS = ["day", "week", "month", "session", "model", "project", "tool"] as const;
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
}
export interface UsageRow extends UsageSums {
  /** Day, Monday of a week, month, or id of a session, model, project or tool. */
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
}

const usage = defineRoute({
  method: "GET",
  path: "/usage",
  summary: "Tokens and estimated cost by day, week, month, session, model, project or tool",
  query: v.object({
    by: v.optional(v.picklist(GROUPS), "day"),
    from: day,
    to: day,
    /** Zone whose days count; default this machine's. */
    tz: v.optional(v.string()),
    tool: v.optional(v.string()),
    /** Id, name or path. */
    project: v.optional(v.string()),
  }),
  agent: {
    description:
      "Tokens and estimated cost of archived coding-assistant sessions, grouped by day, model, project and so on.",
  },
  handler: async ({ kernel, query }): Promise<UsageReport> => {
    const { cube, answers, pricing } = kernel.inject("insights");
    const zone = zoneOf(query.tz);
    const range = toRange(query.from, query.to);
    const { generation, sessions: all } = await cube.figures();
    return answers.get(JSON.stringify(["usage", query, zone.name]), generation, async () => {
      const named = query.by === "project" || query.project !== undefined;
      const projects = named ? await kernel.inject("archive").store.projects() : [];
      const chosen = query.project === undefined ? undefined : projectIds(projects, query.project);
      const sessions = [...all.values()].filter(
        (session) =>
          (query.tool === undefined || session.tool === query.tool) && (!chosen || chosen.has(session.project)),
      );
      const names = new Map(projects.map((project) => [project.id, project.name]));
      return report(query.by, sessions, zone, range, names, pricing.cost);
    });
  },
});

export interface PriceList {
  pricedAt: string;
  source: string;
  /** Models seen in the archive. */
  models: ModelPrice[];
  unpriced: string[];
  overrides: Readonly<Record<string, Rates>>;
}

const prices = defineRoute({
  method: "GET",
  path: "/prices",
  summary: "Prices of the models seen, in dollars per million tokens",
  handler: async ({ kernel }): Promise<PriceList> => {
    const { cube, pricing } = kernel.inject("insights");
    const seen = new Set<string>();
    for (const session of (await cube.figures()).sessions.values())
      for (const { model } of session.usage) seen.add(model);
    const models = [...seen].sort().flatMap((model) => pricing.price(model) ?? []);
    return {
      pricedAt: pricing.pricedAt,
      source: pricing.source,
      models,
      unpriced: [...seen].filter((model) => !pricing.price(model)).sort(),
      overrides: pricing.overrides,
    };
  },
});

export const usageRoutes = [usage, prices] as const;

/** The report over `sessions`. Linear in their quarter-hours. */
export async function report(
  by: Group,
  sessions: readonly CubeSession[],
  zone: ReturnType<typeof zoneOf>,
  range: DayRange,
  projectNames: ReadonlyMap<string, string>,
  costOf: (usage: SessionUsage) => Cost,
): Promise<UsageReport> {
  const rows = new Map<string, { tally: Tally; label: string | null }>();
  const totals = new Tally();
  const evidence: UsageEvidence = { records: 0, requests: 0, duplicatesFolded: 0, inheritedExcluded: 0 };
  const byDay = by === "day" ? dayName : by === "week" ? weekName : by === "month" ? monthName : undefined;
  const dayKeys = new Map<number, string>();
  const row = (key: string, label: string | null = null) => at(rows, key, () => ({ tally: new Tally(), label })).tally;
  await inSlices(sessions, (session) => {
    const own =
      by === "session"
        ? () => row(session.id, session.label)
        : by === "project"
          ? () => row(session.project, projectNames.get(session.project) ?? null)
          : by === "tool"
            ? () => row(session.tool)
            : undefined;
    const onDay = byDay && ((day: number) => row(at(dayKeys, day, () => byDay(day))));
    const touched = visit(
      session,
      zone,
      range,
      (i, day) => {
        totals.addSlot(session, i);
        (own?.() ?? onDay?.(day))?.addSlot(session, i);
      },
      (slot, day) => {
        totals.addTokens(session, slot);
        (own?.() ?? onDay?.(day) ?? row(slot.model)).addTokens(session, slot);
      },
    );
    if (!touched || !session.evidence) return;
    for (const key of Object.keys(evidence) as (keyof UsageEvidence)[]) evidence[key] += session.evidence[key] ?? 0;
  });
  const list = [...rows].map(([key, { tally, label }]): UsageRow => ({ key, label, ...sums(tally, costOf, by) }));
  if (byDay) list.sort((a, b) => (a.key < b.key ? -1 : 1));
  else
    list.sort(
      (a, b) =>
        b.cost.microdollars - a.cost.microdollars || totalOf(b.tokens) - totalOf(a.tokens) || (a.key < b.key ? -1 : 1),
    );
  const total = sums(totals, costOf);
  return {
    by,
    tz: zone.name,
    range: { from: range.from === null ? null : dayName(range.from), to: range.to === null ? null : dayName(range.to) },
    rows: list,
    totals: total,
    evidence,
    unpriced: total.cost.unpriced,
  };
}

function sums(tally: Tally, costOf: (usage: SessionUsage) => Cost, by?: Group): UsageSums {
  return {
    sessions: tally.sessions,
    messages: by === "model" ? null : tally.messages,
    activeMs: by === "model" ? null : tally.activeMs,
    usage: tally.usage,
    tokens: tally.tokens,
    cost: costOf(tally.usage),
  };
}

/** Throws PROJECT_NOT_FOUND when nothing is named so. */
function projectIds(
  projects: readonly { id: string; name: string; path: string | null }[],
  wanted: string,
): Set<string> {
  const exact = projects.filter((project) => project.id === wanted || project.path === wanted);
  const found =
    exact.length > 0 ? exact : projects.filter((project) => project.name.toLowerCase() === wanted.toLowerCase());
  if (found.length === 0) throw new SessarcError("PROJECT_NOT_FOUND", { id: wanted });
  return new Set(found.map((project) => project.id));
}
