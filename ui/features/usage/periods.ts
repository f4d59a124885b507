/** Days, weeks and months of a range. */
import type { Bar } from "../../components/chart/BarSeries.vue";

export type Unit = "day" | "week" | "month";

const DAY = 86_400_000;
const text = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** First and last day of a period; `2026-11` is a month, a Monday a week. */
export function toPeriod(key: string, unit: Unit): { from: string; to: string } {
  if (unit === "day") return { from: key, to: key };
  const [year = 0, month = 1] = key.split("-").map(Number);
  if (unit === "month") return { from: `${key.slice(0, 7)}-01`, to: text(Date.UTC(year, month, 0)) };
  return { from: key, to: text(Date.parse(key) + 6 * DAY) };
}

/** The period of a day. */
function keyOf(day: string, unit: Unit): string {
  if (unit === "day") return day;
  if (unit === "month") return day.slice(0, 7);
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  return text(Date.parse(day) - weekday * DAY);
}

/** Days of a range, both inclusive. Without a first day it begins with the first period that has something. */
interface DayBounds {
  from?: string | undefined;
  to: string;
}

/** Every period of the range, in order; empty ones too. None where nothing has something. */
export function periods(keys: readonly string[], unit: Unit, { from, to }: DayBounds): string[] {
  const sorted = [...new Set(keys)].sort();
  const [earliest, latest] = [sorted[0], sorted.at(-1)];
  if (earliest === undefined || latest === undefined) return [];
  const first = from === undefined ? earliest : keyOf(from, unit);
  const end = keyOf(to, unit);
  const last = latest > end ? latest : end;
  const all: string[] = [];
  for (let key = first; key <= last && all.length < 4_000; ) {
    all.push(key);
    const next = Date.parse(`${toPeriod(key, unit).to}T00:00:00Z`) + DAY;
    key = unit === "month" ? text(next).slice(0, 7) : text(next);
  }
  return all;
}

/** The smallest unit that makes at most `most` periods of a range of days; months where even they are more. */
export function unitOf({ from, to }: { from: string; to: string }, most: number): Unit {
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  if (days <= most) return "day";
  return days / 7 <= most ? "week" : "month";
}

/** The mean of the periods that lie in the range as a whole and are over; undefined for fewer than two. */
export function averageOf(bars: readonly Bar[], { from }: DayBounds): number | undefined {
  const whole = bars.filter((bar) => bar.running !== true && (from === undefined || bar.from >= from));
  const sum = whole.reduce((total, bar) => total + bar.parts.reduce((own, part) => own + part.value, 0), 0);
  return whole.length > 1 ? sum / whole.length : undefined;
}
