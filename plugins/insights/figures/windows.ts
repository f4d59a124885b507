/**
 * Windows of use, as plans count them: a window begins at the full UTC hour of the first use after the previous window has ended, and
 * lasts a fixed time. Where a provider reported when a window resets, that window is the provider's.
 */
import { QUARTER_MS } from "./buckets.ts";

/** In quarter-hours since the epoch; `end` is not part of it. */
export interface UseWindow {
  start: number;
  end: number;
}

/** What a provider reported about a window that is as long as those asked for. */
export interface Reading {
  tool: string;
  /** Length of the window. */
  minutes: number;
  /** When it was reported, and when the window resets, in ms. */
  at: number;
  resetsAt: number;
  usedPercent: number;
}

const QUARTERS_AN_HOUR = 4;

/**
 * The windows that hold `quarters` (ascending quarter-hours with tokens). `known`: windows that the provider reported, by start. A
 * computed window ends early where a reported one begins.
 */
export function toWindows(quarters: Iterable<number>, length: number, known: readonly UseWindow[] = []): UseWindow[] {
  const windows: UseWindow[] = [];
  let end = Number.NEGATIVE_INFINITY;
  let next = 0;
  for (const quarter of quarters) {
    while (next < known.length && (known[next]?.end ?? 0) <= quarter) next++;
    const reported = known[next];
    if (reported && reported.start <= quarter) {
      if (windows.at(-1) !== reported) windows.push(reported);
      end = reported.end;
      continue;
    }
    if (quarter < end) continue;
    const hour = Math.floor(quarter / QUARTERS_AN_HOUR) * QUARTERS_AN_HOUR;
    const start = Math.max(hour, end);
    end = Math.min(start + length, reported?.start ?? Number.POSITIVE_INFINITY);
    windows.push({ start, end });
  }
  return windows;
}

/** The windows that readings of one tool name, by start. Of two that overlap the later reading counts. */
export function reportedWindows(readings: readonly Reading[]): UseWindow[] {
  const windows: UseWindow[] = [];
  for (const { resetsAt, minutes } of readings.toSorted((a, b) => b.at - a.at)) {
    const end = Math.round(resetsAt / QUARTER_MS);
    const start = end - Math.round((minutes * 60_000) / QUARTER_MS);
    if (windows.every((one) => end <= one.start || start >= one.end)) windows.push({ start, end });
  }
  return windows.sort((a, b) => a.start - b.start);
}

/** Index of the window that holds `quarter`; -1: none does. */
export function windowAt(windows: readonly UseWindow[], quarter: number): number {
  let [low, high] = [0, windows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((windows[middle]?.end ?? 0) <= quarter) low = middle + 1;
    else high = middle;
  }
  const found = windows[low];
  return found && found.start <= quarter ? low : -1;
}
