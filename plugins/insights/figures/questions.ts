/** Questions to the figures, one function each. Cost: what a pass over the rows of the range takes, about 1 µs a row. */
import type { Database, TokenUsage, UsageEvidence } from "sessarc";
import { marks } from "#internal/adapter";
import type { Prices } from "../prices/pricing.ts";
import { edgesOf, QUARTER_MS } from "./buckets.ts";
import {
  and,
  chosen,
  dayOf,
  hourOfWeek,
  inScope,
  localQuarter,
  onDays,
  overlaps,
  priceOf,
  type Scope,
  type Sql,
} from "./sql.ts";
import type { TokenSlot } from "./tally.ts";

/** What rows are of. `none`: of everything. */
export type Key = "none" | "day" | "session" | "model" | "project" | "tool" | "kind";

export interface WorkRow {
  session: string;
  root: string;
  tool: string;
  project: string;
  kind: string;
  /** Local day; of all days 0. */
  day: number;
  messages: number;
  activeMs: number;
  errors: number;
}
export interface TokenRow extends TokenSlot {
  key: string | number;
  tool: string;
}
export interface Calls {
  name: string;
  calls: number;
  errors: number;
}
/** A session with the time it ended, by which lists are sorted. */
export interface Ended {
  id: string;
  ended: number;
}
export interface Heavy {
  id: string;
  /** Tokens sent with each reply. */
  value: number;
}

interface TokenRecord extends TokenUsage {
  key: string | number;
  tool: string;
  model: string;
  quarter: number;
}

const TOKENS = `sum(t.input) as input, sum(t.output) as output, sum(t.cache_write_5m) as cacheWrite5m,
  sum(t.cache_write_1h) as cacheWrite1h, sum(t.cache_read) as cacheRead`;

/** What every question about the same sessions and days needs first. */
export interface Asked {
  scope: Scope;
  prices: Prices;
  /** Of all sessions: the first and last quarter-hour, and models. */
  known: Known;
}
export interface Known {
  first: number;
  last: number;
  models: readonly string[];
}

/** Reads what all questions need. */
export async function readKnown(db: Database): Promise<Known> {
  const [bounds, models] = await Promise.all([
    db.get<{ first: number | null; last: number | null }>(
      "select min(first) as first, max(last) as last from usage_session",
    ),
    db.all<{ model: string }>("select model from usage_model"),
  ]);
  return { first: bounds?.first ?? 0, last: bounds?.last ?? 0, models: models.map(({ model }) => model) };
}

/** Models that some session used. */
export async function modelsSeen(db: Database): Promise<string[]> {
  const rows = await db.all<{ model: string }>(
    "select m.model from usage_model m where exists (select 1 from usage_tokens t where t.model = m.model)",
  );
  return rows.map(({ model }) => model);
}

/** Local day and quarter-hour on the clock, of a column. */
function clock({ scope: { zone, range }, known }: Asked, column: string) {
  const { fromMaybe, toMaybe } = edgesOf(zone, range);
  const first = Math.max(known.first, fromMaybe);
  const local = localQuarter(zone, first, Math.max(first, Math.min(known.last, toMaybe)), column);
  return { local, day: dayOf(local) };
}

/** The part after `from` of a question about rows of `table` (`usage_work w` or `usage_tokens t`). */
function rowsIn(asked: Asked, alias: "w" | "t") {
  const { zone, range, choice } = asked.scope;
  const edges = edgesOf(zone, range);
  const table = alias === "w" ? "usage_work" : "usage_tokens";
  const { local, day } = clock(asked, `${alias}.quarter`);
  const condition = and(chosen(choice), overlaps(edges), onDays(range, edges, day, `${alias}.quarter`));
  return {
    local,
    day,
    // Sessions first: their rows stand together.
    sql: `from usage_session s cross join ${table} ${alias} where ${alias}.session = s.session and ${condition.sql}`,
    params: condition.params,
  };
}

/** Messages and time of each session in the range; with `byDay` of each of its days. */
export function workOf(db: Database, asked: Asked, byDay = false): Promise<WorkRow[]> {
  const { day, sql, params } = rowsIn(asked, "w");
  return db.all<WorkRow>(
    `select s.session, s.root, s.tool, s.project, s.kind, ${byDay ? day : "0"} as day, sum(w.messages) as messages,
       sum(w.active_ms) as activeMs, sum(w.errors) as errors ${sql} group by s.session${byDay ? ", 6" : ""}`,
    params,
  );
}

/** Tokens by key, model and price; with `byTool` by tool too. */
export async function tokensOf(db: Database, asked: Asked, key: Key, byTool = false): Promise<TokenRow[]> {
  const { day, sql, params } = rowsIn(asked, "t");
  const keySql = key === "none" ? "''" : key === "day" ? day : key === "model" ? "t.model" : `s.${key}`;
  const price = priceOf(asked.prices, asked.known.models, "t.quarter");
  const rows = await db.all<TokenRecord>(
    `select ${keySql} as key, ${byTool ? "s.tool" : "''"} as tool, t.model, min(t.quarter) as quarter, ${TOKENS} ${sql}
     ${byPrice("group by 1, 2, 3", price)}`,
    [...params, ...(price?.params ?? [])],
  );
  return rows.map(toTokenRow);
}

/** Sessions that count, by model. */
export function rootsByModel(db: Database, asked: Asked): Promise<{ root: string; model: string }[]> {
  const { sql, params } = rowsIn(asked, "t");
  return db.all(`select distinct s.root, t.model ${sql}`, params);
}

/** Messages by hours since Monday. */
export function hoursOf(db: Database, asked: Asked): Promise<{ hour: number; messages: number }[]> {
  const { local, sql, params } = rowsIn(asked, "w");
  return db.all(`select ${hourOfWeek(local)} as hour, sum(w.messages) as messages ${sql} group by 1`, params);
}

/** Sessions in the range, for questions about each as a whole. */
function sessionsIn(asked: Asked) {
  return inScope(asked.scope, clock(asked, "w.quarter").day);
}

export async function evidenceOf(db: Database, asked: Asked): Promise<UsageEvidence> {
  const { sql, params } = sessionsIn(asked);
  const sum = await db.get<UsageEvidence>(
    `select coalesce(sum(s.records), 0) as records, coalesce(sum(s.requests), 0) as requests,
       coalesce(sum(s.duplicates), 0) as duplicatesFolded, coalesce(sum(s.inherited), 0) as inheritedExcluded
     from usage_session s where ${sql}`,
    params,
  );
  return sum ?? { records: 0, requests: 0, duplicatesFolded: 0, inheritedExcluded: 0 };
}

/** Calls by name, of the sessions in the range, each as a whole. */
export function callsOf(db: Database, asked: Asked): Promise<Calls[]> {
  const { sql, params } = sessionsIn(asked);
  return db.all<Calls>(
    `select c.name, sum(c.calls) as calls, sum(c.errors) as errors from usage_session s cross join usage_call c
     where c.session = s.session and ${sql} group by c.name`,
    params,
  );
}

/** Messages by kind, of the sessions in the range, each as a whole. */
export function kindsOf(db: Database, asked: Asked): Promise<{ kind: string; messages: number }[]> {
  const { sql, params } = sessionsIn(asked);
  return db.all(
    `select k.kind, sum(k.messages) as messages from usage_session s cross join usage_kind k
     where k.session = s.session and ${sql} group by k.kind`,
    params,
  );
}

/** When a session ended, in ms, else its last quarter-hour. */
const ENDED = `coalesce(s.ended, s.last * ${QUARTER_MS}, 0)`;

/** Sessions in the range with a call that is wanted, the last one first. `failed`: only where one failed. */
export function calling(db: Database, asked: Asked, name: string | undefined, failed: boolean): Promise<Ended[]> {
  const { sql, params } = sessionsIn(asked);
  return db.all<Ended>(
    `select s.session as id, ${ENDED} as ended from usage_session s where ${sql} and exists (
       select 1 from usage_call c where c.session = s.session and ${failed ? "c.errors" : "c.calls"} > 0
       ${name === undefined ? "" : "and c.name = ?"})
     order by 2 desc, 1`,
    name === undefined ? params : [...params, name],
  );
}

/** Ids of the sessions that count in the range, the last one first. */
export async function countedIn(db: Database, asked: Asked): Promise<string[]> {
  const { sql, params } = sessionsIn(asked);
  const rows = await db.all<{ id: string }>(
    `select s.session as id from usage_session s
     where s.session in (select s.root from usage_session s where ${sql}) order by ${ENDED} desc, s.session`,
    params,
  );
  return rows.map(({ id }) => id);
}

/** The sessions in the range that were sent the most with each reply, and how many replies there were. */
export async function heaviest(db: Database, asked: Asked, limit: number): Promise<{ top: Heavy[]; requests: number }> {
  const { sql, params } = sessionsIn(asked);
  const where = `from usage_session s where s.requests > 0 and ${sql}`;
  const prompt = `(select coalesce(sum(t.input + t.cache_write_5m + t.cache_write_1h + t.cache_read), 0)
    from usage_tokens t where t.session = s.session)`;
  const [sum, top] = await Promise.all([
    db.get<{ requests: number }>(`select coalesce(sum(s.requests), 0) as requests ${where}`, params),
    db.all<Heavy>(
      `select s.session as id, cast(round(1.0 * ${prompt} / s.requests) as integer) as value ${where}
       order by 2 desc, 1 limit ${limit}`,
      params,
    ),
  ]);
  return { top, requests: sum?.requests ?? 0 };
}

/** Ids of sessions that ended at `time` (ms) or later and that a person began, the last one first. */
export async function endedSince(db: Database, time: number, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    "select session as id from usage_session where parent is null and ended >= ? order by ended desc, session limit ?",
    [time, limit],
  );
  return rows.map(({ id }) => id);
}

/** What sessions did from a quarter-hour on that ended at `time` (ms) or later. */
export async function workSince(
  db: Database,
  time: number,
  prices: Prices,
  models: readonly string[],
): Promise<{ work: WorkRow[]; tokens: TokenRow[] }> {
  const first = Math.floor(time / QUARTER_MS);
  const where = (alias: string) =>
    `where ${alias}.session = s.session and s.ended >= ? and s.last >= ? and ${alias}.quarter >= ?`;
  const price = priceOf(prices, models, "t.quarter");
  const params = [time, first, first];
  const [work, tokens] = await Promise.all([
    db.all<WorkRow>(
      `select s.session, s.root, s.tool, s.project, s.kind, 0 as day, sum(w.messages) as messages,
         sum(w.active_ms) as activeMs, sum(w.errors) as errors
       from usage_session s cross join usage_work w ${where("w")} group by s.session`,
      params,
    ),
    db.all<TokenRecord>(
      `select '' as key, '' as tool, t.model, min(t.quarter) as quarter, ${TOKENS}
       from usage_session s cross join usage_tokens t ${where("t")}
       ${byPrice("group by 3", price)}`,
      [...params, ...(price?.params ?? [])],
    ),
  ]);
  return { work, tokens: tokens.map(toTokenRow) };
}

const byPrice = (groups: string, price: Sql | undefined) => (price ? `${groups}, ${price.sql}` : groups);
const toTokenRow = ({ key, tool, model, quarter, ...tokens }: TokenRecord): TokenRow => ({
  key,
  tool,
  model,
  quarter,
  tokens,
});

/** More names than that are read in one pass over all sessions. */
const MANY = 1_000;

/** What sessions are called, by id. */
export async function labelsOf(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  const some = ids.length <= MANY;
  const rows = await db.all<{ id: string; label: string | null }>(
    `select id, substr(coalesce(name, title, first_prompt), 1, 160) as label from session
     ${some ? `where id in (${marks(ids)})` : ""}`,
    some ? ids : [],
  );
  return new Map(rows.map(({ id, label }) => [id, label]));
}
