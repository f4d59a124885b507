/** What the sessions of a project cost, by session and quarter-hour: for shares that add up to each session's cost. */

import { type Database, mustYield, type SessionUsage, type TokenUsage, yieldNow } from "sessarc";
import { addUsage } from "sessarc/adapter";
import type { Prices } from "../prices/pricing.ts";
import { QUARTER_MS } from "./buckets.ts";
import { computeTotal } from "./tally.ts";

export interface Spending {
  session: string;
  /** The session it is a sub-agent of. */
  parent: string | null;
  /** UTC quarter-hours, ascending. */
  quarters: { quarter: number; microdollars: number; tokens: number; activeMs: number }[];
  /** Sum of its quarter-hours. */
  microdollars: number;
}

interface Row extends TokenUsage {
  session: string;
  parent: string | null;
  quarter: number;
  model: string;
}

/** Costs are whole millionths: each quarter-hour has what the session's cost grows by with it. Linear in the quarter-hours. */
export async function readSpending(db: Database, prices: Prices, project: string): Promise<Spending[]> {
  const [rows, work] = await Promise.all([
    db.all<Row>(
      `select s.session, s.parent, t.quarter, t.model, t.input, t.output, t.cache_write_5m as cacheWrite5m,
         t.cache_write_1h as cacheWrite1h, t.cache_read as cacheRead
       from usage_session s cross join usage_tokens t where t.session = s.session and s.project = ?
       order by s.session, t.quarter, t.model`,
      [project],
    ),
    db.all<{ session: string; parent: string | null; quarter: number; activeMs: number }>(
      `select s.session, s.parent, w.quarter, w.active_ms as activeMs from usage_session s cross join usage_work w
       where w.session = s.session and s.project = ? order by s.session, w.quarter`,
      [project],
    ),
  ]);
  const sessions = new Map<string, Spending & { sum: SessionUsage }>();
  const toSlot = (session: string, parent: string | null, quarter: number) => {
    const one = sessions.get(session) ?? { session, parent, quarters: [], microdollars: 0, sum: {} };
    sessions.set(session, one);
    const known = one.quarters.findLast((slot) => slot.quarter === quarter);
    const slot = known ?? { quarter, microdollars: 0, tokens: 0, activeMs: 0 };
    if (!known) one.quarters.push(slot);
    return { one, slot };
  };
  for (const [i, { session, parent, quarter, model, ...tokens }] of rows.entries()) {
    const { one, slot } = toSlot(session, parent, quarter);
    addUsage(one.sum, prices.keyAt(model, quarter * QUARTER_MS), tokens);
    slot.tokens += computeTotal(tokens);
    const next = rows[i + 1];
    if (mustYield()) await yieldNow();
    if (next?.session === session && next.quarter === quarter) continue;
    const { microdollars } = prices.cost(one.sum);
    slot.microdollars = microdollars - one.microdollars;
    one.microdollars = microdollars;
  }
  for (const { session, parent, quarter, activeMs } of work) {
    toSlot(session, parent, quarter).slot.activeMs += activeMs;
    if (mustYield()) await yieldNow();
  }
  const spending: Spending[] = [];
  for (const { sum: _, quarters, ...one } of sessions.values()) {
    spending.push({ ...one, quarters: quarters.sort((a, b) => a.quarter - b.quarter) });
    if (mustYield()) await yieldNow();
  }
  return spending;
}
