/** What the service reported about the plan's limits, beside the counts of tokens. */
import { BoundedMap, isRecord, type LimitReading, toNumber } from "sessarc";

/** Windows and quarter-hours that are remembered of a log, the last ones. */
const MOST = 200;
const QUARTER_MIN = 15;

interface Limits {
  /** `limits`: the `rate_limits` of a `token_count` event. */
  add(limits: unknown, at: string | undefined): void;
  /** Undefined without any. */
  list(): LimitReading[] | undefined;
}

/** The last reading of each window and quarter-hour. */
export function createLimits(): Limits {
  const kept = new BoundedMap<string, LimitReading>(MOST);
  const keep = (one: LimitReading) => kept.set(`${one.minutes} ${Math.floor(Date.parse(one.at) / 900_000)}`, one);
  return {
    add(limits, at) {
      if (!isRecord(limits) || at === undefined) return;
      for (const name of ["primary", "secondary"] as const) {
        const reading = toReading(limits[name], at);
        if (reading) keep(reading);
      }
    },
    list: () => (kept.size > 0 ? [...kept.values()] : undefined),
  };
}

function toReading(value: unknown, at: string): LimitReading | undefined {
  if (!isRecord(value)) return undefined;
  const usedPercent = toNumber(value.used_percent);
  const window = toNumber(value.window_minutes);
  const seconds = toNumber(value.resets_in_seconds);
  // Versions before 0.60 give the seconds that are left.
  const resets = toNumber(value.resets_at) ?? (seconds === undefined ? undefined : Date.parse(at) / 1000 + seconds);
  if (usedPercent === undefined || window === undefined || resets === undefined) return undefined;
  // Some versions write 299 and 10079.
  const minutes = Math.round(window / QUARTER_MIN) * QUARTER_MIN;
  if (minutes <= 0 || !(Math.abs(resets) < 1e11) || !(usedPercent >= 0 && usedPercent < 1e6)) return undefined;
  return { minutes, at, usedPercent, resetsAt: new Date(resets * 1000).toISOString() };
}
