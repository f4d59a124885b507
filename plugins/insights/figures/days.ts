/** What a rollup holds of the days of a range, as local days of a zone see it. Cost grows with the days; about 3 ms for a full year. */
import { emptyUsage } from "sessarc";
import type { Prices } from "../prices/pricing.ts";
import { type DayRange, inRange, QUARTER_MS, type Zone } from "./buckets.ts";
import type { Cells } from "./cells.ts";
import { FIELDS, type TokenSlot } from "./packed.ts";
import {
  beforeRoot,
  type GroupChoice,
  isOf,
  keyOf,
  QUARTERS_A_DAY,
  quarterOfRoot,
  type Rollup,
  type RollupDay,
} from "./rollup.ts";

export interface DayReader {
  /** What was done in a quarter-hour. */
  onSlot(day: number, tool: string, messages: number, activeMs: number, errors: number, quarter: number): void;
  /** Tokens of one local day at one price; `quarter` is the first of theirs. */
  onTokens(day: number, tool: string, slot: TokenSlot): void;
  /**
   * `count` sessions that were there on `day` (with a tool, or with any: null) and before that last on `before` (null: never). To be added
   * up: a count may be negative.
   */
  onSessions?(day: number, tool: string | null, before: number | null, count: number): void;
}

/** Hands over all of the chosen groups that lies on days in the range, in no order. In one go: nothing changes meanwhile. */
export function readDays(
  rollup: Rollup,
  zone: Zone,
  range: DayRange,
  prices: Prices,
  use: DayReader,
  of: GroupChoice = {},
): void {
  const timed = new Map<string, boolean>();
  const changes = (model: string) => {
    let known = timed.get(model);
    if (known === undefined) {
      known = prices.keyAt(model, 0) !== model;
      timed.set(model, known);
    }
    return known;
  };
  const all = keyOf(of);
  for (const [utcDay, { groups, shared }] of daysIn(rollup, range)) {
    const first = utcDay * QUARTERS_A_DAY;
    const readRoots = (cells: Cells | undefined, ...tools: (string | null)[]) => {
      if (cells && use.onSessions) eachRoot(cells, utcDay, zone, range, tools, use.onSessions);
    };
    const tools = new Set<string>();
    for (const group of groups.values()) {
      if (!isOf(group, of)) continue;
      const { tool, slots, tokens, roots } = group;
      tools.add(tool);
      for (let i = 0; i < slots.length; i++) {
        const quarter = first + slots.key(i);
        const day = zone.day(quarter);
        if (inRange(day, range))
          use.onSlot(day, tool, slots.figure(i, 0), slots.figure(i, 1), slots.figure(i, 2), quarter);
      }
      for (const [model, cells] of tokens) {
        const keyAt = changes(model) ? (quarter: number) => prices.keyAt(model, quarter * QUARTER_MS) : undefined;
        eachRun(cells, first, zone, keyAt, (day, slot) => {
          if (inRange(day, range)) use.onTokens(day, tool, { ...slot, model });
        });
      }
      readRoots(roots, tool, null);
    }
    readRoots(shared.get(all), null);
    for (const tool of tools) readRoots(shared.get(keyOf({ ...of, tool })), tool);
  }
}

/** UTC days that local days of the range may share: no zone is a day or more from UTC. */
function* daysIn({ days }: Rollup, { from, to }: DayRange): Generator<readonly [number, RollupDay]> {
  if (from !== null && to !== null && to - from < days.size) {
    for (let number = from - 1; number <= to + 1; number++) {
      const day = days.get(number);
      if (day) yield [number, day];
    }
    return;
  }
  for (const entry of days)
    if ((from === null || entry[0] >= from - 1) && (to === null || entry[0] <= to + 1)) yield entry;
}

/** Neighbours of one local day and one price, as one. */
function eachRun(
  cells: Cells,
  first: number,
  zone: Zone,
  keyAt: ((quarter: number) => string) | undefined,
  use: (day: number, slot: Omit<TokenSlot, "model">) => void,
): void {
  let tokens = emptyUsage();
  let start = 0;
  let day: number | undefined;
  let key: string | undefined;
  for (let i = 0; i < cells.length; i++) {
    const quarter = first + cells.key(i);
    const [nextDay, nextKey] = [zone.day(quarter), keyAt?.(quarter)];
    if (nextDay !== day || nextKey !== key) {
      if (day !== undefined) use(day, { quarter: start, tokens });
      tokens = emptyUsage();
      [start, day, key] = [quarter, nextDay, nextKey];
    }
    for (let column = 0; column < FIELDS.length; column++)
      tokens[FIELDS[column] as (typeof FIELDS)[number]] += cells.figure(i, column);
  }
  if (day !== undefined) use(day, { quarter: start, tokens });
}

function eachRoot(
  cells: Cells,
  utcDay: number,
  zone: Zone,
  range: DayRange,
  tools: readonly (string | null)[],
  use: NonNullable<DayReader["onSessions"]>,
): void {
  for (let i = 0; i < cells.length; i++) {
    const key = cells.key(i);
    const quarter = quarterOfRoot(utcDay, key);
    const day = zone.day(quarter);
    if (!inRange(day, range)) continue;
    const distance = beforeRoot(key);
    const before = distance === undefined ? null : zone.day(quarter - distance);
    if (before !== day) for (const tool of tools) use(day, tool, before, cells.figure(i, 0));
  }
}
