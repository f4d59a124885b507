/** What sessions cost at the prices of when they ran: where a price changed meanwhile, by their quarter-hours. */

import { type Database, marks, pages, type SessionUsage, type TokenUsage } from "sessarc";
import { addUsage, plainModel } from "sessarc/adapter";
import type { Cost, SessionRow } from "./types.ts";

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
const QUARTER_MS = 900_000;

/** Costs by session. Quarter-hours are read only of those in whose time a price changed. */
export async function readCosts(db: Database, prices: Prices, rows: readonly Timed[]): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const split: Timed[] = [];
  for (const row of rows) {
    const usage = JSON.parse(row.usage) as SessionUsage;
    if (prices.isSteady(usage, startOf(row), row.sort_at))
      costs.set(row.id, prices.cost(keyed(prices, usage, row.sort_at)));
    else split.push(row);
  }
  const ids = split.map(({ id }) => id);
  for (const [id, byModel] of await usageByPrice(db, prices, ids))
    costs.set(id, prices.cost(Object.assign({}, ...Object.values(byModel))));
  return costs;
}

interface Slot extends TokenUsage {
  session: string;
  quarter: number;
  model: string;
}

/** Tokens of sessions by model, each by the keys for `cost` that say at which price they were used. */
export async function usageByPrice(
  db: Database,
  prices: Prices,
  ids: readonly string[],
): Promise<Map<string, Record<string, SessionUsage>>> {
  const sessions = new Map<string, Record<string, SessionUsage>>(ids.map((id) => [id, {}]));
  for (const page of pages(ids, PAGE)) {
    const slots = await db.all<Slot>(
      `select session, quarter, model, input, output, cache_write_5m as cacheWrite5m, cache_write_1h as cacheWrite1h,
         cache_read as cacheRead from usage_tokens where session in (${marks(page)}) order by session, quarter, model`,
      page,
    );
    for (const { session, quarter, model, ...tokens } of slots) {
      const byModel = sessions.get(session) ?? {};
      const name = plainModel(model);
      byModel[name] ??= {};
      addUsage(byModel[name], prices.keyAt(model, quarter * QUARTER_MS), tokens);
    }
  }
  return sessions;
}

const startOf = ({ started_at, sort_at }: Timed) =>
  started_at === null ? sort_at : Math.min(Date.parse(started_at), sort_at);

function keyed(prices: Prices, usage: SessionUsage, at: number): SessionUsage {
  return Object.fromEntries(Object.entries(usage).map(([model, tokens]) => [prices.keyAt(model, at), tokens]));
}
