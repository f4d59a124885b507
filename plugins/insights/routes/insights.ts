/** GET /insights: what Home shows. */

import {
  type Database,
  defineRoute,
  type Kernel,
  type KernelHooks,
  type Services,
  type SessionUsage,
  type TokenUsage,
} from "sessarc";
import * as v from "valibot";
import { dayName, QUARTER_MS, toEdges, toZone, type Zone } from "../figures/buckets.ts";
import {
  type Asked,
  endedSince,
  readCalls,
  readHours,
  readTokens,
  readWork,
  type TokenRow,
  type WorkRow,
  workSince,
} from "../figures/questions.ts";
import { type Range, rangeQuery, type Span, toSpan } from "../figures/range.ts";
import { at, computeTotal, Tally } from "../figures/tally.ts";
import { heavyIn, readTraits, type Trait } from "../figures/traits.ts";
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
interface ToolCalls {
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
  meta: { team: true },
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
    const { answer } = kernel.inject("insights");
    const zone = toZone(query.tz);
    const now = Date.now();
    const span = toSpan(query, zone, now);
    const archive = kernel.inject("archive");
    // Time alone makes a session go quiet: who is live is part of the question.
    const liveIds = await archive.liveIds();
    const sections: Sections = {};
    await kernel.hooks.callHook("insights:collect", sections, { from: startOf(span, zone) });
    const question = ["insights", span.range, query.since, liveIds];
    const report = await answer(question, { zone, range: span }, async (asked) => {
      const [rest, live, sinceYouLeft] = await Promise.all([
        overview(kernel.storage.db, asked, span),
        liveIds.length === 0 ? [] : archive.list({ ids: liveIds }),
        query.since === undefined ? null : since(kernel, asked, Date.parse(query.since)),
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
  return toEdges(zone, { from, to: null }).fromMaybe * QUARTER_MS;
}

/** Its questions are asked in one event-loop turn: they see one moment. */
async function overview(db: Database, asked: Asked, span: Span) {
  const { prices } = asked;
  const [work, tokens, hours, calls, heavy, before] = await Promise.all([
    readWork(db, asked, { key: "tool", byDay: true }),
    readTokens(db, asked, "day", true),
    readHours(db, asked),
    readCalls(db, asked),
    heavyIn(db, asked),
    readPrevious(db, asked, span),
  ]);
  const totals = new Tally(prices);
  const perDay = new Map<number, { all: Tally; tools: Map<string, Tally> }>();
  const makeDay = (day: number) => at(perDay, day, () => ({ all: new Tally(prices), tools: new Map() }));
  const ofTool = (day: number, tool: string) => at(makeDay(day).tools, tool, () => new Tally(prices));
  if (span.from !== null && span.to !== null) for (let day = span.from; day <= span.to; day++) makeDay(day);
  for (const row of work)
    for (const tally of [totals, makeDay(row.day).all, ofTool(row.day, row.key)]) {
      tally.addWork(row);
      tally.addRoot(row.root);
    }
  for (const slot of tokens)
    for (const tally of [totals, makeDay(Number(slot.key)).all, ofTool(Number(slot.key), slot.tool)])
      tally.addTokens(slot);
  const sums = toSums(totals);
  const previous = before && toSums(before.tally);
  return {
    range: span.range,
    totals: sums,
    previous,
    delta: previous && findDelta(sums, previous),
    toolCalls: { ...sumOfCalls(calls), previous: before?.toolCalls ?? null },
    perDay: [...perDay].sort(([a], [b]) => a - b).map(([day, { all, tools }]) => toDay(day, all, tools)),
    models: Object.entries(totals.usage)
      .map(([model, usage]) => ({ model, usage, cost: totals.costOf([model]) }))
      .sort(
        (a, b) =>
          b.cost.microdollars - a.cost.microdollars ||
          computeTotal(b.usage) - computeTotal(a.usage) ||
          (a.model < b.model ? -1 : 1),
      ),
    characteristics: await readTraits(db, { work, hours, calls, tokens: sums.tokens, heavy }),
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
        tokens: computeTotal(tally.tokens),
        cost: tally.cost,
      })),
  };
}

function sumOfCalls(list: readonly ToolCalls[]): ToolCalls {
  const sum: ToolCalls = { calls: 0, errors: 0 };
  for (const { calls, errors } of list) {
    sum.calls += calls;
    sum.errors += errors;
  }
  return sum;
}

async function readPrevious(
  db: Database,
  { scope, ...asked }: Asked,
  { from, range }: Span,
): Promise<{ tally: Tally; toolCalls: ToolCalls } | null> {
  if (from === null || range.days === null) return null;
  const before: Asked = { ...asked, scope: { ...scope, range: { from: from - range.days, to: from - 1 } } };
  const [work, tokens, calls] = await Promise.all([
    readWork(db, before),
    readTokens(db, before, "none"),
    readCalls(db, before),
  ]);
  const tally = toTally(asked.prices, work, tokens);
  return { tally, toolCalls: sumOfCalls(calls) };
}

function toTally(prices: Prices, work: readonly WorkRow[], tokens: readonly TokenRow[]): Tally {
  const tally = new Tally(prices);
  for (const row of work) {
    tally.addWork(row);
    tally.addRoot(row.root);
  }
  for (const slot of tokens) tally.addTokens(slot);
  return tally;
}

function toSums(tally: Tally): Sums {
  const { sessions, messages, activeMs, errors, usage, tokens, cost } = tally;
  const incoming = computeTotal(tokens) - tokens.output;
  const cacheShare = incoming > 0 ? tokens.cacheRead / incoming : null;
  return { sessions, messages, activeMs, errors, usage, tokens, cacheShare, cost };
}

function findDelta(now: Sums, before: Sums): NonNullable<InsightsReport["delta"]> {
  const change = (a: number, b: number) => (b === 0 ? null : (a - b) / b);
  return {
    sessions: change(now.sessions, before.sessions),
    messages: change(now.messages, before.messages),
    activeMs: change(now.activeMs, before.activeMs),
    errors: change(now.errors, before.errors),
    tokens: change(computeTotal(now.tokens), computeTotal(before.tokens)),
    cost: change(now.cost.microdollars, before.cost.microdollars),
  };
}

/** By quarter-hours: the one in which you left counts. */
async function since(kernel: Kernel, asked: Asked, time: number): Promise<InsightsReport["sinceYouLeft"]> {
  const { db } = kernel.storage;
  const [{ work, tokens }, recent] = await Promise.all([workSince(db, time, asked), endedSince(db, time, RECENT)]);
  return {
    since: new Date(time).toISOString(),
    ...toSums(toTally(asked.prices, work, tokens)),
    recent: recent.length === 0 ? [] : await kernel.inject("archive").list({ ids: recent }),
  };
}
