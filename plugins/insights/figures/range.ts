/** The query that views over a range of days share: the last days, or from one day to another. */
import { SessarcError } from "sessarc";
import * as v from "valibot";
import { type DayRange, dayName, dayNumber, lastDays, type Zone } from "./buckets.ts";

const MOST_DAYS = 3650;

export const days = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,4}$/, "must be a whole number"),
    v.transform(Number),
    v.minValue(1, "must be 1 to 3650"),
    v.maxValue(MOST_DAYS, "must be 1 to 3650"),
  ),
);

/** A local day such as `2026-11-20`. */
export const day = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => dayNumber(text) !== undefined, "must be a day such as 2026-11-20"),
  ),
);

/** Query of a view over a range, for `toSpan` and `zoneOf`. */
export const rangeQuery = {
  /** Local days up to today; default all time. */
  days,
  /** Or local days, both included; without `to` up to today. */
  from: day,
  to: day,
  /** Zone whose days count; default this machine's. */
  tz: v.optional(v.string()),
};

/** Local days, both included; null: all time. */
export interface Range {
  days: number | null;
  from: string | null;
  to: string;
}

export interface Span {
  from: number | null;
  to: number | null;
  /** As it is answered. */
  range: Range;
}

interface SpanQuery {
  days?: number | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** Throws INVALID_INPUT for a range that is named twice, ends before it begins, or is longer than ten years. */
export function toSpan(query: SpanQuery, zone: Zone, now: number): Span {
  if (query.from === undefined && query.to === undefined) return lastSpan(query.days, zone, now);
  if (query.days !== undefined) throw invalid("Name days, or from and to", "days", "leave it out beside from and to");
  const { from, to: end } = toRange(query.from, query.to);
  const to = end ?? zone.dayAt(now);
  if (from === null) return { from, to, range: { days: null, from: null, to: dayName(to) } };
  if (from > to) throw endsEarly(dayName(from), dayName(to));
  const count = to - from + 1;
  if (count > MOST_DAYS) throw invalid(`The range has ${count} days`, "from", `at most ${MOST_DAYS} days before to`);
  return { from, to, range: { days: count, from: dayName(from), to: dayName(to) } };
}

/** Nothing lies after today; without `days` also what a wrong clock put there counts. */
function lastSpan(count: number | undefined, zone: Zone, now: number): Span {
  const today = zone.dayAt(now);
  if (count === undefined) return { from: null, to: null, range: { days: null, from: null, to: dayName(today) } };
  const { from, to } = lastDays(count, today);
  return { from, to, range: { days: count, from: dayName(from), to: dayName(to) } };
}

/** Days that were checked by `day`. Throws INVALID_INPUT for a range that ends before it begins. */
export function toRange(from: string | undefined, to: string | undefined): DayRange {
  const range = {
    from: from === undefined ? null : (dayNumber(from) ?? null),
    to: to === undefined ? null : (dayNumber(to) ?? null),
  };
  if (range.from !== null && range.to !== null && range.from > range.to) throw endsEarly(from ?? "", to ?? "");
  return range;
}

const endsEarly = (from: string, to: string) =>
  invalid(`The range ends before it begins: ${from} to ${to}`, "to", "must not be before from");

const invalid = (reason: string, path: string, message: string) =>
  new SessarcError("INVALID_INPUT", { reason }, { issues: [{ path, message }] });
