/** Figures of Home and of a project, as the screens take them. */

export type Usage = Record<
  string,
  { input: number; output: number; cacheWrite5m: number; cacheWrite1h: number; cacheRead: number }
>;
export interface TokenParts {
  input: number;
  output: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  cacheRead: number;
}
export function partsOf(usage: Usage): TokenParts {
  const sum: TokenParts = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  for (const tokens of Object.values(usage))
    for (const key of Object.keys(sum) as (keyof TokenParts)[]) sum[key] += tokens[key] ?? 0;
  return sum;
}
export const allTokens = (parts: TokenParts): number =>
  parts.input + parts.output + parts.cacheWrite5m + parts.cacheWrite1h + parts.cacheRead;
/** Share of what was read that came from a cache. */
export function cacheShare(parts: TokenParts): number {
  const read = parts.input + parts.cacheRead + parts.cacheWrite5m + parts.cacheWrite1h;
  return read === 0 ? 0 : parts.cacheRead / read;
}

export interface Bucket<T> {
  /** First day. */
  key: string;
  from: string;
  to: string;
  days: T[];
}
export type BucketUnit = "day" | "week" | "month";

const DAY_MS = 86_400_000;
const name = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/**
 * Every day from the first to `to`, those without anything too, so that a chart's axis is time. More than 100 days are folded to weeks
 * from Monday on, more than two years to months.
 */
export function toBuckets<T extends { day: string }>(
  days: readonly T[],
  to: string,
): { unit: BucketUnit; buckets: Bucket<T>[] } {
  const first = days[0]?.day;
  if (first === undefined) return { unit: "day", buckets: [] };
  const last = [to, days.at(-1)?.day ?? to].sort()[1] ?? to;
  const [start, end] = [Date.parse(first), Date.parse(last)];
  const count = Math.round((end - start) / DAY_MS) + 1;
  const unit = count <= 100 ? "day" : count <= 731 ? "week" : "month";
  const known = new Map(days.map((one) => [one.day, one]));
  const buckets: Bucket<T>[] = [];
  for (let ms = start; ms <= end; ms += DAY_MS) {
    const day = name(ms);
    const begins =
      unit === "day" ||
      (unit === "week" ? new Date(ms).getUTCDay() === 1 : day.endsWith("-01")) ||
      buckets.length === 0;
    if (begins) buckets.push({ key: day, from: day, to: day, days: [] });
    const bucket = buckets.at(-1);
    const one = known.get(day);
    if (!bucket) continue;
    bucket.to = day;
    if (one) bucket.days.push(one);
  }
  return { unit, buckets };
}
