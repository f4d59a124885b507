/** What providers reported about their limits: how much of a window was used, and when it resets. */
import type { Database, LimitReading, Statement } from "sessarc";
import { QUARTER_MS } from "./buckets.ts";
import type { Reading } from "./windows.ts";

export const toReadings = (tool: string, list: readonly LimitReading[]): Reading[] =>
  list.map(({ minutes, at, resetsAt, usedPercent }) => ({
    tool,
    minutes,
    at: Date.parse(at),
    resetsAt: Date.parse(resetsAt),
    usedPercent,
  }));

/** Statements that store readings; of one window and quarter-hour the last is stored. */
export const writeReadings = (readings: readonly Reading[]): Statement[] =>
  readings.map(({ tool, minutes, at, resetsAt, usedPercent }) => [
    `insert into usage_limit values (?, ?, ?, ?, ?, ?) on conflict (tool, minutes, quarter) do update
       set at = excluded.at, resets = excluded.resets, used = excluded.used where excluded.at >= usage_limit.at`,
    [tool, minutes, Math.floor(at / QUARTER_MS), at, resetsAt, usedPercent],
  ]);

/** Readings of windows of this length, by time. */
export function readReadings(db: Database, minutes: number): Promise<Reading[]> {
  return db.all<Reading>(
    `select tool, minutes, at, resets as resetsAt, used as usedPercent from usage_limit where minutes = ? order by at`,
    [minutes],
  );
}

/** Readings of the windows that reset after `now`, by time. */
export const runningReadings = (db: Database, now: number): Promise<Reading[]> =>
  db.all<Reading>(
    "select tool, minutes, at, resets as resetsAt, used as usedPercent from usage_limit where resets > ? and at <= ? order by at",
    [now, now],
  );
