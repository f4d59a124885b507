/** When a service that crashed is started again. */
import type { Restart } from "./state.ts";

const HOUR_MS = 3_600_000;
const MOST_AN_HOUR = 5;

/** Exit code of a service whose archive is open elsewhere. */
export const LOCKED = 4;

/** Whether another start may end otherwise: not after wrong usage (2), nor while the archive is open elsewhere (4). */
export const willHelp = (code: number): boolean => code !== 2 && code !== LOCKED;

/** How long to wait, in ms: 1, 4, 16, 64, 256 s with each restart of the last hour; undefined after five. */
export function pauseBefore(restarts: readonly Pick<Restart, "at">[], now: number): number | undefined {
  const recent = restarts.filter(({ at }) => Math.abs(now - Date.parse(at)) < HOUR_MS).length;
  return recent < MOST_AN_HOUR ? 1_000 * 4 ** recent : undefined;
}
