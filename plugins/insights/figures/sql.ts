/** Pieces of SQL that every question is made of: which sessions, which quarter-hours, on which local day, at which price. */
import { marks, type SqlValue } from "sessarc";
import { keyIn, type Prices } from "../prices/pricing.ts";
import { type DayRange, type Edges, inRange, toEdges, type Zone } from "./buckets.ts";

/** Begun by a person; by another session; going on from what another one said. */
export const KINDS = ["main", "subagent", "fork"] as const;
type SessionKind = (typeof KINDS)[number];

/** Which sessions count; default all of them. */
export interface Choice {
  tool?: string | undefined;
  kind?: SessionKind | undefined;
  projects?: readonly string[] | undefined;
  /** This session and those that count with it. */
  session?: string | undefined;
  /** This session alone. */
  only?: string | undefined;
}

/** A condition with its parameters. */
export interface Sql {
  sql: string;
  params: readonly SqlValue[];
}

/** What a question is about: days of a zone, and sessions. */
export interface Scope {
  zone: Zone;
  range: DayRange;
  choice?: Choice | undefined;
}

export const edgesIn = ({ zone, range }: Scope): Edges => toEdges(zone, range);
/** True when a quarter-hour lies on a local day of the range. */
export const inDays = ({ zone, range }: Scope, quarter: number): boolean => inRange(zone.day(quarter), range);

const QUARTERS_A_DAY = 96;
/** Keeps numbers positive: integer division in SQL rounds towards zero. */
const BIAS_DAYS = 1_000_000;

/** Every row. */
export const all: Sql = { sql: "true", params: [] };
export const and = (...parts: Sql[]): Sql => ({
  sql: parts.map(({ sql }) => `(${sql})`).join(" and "),
  params: parts.flatMap(({ params }) => params),
});

/** `s`: usage_session. */
export function chosen({ tool, kind, projects, session, only }: Choice = {}): Sql {
  const parts: Sql[] = [];
  if (tool !== undefined) parts.push({ sql: "s.tool = ?", params: [tool] });
  if (kind !== undefined) parts.push({ sql: "s.kind = ?", params: [kind] });
  if (projects) parts.push({ sql: `s.project in (${marks(projects)})`, params: projects });
  if (session !== undefined) parts.push({ sql: "s.session = ? or s.root = ?", params: [session, session] });
  if (only !== undefined) parts.push({ sql: "s.session = ?", params: [only] });
  return parts.length > 0 ? and(...parts) : all;
}

/** A column of the session's row. A sub-agent's log may not have it: that of the session it counts with holds. */
const named = (column: "cwd" | "git_branch") =>
  `coalesce((select x.${column} from session x where x.id = s.session), (select x.${column} from session x where x.id = s.root), '')`;

/** What sessions are grouped by, as a column of `s`. A branch is one of its project. */
export const KEYS = {
  project: "s.project",
  tool: "s.tool",
  kind: "s.kind",
  branch: `s.project || ':' || ${named("git_branch")}`,
  worktree: named("cwd"),
} as const;

/** Quarter-hours of a table that lie on days of the range. `day`: the local day of a quarter-hour. */
export function onDays(range: DayRange, edges: Edges, day: string, quarter: string): Sql {
  const parts: Sql[] = [];
  if (Number.isFinite(edges.fromMaybe)) parts.push({ sql: `${quarter} >= ?`, params: [edges.fromMaybe] });
  if (Number.isFinite(edges.toMaybe)) parts.push({ sql: `${quarter} < ?`, params: [edges.toMaybe] });
  // Where a clock was set back at midnight, a few quarter-hours lie on either side.
  if (edges.from !== edges.fromMaybe && range.from !== null) parts.push({ sql: `${day} >= ?`, params: [range.from] });
  if (edges.to !== edges.toMaybe && range.to !== null) parts.push({ sql: `${day} <= ?`, params: [range.to] });
  return parts.length > 0 ? and(...parts) : all;
}

/** Sessions with something in the range. */
export function inScope({ zone, range, choice }: Scope, day: string): Sql {
  const edges = toEdges(zone, range);
  const whole = liesIn(edges);
  if (!whole) return and(chosen(choice), overlaps(edges));
  const { sql, params } = onDays(range, edges, day, "w.quarter");
  return and(chosen(choice), overlaps(edges), {
    sql: `${whole.sql} or exists (select 1 from usage_work w where w.session = s.session and ${sql})`,
    params: [...whole.params, ...params],
  });
}

/** Sessions that lie in the range as a whole; undefined: all do. */
export function liesIn({ from, to }: Edges): Sql | undefined {
  const parts: Sql[] = [];
  if (Number.isFinite(from)) parts.push({ sql: "s.first >= ?", params: [from] });
  if (Number.isFinite(to)) parts.push({ sql: "s.last < ?", params: [to] });
  return parts.length > 0 ? and(...parts) : undefined;
}

/** Sessions that lie on one local day. Where a clock was changed meanwhile a day may come twice. */
export function onOneDay(first: string, last: string): Sql {
  return { sql: `${toDay(first)} = ${toDay(last)} and ${last} - ${first} = s.last - s.first`, params: [] };
}

/** Sessions that may have something in the range. */
export function overlaps({ fromMaybe, toMaybe }: Edges): Sql {
  const parts: Sql[] = [{ sql: "s.first is not null", params: [] }];
  if (Number.isFinite(fromMaybe)) parts.push({ sql: "s.last >= ?", params: [fromMaybe] });
  if (Number.isFinite(toMaybe)) parts.push({ sql: "s.first < ?", params: [toMaybe] });
  return and(...parts);
}

/** The quarter-hour on the zone's clock, for quarter-hours from `first` to `last`. */
export function localQuarter(zone: Zone, first: number, last: number, quarter: string): string {
  const steps = offsets(zone, first, last);
  const [start] = steps;
  if (steps.length === 1) return `(${quarter} + ${start?.offset ?? 0})`;
  const cases = steps.slice(1).map(({ from }, i) => `when ${quarter} < ${from} then ${steps[i]?.offset ?? 0}`);
  return `(${quarter} + case ${cases.join(" ")} else ${steps.at(-1)?.offset ?? 0} end)`;
}
export const toDay = (localQuarter: string): string =>
  `((${localQuarter} + ${BIAS_DAYS * QUARTERS_A_DAY}) / ${QUARTERS_A_DAY} - ${BIAS_DAYS})`;
/** Hours since Monday, 1969-12-29, modulo a week. */
export const hourOfWeek = (localQuarter: string): string =>
  `(((${localQuarter} + ${(BIAS_DAYS * 7 + 3) * QUARTERS_A_DAY}) / 4) % 168)`;

/** No zone changes its clock twice within so many quarter-hours. */
const STEP = 7 * QUARTERS_A_DAY;

/** From when on which offset to UTC holds. */
function offsets(zone: Zone, first: number, last: number): { from: number; offset: number }[] {
  const offsetAt = (quarter: number) => zone.local(quarter) - quarter;
  const steps = [{ from: first, offset: offsetAt(first) }];
  for (let before = first; before < last; ) {
    const next = Math.min(before + STEP, last);
    const offset = offsetAt(next);
    if (offset !== steps.at(-1)?.offset) {
      let [low, high] = [before, next];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (offsetAt(middle) === offset) high = middle;
        else low = middle;
      }
      steps.push({ from: high, offset });
    }
    before = next;
  }
  return steps;
}

/** Models whose price changes with time. */
export const timedModels = (prices: Prices, models: readonly string[]): string[] =>
  models.filter((model) => prices.keyAt(model, 0) !== model);

/** What differs where a model's price does. `timed`: models whose price changes with time. */
export function toPrice(prices: Prices, timed: readonly string[], model: string, quarter: string): Sql {
  return toCases(
    timed.map((name) => [name, byPeriod(prices, name, quarter, String)]),
    model,
  );
}

/** Cost of a row's tokens in millionths of a dollar, not rounded; 0 without a price. `models`: all that the rows may have. */
export function costIn(
  prices: Prices,
  models: readonly string[],
  timed: readonly string[],
  model: string,
  quarter: string,
): Sql {
  const costAt = (key: string) => {
    const rates = prices.rates(key);
    if (!rates) return "0";
    const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = rates;
    return `input * ${input} + output * ${output} + cache_write_5m * ${cacheWrite5m} + cache_write_1h * ${cacheWrite1h} + cache_read * ${cacheRead}`;
  };
  const computeCost = (name: string) =>
    timed.includes(name)
      ? byPeriod(prices, name, quarter, (period) => costAt(keyIn(name, period)))
      : costAt(prices.keyAt(name, 0));
  return toCases(
    models.map((name) => [name, computeCost(name)]),
    model,
  );
}

/** The value of a model; 0 for others. */
function toCases(values: readonly (readonly [model: string, value: string])[], model: string): Sql {
  if (values.length === 0) return { sql: "0", params: [] };
  return {
    sql: `case ${values.map(([, value]) => `when ${model} = ? then ${value}`).join(" ")} else 0 end`,
    params: values.map(([name]) => name),
  };
}

/** The value of the period of a model that counts: the last that holds, of none the first. */
function byPeriod(prices: Prices, name: string, quarter: string, then: (period: number) => string): string {
  const periods = prices.price(name)?.periods ?? [];
  const second = `((${quarter} + ${BIAS_DAYS * QUARTERS_A_DAY}) % ${QUARTERS_A_DAY}) * 900`;
  const cases = periods
    .map(({ from, hours }, i) => {
      if (from !== undefined) return `when ${quarter} * 900000 >= ${from} then ${then(i)}`;
      if (!hours) return `when true then ${then(i)}`;
      const [start, end] = hours;
      return `when ${second} >= ${start} ${start <= end ? "and" : "or"} ${second} < ${end} then ${then(i)}`;
    })
    .reverse();
  return `case ${cases.join(" ")} else ${then(0)} end`;
}
