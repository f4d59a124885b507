/** How often one address may ask for something that takes guessing. */
import { SessarcError } from "sessarc";

/** Addresses remembered; the oldest window goes first. */
const REMEMBERED = 10_000;

/** At most `most` calls in `ms` for each name; throws TEAM_RATE_LIMITED. Each node counts alone. */
export function createRateLimit(most: number, ms: number): (name: string) => void {
  const windows = new Map<string, { until: number; count: number }>();
  return (name) => {
    const now = performance.now();
    let window = windows.get(name);
    if (!window || window.until <= now) {
      windows.delete(name);
      window = { until: now + ms, count: 0 };
      windows.set(name, window);
      for (const oldest of windows.keys()) if (windows.size > REMEMBERED) windows.delete(oldest);
    }
    window.count++;
    if (window.count > most)
      throw new SessarcError("TEAM_RATE_LIMITED", { seconds: Math.ceil((window.until - now) / 1000) });
  };
}
