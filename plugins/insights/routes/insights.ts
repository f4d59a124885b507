/** GET /insights: what Home shows. */

import { defineRoute, type Kernel, type KernelHooks, type Services, type SessionUsage, type TokenUsage } from "sessarc";
import * as v from "valibot";
import { Slices, sortInSlices } from "#internal";
import { eachShareIn } from "../figures/add.ts";
import type { Blocks } from "../figures/blocks.ts";
import { type DayRange, dayName, edgesOf, inRange, QUARTER_MS, type Zone, zoneOf } from "../figures/buckets.ts";
import type { Figures } from "../figures/cube.ts";
import { type CubeSession, toUsage } from "../figures/cube-session.ts";
import { readDays } from "../figures/days.ts";
import { nameOf } from "../figures/names.ts";
import { type Range, rangeQuery, type Span, spanOf } from "../figures/range.ts";
import { at, Tally, totalOf } from "../figures/tally.ts";
import { DayTraits, type Trait, traitsOf } from "../figures/traits.ts";
import type { Cost, Prices } from "../prices/pricing.ts";

type Session = Awaited<ReturnType<Services["archive"]["session"]>>;

export interface Sums {
  /** Sub-agents count with the session that started them. */
  sessions: number;
  messages: number;
  activeMs: number;
  /** Failed tool calls. */
  errors: number;
  usage: SessionUsage;
  tokens: TokenUsage;
  /** Tokens read from a cache, as a share of all that went in; null without tokens. */
  cacheShare: number | null;
  cost: Cost;
}
export interface DayByTool {
  day: string;
  sessions: number;
  messages: number;
  activeMs: number;
  cost: Cost;
  tools: { tool: string; sessions: number; messages: number; tokens: number; cost: Cost }[];
}
export interface ToolCalls {
  calls: number;
  errors: number;
}
export interface InsightsReport {
  range: Range;
  totals: Sums;
  /** The same number of days right before; null for all time. */
  previous: Sums | null;
  /** Change against `previous`: 0.5 is half as much more. Null where there was nothing before. */
  delta: Record<"sessions" | "messages" | "activeMs" | "errors" | "tokens" | "cost", number | null> | null;
  /** Every day of the range; without one, the days on which something happened. */
  perDay: DayByTool[];
  /** Tool calls and failed ones of the sessions in the range, each session as a whole; and of the range before. */
  toolCalls: ToolCalls & { previous: ToolCalls | null };
  models: { model: string; usage: TokenUsage; cost: Cost }[];
  /** Sessions whose log was written in the last two minutes. */
  live: Session[];
  /** What happened since the time asked for; null when none was. */
  sinceYouLeft: (Sums & { since: string; recent: Session[] }) | null;
  characteristics: Trait[];
}

/** What other plugins put beside the report. By way of the hook: a name that only plugins declare cannot be imported. */
type Sections = Parameters<KernelHooks["insights:collect"]>[0];
export type InsightsAnswer = InsightsReport & Sections;

const RECENT = 20;

const get = defineRoute({
  method: "GET",
  path: "/insights",
  summary: "Totals, days, running sessions and what stands out",
  query: v.object({
    ...rangeQuery,
    /** When you last looked. */
    since: v.optional(
      v.pipe(
        v.string(),
        v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
      ),
    ),
  }),
  handler: async ({ kernel, query }): Promise<InsightsAnswer> => {
    const { cube, answers } = kernel.inject("insights");
    const zone = zoneOf(query.tz);
    const now = Date.now();
    const span = spanOf(query, zone, now);
    const archive = kernel.inject("archive");
    // Time alone makes a session go quiet: who is live is part of the question.
    const liveIds = await archive.liveIds();
    const question = JSON.stringify(["insights", span.range, zone.name, query.since, liveIds]);
    const sections: Sections = {};
    await kernel.hooks.callHook("insights:collect", sections, { from: startOf(span, zone) });
    const figures = await cube.figures();
    const report = await answers.get(question, figures.generation, async () => {
      const [rest, live, sinceYouLeft] = await Promise.all([
        overview(kernel, figures, zone, span),
        liveIds.length === 0 ? [] : archive.list({ ids: liveIds }),
        query.since === undefined ? null : since(kernel, figures.blocks, Date.parse(query.since)),
      ]);
      return { ...rest, live, sinceYouLeft };
    });
    return { ...report, ...sections };
  },
});

export const insightsRoutes = [get] as const;

/** ms at which the first day of the range begins; undefined for all time. */
function startOf({ from }: Span, zone: Zone): number | undefined {
  if (from === null) return undefined;
  return edgesOf(zone, { from, to: null }).fromMaybe * QUARTER_MS;
}

async function overview(kernel: Kernel, figures: Figures, zone: Zone, span: Span) {
  const prices = kernel.inject("pricing").now;
  const totals = new Tally(prices);
  const days = new DayTraits();
  const perDay = new Map<number, { all: Tally; tools: Map<string, Tally> }>();
  const dayOf = (day: number) => at(perDay, day, () => ({ all: new Tally(prices), tools: new Map() }));
  if (span.from !== null && span.to !== null) for (let day = span.from; day <= span.to; day++) dayOf(day);
  const ofTool = (day: number, tool: string) => at(dayOf(day).tools, tool, () => new Tally(prices));
  readDays(figures.rollup, zone, span, prices, {
    onSlot(day, tool, messages, activeMs, errors, quarter) {
      days.addSlot(day, zone.local(quarter), messages);
      for (const tally of [totals, dayOf(day).all, ofTool(day, tool)]) tally.addWork(messages, activeMs, errors);
    },
    onTokens(day, tool, slot) {
      days.addTokens(slot.tokens);
      for (const tally of [totals, dayOf(day).all, ofTool(day, tool)]) tally.addUsage(slot);
    },
    onSessions(day, tool, before, count) {
      (tool === null ? dayOf(day).all : ofTool(day, tool)).addSessions(count);
      if (tool === null && (before === null || !inRange(before, span))) totals.addSessions(count);
    },
  });
  // What is read of the sums is read here and now, before anything changes them; what is awaited are passes over sessions.
  const [before, toolCalls, characteristics] = await Promise.all([
    previousOf(figures, zone, span, prices),
    callsIn(figures, zone, span),
    traitsOf(figures, zone, span, days),
  ]);
  const sums = toSums(totals);
  const previous = before && toSums(before.tally);
  return {
    range: span.range,
    totals: sums,
    previous,
    delta: previous && deltaOf(sums, previous),
    toolCalls: { ...toolCalls, previous: before?.toolCalls ?? null },
    perDay: [...perDay].sort(([a], [b]) => a - b).map(([day, { all, tools }]) => toDay(day, all, tools)),
    models: Object.entries(totals.usage)
      .map(([model, usage]) => ({ model, usage, cost: totals.costOf([model]) }))
      .sort(
        (a, b) =>
          b.cost.microdollars - a.cost.microdollars ||
          totalOf(b.usage) - totalOf(a.usage) ||
          (a.model < b.model ? -1 : 1),
      ),
    characteristics,
  };
}

function toDay(day: number, all: Tally, tools: Map<string, Tally>): DayByTool {
  return {
    day: dayName(day),
    sessions: all.sessions,
    messages: all.messages,
    activeMs: all.activeMs,
    cost: all.cost,
    tools: [...tools]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tool, tally]) => ({
        tool,
        sessions: tally.sessions,
        messages: tally.messages,
        tokens: totalOf(tally.tokens),
        cost: tally.cost,
      })),
  };
}

/** Of the sessions in the range, each as a whole. */
async function callsIn({ rollup, blocks }: Figures, zone: Zone, range: DayRange): Promise<ToolCalls> {
  const sum: ToolCalls = { calls: 0, errors: 0 };
  const add = ({ calls, errors }: ToolCalls) => {
    sum.calls += calls;
    sum.errors += errors;
  };
  if (range.from === null && range.to === null) for (const one of rollup.calls.values()) add(one);
  else {
    const addSession = (session: CubeSession) => session.eachTool((_, calls, errors) => add({ calls, errors }));
    await eachShareIn(blocks, zone, range, addSession, (share) => {
      for (const one of share.calls.values()) add(one);
    });
  }
  return sum;
}

async function previousOf(
  figures: Figures,
  zone: Zone,
  { from, range }: Span,
  prices: Prices,
): Promise<{ tally: Tally; toolCalls: ToolCalls } | null> {
  if (from === null || range.days === null) return null;
  const tally = new Tally(prices);
  const before = { from: from - range.days, to: from - 1 };
  readDays(figures.rollup, zone, before, prices, {
    onSlot: (_day, _tool, messages, activeMs, errors) => tally.addWork(messages, activeMs, errors),
    onTokens: (_day, _tool, slot) => tally.addUsage(slot),
    onSessions(_day, tool, last, count) {
      if (tool === null && (last === null || !inRange(last, before))) tally.addSessions(count);
    },
  });
  return { tally, toolCalls: await callsIn(figures, zone, before) };
}

function toSums(tally: Tally): Sums {
  const { sessions, messages, activeMs, errors, usage, tokens, cost } = tally;
  const incoming = totalOf(tokens) - tokens.output;
  const cacheShare = incoming > 0 ? tokens.cacheRead / incoming : null;
  return { sessions, messages, activeMs, errors, usage, tokens, cacheShare, cost };
}

function deltaOf(now: Sums, before: Sums): NonNullable<InsightsReport["delta"]> {
  const change = (a: number, b: number) => (b === 0 ? null : (a - b) / b);
  return {
    sessions: change(now.sessions, before.sessions),
    messages: change(now.messages, before.messages),
    activeMs: change(now.activeMs, before.activeMs),
    errors: change(now.errors, before.errors),
    tokens: change(totalOf(now.tokens), totalOf(before.tokens)),
    cost: change(now.cost.microdollars, before.cost.microdollars),
  };
}

/** By quarter-hours: the one in which you left counts. */
async function since(kernel: Kernel, blocks: Blocks, time: number): Promise<InsightsReport["sinceYouLeft"]> {
  const tally = new Tally(kernel.inject("pricing").now);
  const first = Math.floor(time / QUARTER_MS);
  const recent: CubeSession[] = [];
  const slices = new Slices();
  for (const list of blocks.lists) {
    for (const session of list) {
      if ((session.endedAt ?? 0) < time) continue;
      recent.push(session);
      session.eachSlot((quarter, ...work) => {
        if (quarter >= first) tally.addSlot(session, ...work);
      });
      session.eachTokens((quarter, model, tokens) => {
        if (quarter >= first) tally.addTokens(session, { quarter, model: nameOf(model), tokens: toUsage(tokens) });
      });
    }
    if (slices.due) await slices.turn();
  }
  const own = recent.filter((session) => session.parent === null);
  const newest = (await sortInSlices(own, (a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))).slice(0, RECENT);
  const ids = newest.map((session) => session.id);
  return {
    since: new Date(time).toISOString(),
    ...toSums(tally),
    recent: ids.length === 0 ? [] : await kernel.inject("archive").list({ ids }),
  };
}
