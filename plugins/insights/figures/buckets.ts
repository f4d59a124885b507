/** UTC quarter-hours to local days, weeks and months of any time zone. Days of 23 or 25 hours come out whole. */
import { SessarcError } from "sessarc";

export const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
const QUARTERS_A_DAY = 96;

export interface Zone {
  readonly name: string;
  /** Quarter-hours since the epoch on the clock of the zone. O(1): reads the calendar once per UTC day. */
  local(quarter: number): number;
  /** Number of the local day; day 0 is 1970-01-01. */
  day(quarter: number): number;
  /** Number of the local day at a time in ms. */
  dayAt(ms: number): number;
}

const zones = new Map<string, Zone>();
const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The machine's own zone when none is named. Throws INVALID_INPUT for an unknown zone. */
export function toZone(name: string = localZone()): Zone {
  let zone = zones.get(name);
  if (!zone) {
    zone = createZone(name);
    if (zones.size >= 64) zones.clear();
    zones.set(name, zone);
  }
  return zone;
}

function createZone(name: string): Zone {
  const offset = createOffset(name);
  /** By UTC day: the offset that holds all day, or one per quarter-hour on the day of a change. */
  const days = new Map<number, number | Int32Array>();
  /** A day ends where the next one begins. */
  const starts = new Map<number, number>();
  const startOf = (utcDay: number): number => {
    let known = starts.get(utcDay);
    if (known === undefined) {
      known = offset(utcDay * QUARTERS_A_DAY);
      starts.set(utcDay, known);
    }
    return known;
  };
  const toOffsets = (utcDay: number): number | Int32Array => {
    const first = utcDay * QUARTERS_A_DAY;
    const [start, end] = [startOf(utcDay), startOf(utcDay + 1)];
    return start === end ? start : Int32Array.from({ length: QUARTERS_A_DAY }, (_, i) => offset(first + i));
  };
  const local = (quarter: number): number => {
    const utcDay = Math.floor(quarter / QUARTERS_A_DAY);
    let known = days.get(utcDay);
    if (known === undefined) {
      known = toOffsets(utcDay);
      days.set(utcDay, known);
    }
    return quarter + (typeof known === "number" ? known : (known[quarter - utcDay * QUARTERS_A_DAY] as number));
  };
  const day = (quarter: number) => Math.floor(local(quarter) / QUARTERS_A_DAY);
  return { name, local, day, dayAt: (ms) => day(Math.floor(ms / QUARTER_MS)) };
}

/** Quarter-hours to add to UTC. The process' own zone is asked of `Date`, which is a hundred times quicker than a calendar. */
function createOffset(timeZone: string): (quarter: number) => number {
  if (timeZone === "UTC") return () => 0;
  if (timeZone !== localZone()) return createCalendar(timeZone);
  const { TZ } = process.env;
  let calendar: ((quarter: number) => number) | undefined;
  return (quarter) => {
    if (process.env.TZ === TZ) return Math.round(-new Date(quarter * QUARTER_MS).getTimezoneOffset() / 15);
    // The process went elsewhere.
    calendar ??= createCalendar(timeZone);
    return calendar(quarter);
  };
}

/** The same from the calendar of any zone: about 10 µs. */
function createCalendar(timeZone: string): (quarter: number) => number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
  } catch {
    throw new SessarcError(
      "INVALID_INPUT",
      { reason: `${JSON.stringify(timeZone)} is no time zone` },
      { issues: [{ path: "tz", message: "a name such as Europe/Berlin or UTC" }] },
    );
  }
  return (quarter) => {
    const ms = quarter * QUARTER_MS;
    const [month, day, year, hour, minute] = (format.format(ms).match(/\d+/g) ?? []).map(Number);
    const local = Date.UTC(year as number, (month as number) - 1, day, hour, minute);
    return Math.round((local - ms) / QUARTER_MS);
  };
}

/** 0 is Monday. */
export const toWeekday = (day: number): number => (((day + 3) % 7) + 7) % 7;

export const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
/** A week goes by its Monday. */
export const weekName = (day: number): string => dayName(day - toWeekday(day));
export const monthName = (day: number): string => dayName(day).slice(0, 7);

/** Number of the day `2026-11-20`; undefined when there is no such day. */
export function dayNumber(name: string): number | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(name) ? Date.parse(`${name}T00:00:00Z`) : Number.NaN;
  const day = ms / DAY_MS;
  return Number.isNaN(ms) || dayName(day) !== name ? undefined : day;
}

/** Local days, both included; null: open. */
export interface DayRange {
  from: number | null;
  to: number | null;
}

export const inRange = (day: number, { from, to }: DayRange): boolean =>
  (from === null || day >= from) && (to === null || day <= to);

/** A range in quarter-hours: all from `from` up to before `to` lie in it, none before `fromMaybe` or from `toMaybe` on does. */
export interface Edges {
  readonly from: number;
  readonly fromMaybe: number;
  readonly to: number;
  readonly toMaybe: number;
}

/** Where a clock was set back at midnight, a few quarter-hours lie on either side of an edge. */
export function toEdges(zone: Zone, { from, to }: DayRange): Edges {
  const start = from === null ? { sure: -Infinity, maybe: -Infinity } : edgeAt(zone, from);
  const end = to === null ? { sure: Infinity, maybe: Infinity } : edgeAt(zone, to + 1);
  return { from: start.sure, fromMaybe: start.maybe, to: end.maybe, toMaybe: end.sure };
}

/** `maybe`: the first quarter-hour that lies on `day` or later; from `sure` on all do. No zone is a day or more from UTC. */
function edgeAt(zone: Zone, day: number): { maybe: number; sure: number } {
  const offset = (utcDay: number) => zone.local(utcDay * QUARTERS_A_DAY) - utcDay * QUARTERS_A_DAY;
  const [before, ...others] = [day - 1, day, day + 1, day + 2].map(offset) as [number, ...number[]];
  // No clock was changed anywhere near.
  if (others.every((one) => one === before)) {
    const start = day * QUARTERS_A_DAY - before;
    return { maybe: start, sure: start };
  }
  let maybe = (day - 1) * QUARTERS_A_DAY;
  const end = (day + 2) * QUARTERS_A_DAY;
  while (zone.day(maybe) < day) maybe++;
  let sure = maybe;
  for (let quarter = maybe; quarter < end; quarter++) if (zone.day(quarter) < day) sure = quarter + 1;
  return { maybe, sure };
}

/** The last `days` local days, today included. */
export function lastDays(days: number, today: number): { from: number; to: number } {
  return { from: today - days + 1, to: today };
}
