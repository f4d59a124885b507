/** Figures of Home and of a project, as the screens take them. */
import type { Cost } from "../format.ts";

export type Usage = Record<
  string,
  { input: number; output: number; cacheWrite5m: number; cacheWrite1h: number; cacheRead: number }
>;
export interface Totals {
  sessions: number;
  messages: number;
  activeMs: number;
  errors: number;
  usage: Usage;
  cost: Cost | null;
}

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

/** Days of one month or week folded when there are more than fit: at most `max` buckets. */
export function bucketsOf<T extends { day: string }>(days: readonly T[], max = 100): { key: string; days: T[] }[] {
  const unit = days.length <= max ? 10 : 7;
  const groups = new Map<string, T[]>();
  for (const one of days) {
    const key = one.day.slice(0, unit);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].map(([key, list]) => ({ key, days: list }));
}
