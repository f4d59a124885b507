/** What sessions cost at the prices of when they ran: where a price changed meanwhile, by their quarter-hours. */

import type { Database, SessionUsage, TokenUsage } from "sessarc";
import { plainModel } from "#internal";
import { marks, pages } from "#internal/adapter";
import type { Cost, SessionFacts, SessionRow } from "./types.ts";

/** Service "pricing", as far as it is needed here. */
export interface Prices {
  /** Another one where another sum may come out. */
  readonly stamp: string;
  cost(usage: SessionUsage): Cost;
  keyAt(model: string, at: number): string;
  isSteady(usage: SessionUsage, from: number, to: number): boolean;
}

export type Timed = Pick<SessionRow, "id" | "usage" | "started_at" | "sort_at">;

const PAGE = 50;

/** Costs by session. Facts are read only of those in whose time a price changed. */
export async function costsOf(db: Database, prices: Prices, rows: readonly Timed[]): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const split: Timed[] = [];
  for (const row of rows) {
    const usage = JSON.parse(row.usage) as SessionUsage;
    if (prices.isSteady(usage, startOf(row), row.sort_at))
      costs.set(row.id, prices.cost(keyed(prices, usage, row.sort_at)));
    else split.push(row);
  }
  for (const page of pages(split, PAGE)) {
    const found = await db.all<Pick<SessionRow, "id" | "facts">>(
      `select id, facts from session where id in (${marks(page)})`,
      page.map((row) => row.id),
    );
    const facts = new Map(found.map((row) => [row.id, row.facts]));
    for (const row of page) {
      const byModel = usageByPrice(prices, row, facts.get(row.id) ?? '{"slots":{}}');
      costs.set(row.id, prices.cost(Object.assign({}, ...Object.values(byModel))));
    }
  }
  return costs;
}

/** A session's tokens by model, each by the keys for `cost` that say at which price they were used. */
export function usageByPrice(prices: Prices, row: Timed, facts: string): Record<string, SessionUsage> {
  const { slots } = JSON.parse(facts) as Pick<SessionFacts, "slots">;
  const byModel: Record<string, SessionUsage> = {};
  const add = (model: string, at: number, tokens: TokenUsage) => {
    const name = plainModel(model);
    byModel[name] ??= {};
    const own = byModel[name];
    const key = prices.keyAt(model, at);
    own[key] = own[key] ? join(own[key], tokens, 1) : { ...tokens };
  };
  for (const [model, all] of Object.entries(JSON.parse(row.usage) as SessionUsage)) {
    let rest = all;
    for (const [quarter, { u }] of Object.entries(slots)) {
      const tokens = u?.[model];
      if (!tokens) continue;
      add(model, Date.parse(`${quarter}Z`), tokens);
      rest = join(rest, tokens, -1);
    }
    // What the log gives no time for counts when the session ended.
    add(model, row.sort_at, rest);
  }
  return byModel;
}

const startOf = ({ started_at, sort_at }: Timed) =>
  started_at === null ? sort_at : Math.min(Date.parse(started_at), sort_at);

function keyed(prices: Prices, usage: SessionUsage, at: number): SessionUsage {
  return Object.fromEntries(Object.entries(usage).map(([model, tokens]) => [prices.keyAt(model, at), tokens]));
}

function join(a: TokenUsage, b: TokenUsage, sign: 1 | -1): TokenUsage {
  const sum = (field: keyof TokenUsage) => Math.max(0, a[field] + sign * b[field]);
  return {
    input: sum("input"),
    output: sum("output"),
    cacheWrite5m: sum("cacheWrite5m"),
    cacheWrite1h: sum("cacheWrite1h"),
    cacheRead: sum("cacheRead"),
  };
}
