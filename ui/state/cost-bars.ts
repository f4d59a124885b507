/** Days as bars: what Home and a project draw. */
import type { Bar } from "../components/chart/BarSeries.vue";
import { date, dayLabel, daysLabel, money } from "../format.ts";
import { number, t } from "../i18n/index.ts";
import { type Bucket, type BucketUnit, toBuckets } from "./insights.ts";

interface Figure {
  day: string;
  sessions: number;
  messages: number;
  cost: { microdollars: number } | null;
}
type Part = Bar["parts"][number];

const LABELS: Record<BucketUnit, (bucket: Bucket<unknown>) => string> = {
  day: ({ key }) => dayLabel(`${key}T12:00`),
  week: ({ key }) => dayLabel(`${key}T12:00`),
  month: ({ key }) => date(`${key}T12:00`, { month: "short", year: "2-digit" }),
};

/** One bar per day, week or month, as fits. `parts` gets the days of a bar. */
export function barsOf<T extends Figure>(
  days: readonly T[],
  to: string,
  parts: (days: readonly T[], unit: BucketUnit) => Part[],
): { unit: BucketUnit; bars: Bar[] } {
  const { unit, buckets } = toBuckets(days, to);
  return {
    unit,
    bars: buckets.map((bucket) => ({
      key: bucket.key,
      from: bucket.from,
      to: bucket.to,
      label: LABELS[unit](bucket),
      title:
        unit === "day"
          ? date(`${bucket.key}T12:00`, { weekday: "short", day: "numeric", month: "short" })
          : daysLabel(bucket.from, bucket.to),
      parts: parts(bucket.days, unit).filter((part) => part.value > 0),
      notes: toNotes(bucket.days, unit),
    })),
  };
}

/** Sessions of several days may be the same: only their messages add up. */
function toNotes(days: readonly Figure[], unit: BucketUnit): string[] {
  const messages = t("count.messages", { n: days.reduce((sum, one) => sum + one.messages, 0) });
  if (unit !== "day") return [messages];
  return [`${t("count.sessions", { n: days[0]?.sessions ?? 0 })} · ${messages}`];
}

/** Title of bars that count: of several days messages, because sessions of several days may be the same. */
export const countTitle = (unit: BucketUnit): string =>
  unit === "day" ? t("chart.sessionsPer.day") : t(`chart.messagesPer.${unit}`);
export const countOf = (one: { sessions: number; messages: number }, unit: BucketUnit): number =>
  unit === "day" ? one.sessions : one.messages;

/** `$12`, `$0.40`: an amount as short as an axis wants it. */
export const axisMoney = (value: number): string =>
  Number.isInteger(value / 1e6) ? `$${number(value / 1e6)}` : money(value);

/** The chart in a sentence. */
export function summaryOf(title: string, bars: readonly Bar[], format: (value: number) => string): string {
  const sum = (bar: Bar) => bar.parts.reduce((total, part) => total + part.value, 0);
  const best = [...bars].sort((a, b) => sum(b) - sum(a))[0];
  const [first, last] = [bars[0], bars.at(-1)];
  if (!best || !first || !last) return title;
  return t("chart.summary", {
    title,
    days: daysLabel(first.from, last.to),
    total: format(bars.reduce((all, bar) => all + sum(bar), 0)),
    best: best.title,
    value: format(sum(best)),
  });
}
