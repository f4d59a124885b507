/** Questions to the figures, one function each. Cost: what a pass over the rows of the range takes, about 1 µs a row. */
import { type Database, marks, type TokenUsage, type UsageEvidence } from "sessarc";
import { plainModel } from "sessarc/adapter";
import type { Prices } from "../prices/pricing.ts";
import { QUARTER_MS, toEdges } from "./buckets.ts";
import {
  all,
  and,
  chosen,
  costIn,
  hourOfWeek,
  inScope,
  KEYS,
  liesIn,
  localQuarter,
  onDays,
  onOneDay,
  overlaps,
  type Scope,
  type Sql,
  timedModels,
  toDay,
  toPrice,
} from "./sql.ts";
import type { TokenSlot } from "./tally.ts";

/** What rows are of. `none`: of everything. */
export type Key = "none" | "day" | "model" | keyof typeof KEYS;

export interface WorkRow {
  session: string;
  root: string;
  /** What was asked for of the session: its project, tool, kind, branch or folder. */
  key: string;
  /** Local day; 0 where days were not asked for. */
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

const FIELDS = ["input", "output", "cache_write_5m", "cache_write_1h", "cache_read"];
const NAMES = "input, output, cache_write_5m as cacheWrite5m, cache_write_1h as cacheWrite1h, cache_read as cacheRead";
const SUMS = `sum(input) as input, sum(output) as output, sum(cache_write_5m) as cacheWrite5m,
  sum(cache_write_1h) as cacheWrite1h, sum(cache_read) as cacheRead`;

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
  const rows = await db.all<{ model: string }>("select distinct model from usage_total");
  return [...new Set(rows.map(({ model }) => plainModel(model)))];
}

/** Local day and quarter-hour on the clock, of a column. */
function clock({ scope: { zone, range }, known }: Asked, column: string) {
  const { fromMaybe, toMaybe } = toEdges(zone, range);
  const first = Math.max(known.first, fromMaybe);
  const local = localQuarter(zone, first, Math.max(first, Math.min(known.last, toMaybe)), column);
  return { local, day: toDay(local) };
}

/** Where sessions are read as a whole, and where by their quarter-hours, of a column. */
function parts(asked: Asked, byDay: boolean, quarter: string) {
  const { zone, range, choice } = asked.scope;
  const edges = toEdges(zone, range);
  const conditions: Sql[] = [];
  const inside = liesIn(edges);
  if (inside) conditions.push(inside);
  if (byDay) conditions.push(onOneDay(clock(asked, "s.first").local, clock(asked, "s.last").local));
  const maybe = and(chosen(choice), overlaps(edges));
  const days = onDays(range, edges, clock(asked, quarter).day, quarter);
  if (conditions.length === 0) return { whole: maybe, cut: undefined, days };
  const whole = and(...conditions);
  return { whole: and(maybe, whole), cut: and(maybe, { ...whole, sql: `not (${whole.sql})` }), days };
}

/** Messages and time of each session in the range; with `byDay` of each of its days. */
export async function readWork(
  db: Database,
  asked: Asked,
  { key, byDay = false }: { key?: keyof typeof KEYS | undefined; byDay?: boolean } = {},
): Promise<WorkRow[]> {
  const { whole, cut, days } = parts(asked, byDay, "w.quarter");
  const columns = `s.session, nullif(s.root, s.session) as root, ${key ? KEYS[key] : "''"} as key`;
  const dayIn = (column: string) => (byDay ? clock(asked, column).day : "0");
  let sql = `select ${columns}, ${dayIn("s.first")} as day, s.messages, s.active_ms as activeMs, s.errors
    from usage_session s where ${whole.sql}`;
  const params = [...whole.params];
  if (cut) {
    sql += ` union all select ${columns}, ${dayIn("w.quarter")} as day, sum(w.messages), sum(w.active_ms), sum(w.errors)
      from usage_session s cross join usage_work w where w.session = s.session and ${cut.sql} and ${days.sql}
      group by s.session, ${byDay ? "4" : "s.root"}`;
    params.push(...cut.params, ...days.params);
  }
  const rows = await db.all<Omit<WorkRow, "root"> & { root: string | null }>(sql, params);
  return rows.map((row) => ({ ...row, root: row.root ?? row.session }));
}

/**
 * Tokens of the sessions in the range: `sums`, a row a model, of sessions that lie in it as a whole; `quarters`, a row a quarter-hour and
 * model, of others, and of models whose price changes with time.
 */
function tokensIn(asked: Asked, columns: string, byDay: boolean, timed: readonly string[], among = all) {
  const { cut, days, ...lying } = parts(asked, byDay, "t.quarter");
  const whole = and(lying.whole, among);
  const select = (quarter: string) =>
    `select ${columns}, ${quarter} as quarter, t.model, ${FIELDS.map((field) => `t.${field}`).join(", ")}`;
  const from = (table: string) => `from usage_session s cross join ${table} t where t.session = s.session`;
  const sums: Sql = {
    sql: `${select("s.first")} ${from("usage_total")} and ${whole.sql} and t.model not in (${marks(timed)})`,
    params: [...whole.params, ...timed],
  };
  const quarters: Sql[] = [];
  if (cut)
    quarters.push({
      sql: `${select("t.quarter")} ${from("usage_tokens")} and ${cut.sql} and ${among.sql} and ${days.sql}`,
      params: [...cut.params, ...among.params, ...days.params],
    });
  if (timed.length > 0)
    quarters.push({
      sql: `${select("t.quarter")} from usage_session s cross join usage_total x cross join usage_tokens t
        where x.session = s.session and x.model in (${marks(timed)}) and t.session = x.session and t.model = x.model and ${whole.sql}`,
      params: [...timed, ...whole.params],
    });
  return { sums, quarters };
}

/** Tokens by key, model and price; with `byTool` by tool too. */
export async function readTokens(db: Database, asked: Asked, key: Key, byTool = false): Promise<TokenRow[]> {
  const timed = timedModels(asked.prices, asked.known.models);
  const own = key === "none" || key === "day" || key === "model" ? "''" : KEYS[key];
  const columns = `${own} as own, ${byTool ? "s.tool" : "''"} as tool`;
  const { sums, quarters } = tokensIn(asked, columns, key === "day", timed);
  const keyOf = key === "day" ? clock(asked, "quarter").day : key === "model" ? "model" : "own";
  return tokenRows(db, grouped(keyOf, unite(sums, ...quarters), asked.prices, timed));
}

/** Tokens by session, model and price; with `limit` of the dearest sessions with tokens. The sums of a session are a row a model already. */
export async function tokensBySession(db: Database, asked: Asked, limit?: number): Promise<TokenRow[]> {
  const { prices, known } = asked;
  const timed = timedModels(prices, known.models);
  const dearest = limit === undefined ? undefined : pickDearest(asked, timed, limit);
  const among = dearest ? { sql: "s.session in (select own from dearest)", params: [] } : all;
  const { sums, quarters } = tokensIn(asked, "s.session as own, '' as tool", false, timed, among);
  const whole: Sql = { ...sums, sql: `select own as key, tool, model, quarter, ${NAMES} from (${sums.sql}) as found` };
  const rows = quarters.length === 0 ? whole : unite(whole, grouped("own", unite(...quarters), prices, timed));
  return tokenRows(
    db,
    dearest
      ? {
          sql: `with dearest as materialized (${dearest.sql}) ${rows.sql}`,
          params: [...dearest.params, ...rows.params],
        }
      : rows,
  );
}

/** Ids of the sessions that cost most, in the order of a report. */
function pickDearest(asked: Asked, timed: readonly string[], limit: number): Sql {
  const { prices, known } = asked;
  const { sums, quarters } = tokensIn(asked, "s.session as own", false, timed);
  const { sql, params } = unite(sums, ...quarters);
  const cost = costIn(prices, known.models, timed, "model", "quarter");
  return {
    sql: `select own from (${sql}) as found group by own
      order by round(sum(${cost.sql})) desc, sum(${FIELDS.join(" + ")}) desc, own limit ${limit}`,
    params: [...params, ...cost.params],
  };
}

const unite = (...branches: readonly Sql[]): Sql => ({
  sql: branches.map(({ sql }) => sql).join(" union all "),
  params: branches.flatMap(({ params }) => params),
});

/** Adds up rows by key, tool, model and price. */
function grouped(key: string, { sql, params }: Sql, prices: Prices, timed: readonly string[]): Sql {
  const price = timed.length > 0 ? toPrice(prices, timed, "model", "quarter") : undefined;
  return {
    sql: `select ${key} as key, tool, model, min(quarter) as quarter, ${SUMS} from (${sql}) as found
      group by 1, 2, 3${price ? `, ${price.sql}` : ""}`,
    params: [...params, ...(price?.params ?? [])],
  };
}

async function tokenRows(db: Database, { sql, params }: Sql): Promise<TokenRow[]> {
  const rows = await db.all<TokenRecord>(sql, params);
  return rows.map(({ key, tool, model, quarter, ...tokens }) => ({ key, tool, model, quarter, tokens }));
}

/** Sessions that count, by model. */
export function rootsByModel(db: Database, asked: Asked): Promise<{ root: string; model: string }[]> {
  const { sums, quarters } = tokensIn(asked, "s.root", false, []);
  const { sql, params } = unite(sums, ...quarters);
  return db.all(`select distinct root, model from (${sql}) as found`, params);
}

/** Messages by hours since Monday. */
export function readHours(db: Database, asked: Asked): Promise<{ hour: number; messages: number }[]> {
  const { zone, range, choice } = asked.scope;
  const edges = toEdges(zone, range);
  const { local, day } = clock(asked, "w.quarter");
  const days = onDays(range, edges, day, "w.quarter");
  const select = `select ${hourOfWeek(local)} as hour, sum(w.messages) as messages`;
  // Without a choice all sessions count: one pass over the quarter-hours.
  if (!choice) return db.all(`${select} from usage_work w where ${days.sql} group by 1`, days.params);
  const { sql, params } = and(chosen(choice), overlaps(edges), days);
  return db.all(
    `${select} from usage_session s cross join usage_work w where w.session = s.session and ${sql} group by 1`,
    params,
  );
}

/** Sessions in the range, for questions about each as a whole. */
function sessionsIn(asked: Asked) {
  return inScope(asked.scope, clock(asked, "w.quarter").day);
}

export async function readEvidence(db: Database, asked: Asked): Promise<UsageEvidence> {
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
export function readCalls(db: Database, asked: Asked): Promise<Calls[]> {
  const { sql, params } = sessionsIn(asked);
  return db.all<Calls>(
    `select c.name, sum(c.calls) as calls, sum(c.errors) as errors from usage_session s cross join usage_call c
     where c.session = s.session and ${sql} group by c.name`,
    params,
  );
}

/** Messages by kind, of the sessions in the range, each as a whole. */
export function readKinds(db: Database, asked: Asked): Promise<{ kind: string; messages: number }[]> {
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

/** Ids of the sessions with something in the range; sub-agents have their own. */
export async function idsIn(db: Database, asked: Asked): Promise<string[]> {
  const { sql, params } = sessionsIn(asked);
  const rows = await db.all<{ id: string }>(`select s.session as id from usage_session s where ${sql}`, params);
  return rows.map(({ id }) => id);
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
  const [sum, top] = await Promise.all([
    db.get<{ requests: number }>(`select coalesce(sum(s.requests), 0) as requests ${where}`, params),
    db.all<Heavy>(
      `select s.session as id, cast(round(1.0 * s.prompt / s.requests) as bigint) as value ${where}
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
  { prices, known }: Asked,
): Promise<{ work: WorkRow[]; tokens: TokenRow[] }> {
  const first = Math.floor(time / QUARTER_MS);
  const from = (table: string) =>
    `from usage_session s cross join ${table} t where t.session = s.session and s.ended >= ? and s.last >= ? and t.quarter >= ?`;
  const params = [time, first, first];
  const rows = `select '' as tool, t.quarter, t.model, ${FIELDS.map((field) => `t.${field}`).join(", ")} ${from("usage_tokens")}`;
  const [work, tokens] = await Promise.all([
    db.all<WorkRow>(
      `select s.session, s.root, '' as key, 0 as day, sum(t.messages) as messages, sum(t.active_ms) as activeMs,
         sum(t.errors) as errors ${from("usage_work")} group by s.session`,
      params,
    ),
    tokenRows(db, grouped("''", { sql: rows, params }, prices, timedModels(prices, known.models))),
  ]);
  return { work, tokens };
}

/** Quarter-hours from `from` up to before `to`; infinite ones are open. */
interface QuarterSpan {
  from: number;
  to: number;
}

/** Rows of a table with quarter-hours, `t`, in a span. */
function inSpan({ from, to }: QuarterSpan): Sql {
  const parts: Sql[] = [{ sql: "t.session = s.session", params: [] }];
  if (Number.isFinite(from)) parts.push({ sql: "s.last >= ? and t.quarter >= ?", params: [from, from] });
  if (Number.isFinite(to)) parts.push({ sql: "s.first < ? and t.quarter < ?", params: [to, to] });
  return and(...parts);
}

/** Quarter-hours in which a tool used tokens, ascending; only the chosen tool counts, whichever of its sessions were chosen. */
export function usedQuarters(
  db: Database,
  { scope }: Asked,
  span: QuarterSpan,
): Promise<{ tool: string; quarter: number }[]> {
  const { sql, params } = and(chosen({ tool: scope.choice?.tool }), inSpan(span));
  return db.all(
    `select distinct s.tool, t.quarter from usage_session s cross join usage_tokens t where ${sql} order by 2`,
    params,
  );
}

/** Tokens of the chosen sessions by tool, quarter-hour and model. */
export async function usedTokens(
  db: Database,
  { scope }: Asked,
  span: QuarterSpan,
): Promise<(TokenSlot & { tool: string })[]> {
  const { sql, params } = and(chosen(scope.choice), inSpan(span));
  const rows = await db.all<Omit<TokenRecord, "key">>(
    `select s.tool, t.quarter, t.model, ${SUMS} from usage_session s cross join usage_tokens t where ${sql} group by 1, 2, 3`,
    params,
  );
  return rows.map(({ tool, quarter, model, ...tokens }) => ({ tool, quarter, model, tokens }));
}

/** Work of the chosen sessions by tool, quarter-hour and the session that counts. */
export function usedWork(
  db: Database,
  { scope }: Asked,
  span: QuarterSpan,
): Promise<(Pick<WorkRow, "root" | "messages" | "activeMs" | "errors"> & { tool: string; quarter: number })[]> {
  const { sql, params } = and(chosen(scope.choice), inSpan(span));
  return db.all(
    `select s.tool, t.quarter, s.root, sum(t.messages) as messages, sum(t.active_ms) as activeMs, sum(t.errors) as errors
     from usage_session s cross join usage_work t where ${sql} group by 1, 2, 3`,
    params,
  );
}

/** More names than that are read in one pass over all sessions. */
const MANY = 1_000;

/** What sessions are called, by id. */
export async function findLabels(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  const some = ids.length <= MANY;
  const rows = await db.all<{ id: string; label: string | null }>(
    `select id, substr(coalesce(name, title, first_prompt), 1, 160) as label from session
     ${some ? `where id in (${marks(ids)})` : ""}`,
    some ? ids : [],
  );
  return new Map(rows.map(({ id, label }) => [id, label]));
}
