/** The query that views over the last days share. */
import * as v from "valibot";
import { dayName, lastDays, type Zone } from "./buckets.ts";

export const days = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,4}$/, "must be a whole number"),
    v.transform(Number),
    v.minValue(1, "must be 1 to 3650"),
    v.maxValue(3650, "must be 1 to 3650"),
  ),
);

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

/** Nothing lies after today; without `days` also what a wrong clock put there counts. */
export function lastSpan(count: number | undefined, zone: Zone, now: number): Span {
  const today = zone.dayAt(now);
  if (count === undefined) return { from: null, to: null, range: { days: null, from: null, to: dayName(today) } };
  const { from, to } = lastDays(count, today);
  return { from, to, range: { days: count, from: dayName(from), to: dayName(to) } };
}

/** Answers that say who is live now are as old as this at most. */
const FRESH_MS = 60_000;
export const minuteOf = (now: number): number => Math.floor(now / FRESH_MS);
