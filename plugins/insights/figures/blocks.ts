/** Usage by window of a plan: five hours, a week, or any length. */
import type { Database } from "sessarc";
import { QUARTER_MS } from "./buckets.ts";
import { readReadings } from "./limits.ts";
import { type Asked, readEvidence, usedQuarters, usedTokens, usedWork } from "./questions.ts";
import { priceNotes, rangeNames, sums, type UsageReport, type UsageRow } from "./report.ts";
import { edgesIn, inDays } from "./sql.ts";
import { at, computeTotal, Tally } from "./tally.ts";
import { type Reading, reportedWindows, toWindows, type UseWindow, windowAt } from "./windows.ts";

/** Averages since the first use of the window; times are known to the quarter-hour. */
export interface Burn {
  tokensPerMinute: number;
  microdollarsPerHour: number;
}
/** What the provider reported within a window. */
export interface Reported {
  usedPercent: number;
  at: string;
  resetsAt: string;
}
/** A window in which a tool was used; `key` is the tool and the start. */
export interface BlockRow extends UsageRow {
  tool: string;
  start: string;
  /** When it is over; not part of it. */
  end: string;
  /** The quarter-hours of the first and the last use: the beginning of the one, the end of the other. */
  firstAt: string;
  lastAt: string;
  /** It holds the present time. */
  active: boolean;
  burn: Burn;
  /** Tokens and cost at the end of the window if the burn rate holds; null for a window that is over. */
  projection: { tokens: number; microdollars: number } | null;
  /** The last figure of the provider in the window; null where none was logged. */
  reported: Reported | null;
}
export interface BlockReport extends Omit<UsageReport, "by" | "rows"> {
  by: "block";
  /** Length of a window. */
  minutes: number;
  /** Time going on; those that begin in the range, each as a whole. */
  rows: BlockRow[];
}

/** A window with its figures, whatever the time is now. */
type Block = Omit<BlockRow, "active" | "burn" | "projection">;
type Blocks = Omit<BlockReport, "rows"> & { rows: Block[] };

/** Finds the windows of each tool and adds up what the chosen sessions used in them. Windows begin with the use of all of a tool's sessions. */
export async function blocks(db: Database, asked: Asked, minutes: number): Promise<Blocks> {
  const length = (minutes * 60_000) / QUARTER_MS;
  const { scope, prices } = asked;
  const edges = edgesIn(scope);
  const span = { from: await chainStart(db, asked, edges.fromMaybe, length), to: edges.toMaybe + length };
  const [used, tokens, work, readings, evidence] = await Promise.all([
    usedQuarters(db, asked, span),
    usedTokens(db, asked, span),
    usedWork(db, asked, span),
    readReadings(db, minutes),
    readEvidence(db, asked),
  ]);
  const windows = windowsByTool(used, length, readings);
  const rows = new Map<string, Sum>();
  const totals = new Tally(prices);
  /** The sum of the window that holds a quarter-hour; undefined outside of all windows that were asked for. */
  const sumAt = (tool: string, quarter: number): Sum | undefined => {
    const all = windows.get(tool) ?? [];
    const window = all[windowAt(all, quarter)];
    if (!window || !inDays(scope, window.start)) return undefined;
    return at(rows, `${tool} ${window.start}`, () => ({
      tool,
      window,
      tally: new Tally(prices),
      first: quarter,
      last: quarter,
    }));
  };
  for (const slot of tokens) {
    const sum = sumAt(slot.tool, slot.quarter);
    if (!sum) continue;
    sum.tally.addTokens(slot);
    totals.addTokens(slot);
    sum.first = Math.min(sum.first, slot.quarter);
    sum.last = Math.max(sum.last, slot.quarter);
  }
  for (const one of work) {
    const all = windows.get(one.tool) ?? [];
    const window = all[windowAt(all, one.quarter)];
    // Messages alone make no row: a window is one of tokens.
    const sum = window && rows.get(`${one.tool} ${window.start}`);
    if (!sum) continue;
    for (const tally of [sum.tally, totals]) {
      tally.addWork(one);
      tally.addRoot(one.root);
    }
  }
  const list = [...rows.values()].sort((a, b) => a.window.start - b.window.start || (a.tool < b.tool ? -1 : 1));
  const total = sums(totals);
  return {
    by: "block",
    minutes,
    ...rangeNames(scope),
    rows: list.map((sum) => toBlock(sum, readings)),
    rowCount: list.length,
    totals: total,
    evidence,
    ...priceNotes(total, prices),
  };
}

/** The report at a moment: which windows are going on, how fast, and what they come to. */
export function blocksAt({ rows, ...rest }: Blocks, now: number): BlockReport {
  return { ...rest, rows: rows.map((row) => rowAt(row, now)) };
}

function rowAt(row: Block, now: number): BlockRow {
  const [start, end] = [Date.parse(row.start), Date.parse(row.end)];
  const active = start <= now && now < end;
  const until = active ? Math.max(now, Date.parse(row.lastAt) - QUARTER_MS) : Date.parse(row.lastAt);
  const elapsed = Math.max(QUARTER_MS, until - Date.parse(row.firstAt));
  const tokens = computeTotal(row.tokens);
  const { microdollars } = row.cost;
  const goesOn = (sum: number) => Math.round(sum + (sum / elapsed) * (end - now));
  return {
    ...row,
    active,
    burn: {
      tokensPerMinute: Math.round((tokens / elapsed) * 60_000),
      microdollarsPerHour: Math.round((microdollars / elapsed) * 3_600_000),
    },
    projection: active ? { tokens: goesOn(tokens), microdollars: goesOn(microdollars) } : null,
  };
}

interface Sum {
  tool: string;
  window: UseWindow;
  tally: Tally;
  /** Quarter-hours of the first and the last use. */
  first: number;
  last: number;
}

const QUARTERS_AN_HOUR = 4;
const iso = (quarter: number) => new Date(quarter * QUARTER_MS).toISOString();

function toBlock({ tool, window, tally, first, last }: Sum, readings: readonly Reading[]): Block {
  const start = iso(window.start);
  const own = readings.filter(
    (one) => one.tool === tool && one.at >= window.start * QUARTER_MS && one.at < window.end * QUARTER_MS,
  );
  const newest = own.reduce<Reading | undefined>((best, one) => (best && best.at > one.at ? best : one), undefined);
  return {
    key: `${tool} ${start}`,
    label: null,
    tool,
    start,
    end: iso(window.end),
    firstAt: iso(first),
    lastAt: iso(last + 1),
    reported: newest
      ? {
          usedPercent: newest.usedPercent,
          at: new Date(newest.at).toISOString(),
          resetsAt: new Date(newest.resetsAt).toISOString(),
        }
      : null,
    ...sums(tally),
  };
}

function windowsByTool(
  used: readonly { tool: string; quarter: number }[],
  length: number,
  readings: readonly Reading[],
): Map<string, UseWindow[]> {
  const quarters = new Map<string, number[]>();
  for (const { tool, quarter } of used) at(quarters, tool, () => []).push(quarter);
  return new Map(
    [...quarters].map(([tool, own]) => [
      tool,
      toWindows(own, length, reportedWindows(readings.filter((one) => one.tool === tool))),
    ]),
  );
}

/**
 * The quarter-hour before which no use decides about windows from `from` on: nothing was used for the length of a window before it. Reads
 * back in steps that double; a night is enough for windows of hours.
 */
async function chainStart(db: Database, asked: Asked, from: number, length: number): Promise<number> {
  if (!Number.isFinite(from)) return from;
  // A window may begin up to an hour before its first use.
  const gap = length + QUARTERS_AN_HOUR;
  let before = from;
  for (let step = Math.max(length * 2, 192); before > asked.known.first; step *= 2) {
    const low = before - step;
    const used = await usedQuarters(db, asked, { from: low, to: from });
    const quarters = [...new Set(used.map(({ quarter }) => quarter))].sort((a, b) => b - a);
    let later = from;
    for (const quarter of quarters) {
      if (later - quarter >= gap) return later;
      later = quarter;
    }
    if (later - low >= gap) return later;
    before = low;
  }
  return before;
}
