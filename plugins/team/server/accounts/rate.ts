/** How often one address may ask for something that takes guessing. */
import { BoundedMap, SessarcError } from "sessarc";

/** Addresses remembered; the oldest window goes first. */
const REMEMBERED = 10_000;

export interface RateLimit {
  /** Counts a call. Seconds until the next one is allowed; 0: this one is. */
  count(name: string): number;
  /** Counts a call; throws TEAM_RATE_LIMITED for one too many. */
  check(name: string): void;
}

/** At most `most` calls in `ms` for each name. Each node counts alone. */
export function createRateLimit(most: number, ms: number): RateLimit {
  const windows = new BoundedMap<string, { until: number; count: number }>(REMEMBERED);
  const count = (name: string): number => {
    const now = performance.now();
    let window = windows.get(name);
    if (!window || window.until <= now) {
      window = { until: now + ms, count: 0 };
      windows.set(name, window);
    }
    window.count++;
    return window.count > most ? Math.ceil((window.until - now) / 1000) : 0;
  };
  return {
    count,
    check(name) {
      const seconds = count(name);
      if (seconds > 0) throw new SessarcError("TEAM_RATE_LIMITED", { seconds });
    },
  };
}
