import { createCache, type Kernel, type Services } from "sessarc";
import { plainModel } from "sessarc/adapter";
import { type Answers, createAnswers } from "./answers.ts";
import { type BlockReport, blocks, blocksAt } from "./figures/blocks.ts";
import { QUARTER_MS, toEdges, toZone } from "./figures/buckets.ts";
import { type TroubledCall, troubledCalls } from "./figures/calls.ts";
import { readContext, type SessionContext } from "./figures/context.ts";
import { runningReadings, writeReadings } from "./figures/limits.ts";
import { type PromptCosts, readPrompts } from "./figures/prompts.ts";
import {
  type Asked,
  idsIn,
  type Known,
  readCalls,
  readKnown,
  readTokens,
  type Calls as ToolCalls,
} from "./figures/questions.ts";
import { toRange } from "./figures/range.ts";
import { report, type UsageReport } from "./figures/report.ts";
import { readSpending, type Spending } from "./figures/spending.ts";
import type { Choice, Scope } from "./figures/sql.ts";
import type { StatelessQuery, StatelessReport } from "./figures/stateless.ts";
import { computeTotal, Tally } from "./figures/tally.ts";
import type { Reading } from "./figures/windows.ts";
import { modelName } from "./prices/names.ts";
import type { Cost, Pricing } from "./prices/pricing.ts";

interface TotalsQuery extends Choice {
  from?: string | undefined;
  to?: string | undefined;
  /** Zone whose days count; default this machine's. */
  tz?: string | undefined;
  /** Only this model, in any of its spellings. */
  model?: string | undefined;
}

type Row = Awaited<ReturnType<Services["archive"]["get"]>>;

/** Lists of calls kept, one a session; they change only with its text. */
const KEEP = 400;

export interface Insights {
  readonly answers: Answers;
  readonly pricing: Pricing;
  /** The answer to `question` about the archive as it is, made once until something changes. `compute` gets what questions need. */
  answer<T>(question: unknown, scope: Scope, compute: (asked: Asked) => Promise<T>): Promise<T>;
  /** What questions need. */
  asked(scope: Scope): Promise<Asked>;
  /** Reads now what the first question would wait for. */
  warm(): Promise<void>;
  /** Calls of a session that failed, or took `slow` ms and more; the latest first. */
  troubled(row: Row, slow: number | undefined): Promise<readonly TroubledCall[]>;
  /** How often readings of limits were stored in this process: another number may be another answer. */
  readonly readings: number;
  /** Stores what providers reported about their limits. */
  storeReadings(readings: readonly Reading[]): Promise<void>;
  /** Readings of the windows that reset after `now`, by time. */
  runningReadings(now: number): Promise<Reading[]>;
  /** Tokens and cost of the local days from `from` to `to`; of all time without them. */
  totals(query: TotalsQuery): Promise<{ tokens: number; cost: Cost }>;
  /** Usage by project in local days; `calls`: tool calls of the sessions in them, each session as a whole. */
  byProject(query: TotalsQuery): Promise<{ usage: UsageReport; calls: ToolCalls[] }>;
  /** Ids of the sessions with something in the local days from `from` to `to`; sub-agents have their own. */
  sessionsIn(query: TotalsQuery): Promise<string[]>;
  /** Usage by tool, with its models, in local days; without a query of all time. */
  byTool(query?: TotalsQuery): Promise<UsageReport>;
  /** Windows that begin from the local day `from` on. */
  blocks(query: {
    minutes: number;
    from?: string | undefined;
    tz?: string | undefined;
    now: number;
  }): Promise<BlockReport>;
  /** ms: when the local day `from` begins and `to` ends. Throws INVALID_INPUT for an unknown zone. */
  span(query: { from: string; to: string; tz?: string | undefined }): { since: number; until: number };
  /** What each session of a project cost, by quarter-hour. */
  spending(project: string): Promise<Spending[]>;
  /** How full a session's context was, read from its log. Throws SESSION_NOT_FOUND. */
  context(id: string): Promise<SessionContext>;
  /** What each prompt of a session led to. Throws SESSION_NOT_FOUND. */
  prompts(id: string): Promise<PromptCosts>;
  /** The report of GET /usage straight from the logs. */
  stateless(query: StatelessQuery): Promise<StatelessReport>;
}

export function createInsights(kernel: Kernel, pricing: Pricing): Insights {
  const archive = kernel.inject("archive");
  const { db, readOnly } = kernel.storage;
  const kept = createCache<TroubledCall[]>(KEEP);
  const answers = createAnswers();
  const known = (generation: number): Promise<Known> => answers.get("known", generation, () => readKnown(db));
  const asked = async (scope: Scope, generation: number): Promise<Asked> => ({
    scope,
    prices: pricing.now,
    known: await known(generation),
  });
  let readings = 0;
  const service: Insights = {
    get readings() {
      return readings;
    },
    async storeReadings(list) {
      if (readOnly || list.length === 0) return;
      await db.batch(writeReadings(list));
      readings++;
      await kernel.notify("limits:reported", list);
    },
    runningReadings: (now) => runningReadings(db, now),
    pricing,
    answers,
    warm: async () => void (await known(archive.generation)),
    answer(question, scope, compute) {
      const { generation } = archive;
      const key = JSON.stringify([question, scope.zone.name, scope.range, scope.choice]);
      return answers.get(key, generation, async () => compute(await asked(scope, generation)));
    },
    asked: (scope) => asked(scope, archive.generation),
    troubled(row, slow) {
      const key = `${row.id} ${row.revision} ${slow}`;
      return kept.get(key, () => troubledCalls(archive.events(row), slow));
    },
    async totals({ from, to, model, tz, ...choice }) {
      const scope = { zone: toZone(tz), range: toRange(from, to), choice };
      return service.answer(["totals", model], scope, async (asked) => {
        const tally = new Tally(asked.prices);
        const wanted = model === undefined ? undefined : modelName(model);
        for (const slot of await readTokens(db, asked, "none"))
          if (wanted === undefined || modelName(plainModel(slot.model)) === wanted) tally.addTokens(slot);
        return { tokens: computeTotal(tally.tokens), cost: tally.cost };
      });
    },
    async byProject({ from, to, model: _, tz, ...choice }) {
      const scope = { zone: toZone(tz), range: toRange(from, to), choice };
      return service.answer("by project", scope, async (asked) => {
        const names = new Map((await archive.projects()).map(({ id, name }) => [id, name]));
        const [usage, calls] = await Promise.all([report(db, "project", asked, names), readCalls(db, asked)]);
        return { usage, calls };
      });
    },
    sessionsIn({ from, to, model: _, tz, ...choice }) {
      const scope = { zone: toZone(tz), range: toRange(from, to), choice };
      return service.answer("sessions", scope, (asked) => idsIn(db, asked));
    },
    async byTool({ from, to, model: _, tz, ...choice } = {}) {
      const scope = { zone: toZone(tz), range: toRange(from, to), choice };
      return service.answer("by tool", scope, (asked) => report(db, "tool", asked, new Map()));
    },
    async blocks({ minutes, from, tz, now }) {
      const scope = { zone: toZone(tz), range: toRange(from, undefined) };
      const question = ["blocks", minutes, service.readings];
      return blocksAt(await service.answer(question, scope, (asked) => blocks(db, asked, minutes)), now);
    },
    context: (id) => readContext(kernel, pricing, id),
    prompts: (id) => readPrompts(kernel, pricing, id),
    span({ from, to, tz }) {
      const { fromMaybe, toMaybe } = toEdges(toZone(tz), toRange(from, to));
      return { since: fromMaybe * QUARTER_MS, until: toMaybe * QUARTER_MS };
    },
    spending: (project) =>
      service.answer(
        ["spending"],
        { zone: toZone(), range: toRange(undefined, undefined), choice: { projects: [project] } },
        (asked) => readSpending(db, asked.prices, project),
      ),
    stateless: async (query) => (await import("./figures/stateless.ts")).readStateless(kernel, query),
  };
  return service;
}
