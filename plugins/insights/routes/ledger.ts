/** GET /insights/sessions: the sessions behind the figures of a range, exactly those that count in it. */

import { defineRoute, type Services } from "sessarc";
import * as v from "valibot";
import { toZone } from "../figures/buckets.ts";
import { countedIn } from "../figures/questions.ts";
import { type Range, rangeQuery, toSpan } from "../figures/range.ts";

type Session = Awaited<ReturnType<Services["archive"]["session"]>>;

export interface Ledger {
  range: Range;
  /** Newest first; sub-agents stand for the session that started them. */
  sessions: Session[];
  /** As many as `totals.sessions` of GET /insights for the same range. */
  total: number;
}

const LIMIT = 100;
const MOST = 1_000;

const get = defineRoute({
  method: "GET",
  path: "/insights/sessions",
  meta: { team: true },
  summary: "The sessions that count in a range of days, newest first",
  query: v.object({
    ...rangeQuery,
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,4}$/, "must be a whole number"),
        v.transform(Number),
        v.minValue(1, "must be 1 to 1000"),
        v.maxValue(MOST, "must be 1 to 1000"),
      ),
    ),
  }),
  handler: async ({ kernel, query }): Promise<Ledger> => {
    const { answer } = kernel.inject("insights");
    const zone = toZone(query.tz);
    const span = toSpan(query, zone, Date.now());
    const ids = await answer("ledger", { zone, range: span }, (asked) => countedIn(kernel.storage.db, asked));
    const page = ids.slice(0, query.limit ?? LIMIT);
    const found = page.length === 0 ? [] : await kernel.inject("archive").list({ ids: page });
    const place = new Map(page.map((id, i) => [id, i]));
    return {
      range: span.range,
      sessions: found.sort((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0)),
      total: ids.length,
    };
  },
});

export const ledgerRoutes = [get] as const;
