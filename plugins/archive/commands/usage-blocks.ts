/** `sessarc usage blocks`: usage by window of a plan, with burn rate and projection. */
import { setTimeout as delay } from "node:timers/promises";
import {
  type Column,
  type CommandContext,
  createStyle,
  formatCount,
  formatDuration,
  formatShort,
  formatTable,
  printable,
  type Style,
  UsageError,
  widthOf,
} from "sessarc/terminal";
import type { Cost } from "../catalogue/types.ts";
import { numberFlag, textFlag } from "./_flags.ts";
import { toEstimate, toMoney } from "./_session.ts";

/** What GET /usage?by=block answers. */
export interface BlocksAnswer {
  minutes: number;
  tz: string;
  rows: Block[];
  totals: { sessions: number; tokens: Tokens; cost: Cost };
}
interface Block {
  tool: string;
  start: string;
  end: string;
  sessions: number;
  tokens: Tokens;
  cost: Cost;
  active: boolean;
  burn: { tokensPerMinute: number; microdollarsPerHour: number };
  projection: { tokens: number; microdollars: number } | null;
  reported: { usedPercent: number; at: string; resetsAt: string } | null;
}
type Tokens = Record<"input" | "output" | "cacheWrite5m" | "cacheWrite1h" | "cacheRead", number>;

type Query = Record<"from" | "to" | "tool" | "project", string | undefined> & { tz: string };

/** How often the live view asks. */
const LIVE_MS = 2_000;

export async function showBlocks(ctx: CommandContext, query: Query): Promise<number> {
  const length = textFlag(ctx, "length");
  const limit = numberFlag(ctx, "limit", 1, 1000);
  const ask = (more: Partial<Query> = {}) =>
    ctx.get<BlocksAnswer>("/usage", { by: "block", length, ...query, ...more }, ctx.signal);
  if (ctx.flags.live === true) return watchBlocks(ctx, ask, query.tz);
  const answer = await ask();
  const rows = ctx.flags.order === "desc" ? answer.rows.toReversed() : answer.rows;
  const shown = { ...answer, rows: rows.slice(0, limit) };
  if (ctx.json) ctx.answer(shown);
  else if (rows.length === 0) ctx.err("No usage in this range. `sessarc import` reads the logs.");
  else print(ctx, shown);
  return rows.length > 0 ? 0 : 3;
}

/** Redraws the running windows until the user ends it. */
async function watchBlocks(
  ctx: CommandContext,
  ask: (more: Partial<Query>) => Promise<BlocksAnswer>,
  tz: string,
): Promise<number> {
  if (ctx.columns === undefined || ctx.json)
    throw new UsageError("--live needs a terminal; `sessarc usage blocks --json` answers once");
  const style = createStyle(ctx.colour);
  let lines = 0;
  let from = dayBefore(Date.now(), MOST_MINUTES);
  while (!ctx.signal.aborted) {
    const now = Date.now();
    const answer = await ask({ from, to: undefined }).catch((error: unknown) => {
      if (ctx.signal.aborted) return undefined;
      throw error;
    });
    if (!answer) break;
    // A window that is running began at most its length ago.
    from = dayBefore(now, answer.minutes);
    const frame = liveFrame(answer, now, { tz, width: ctx.columns, style });
    // Up to the first line of the previous frame, and clear from there.
    if (lines > 0) ctx.outRaw(`\u001b[${lines}A\u001b[J`);
    ctx.out(frame);
    lines = frame.split("\n").length;
    await delay(LIVE_MS, undefined, { signal: ctx.signal }).catch(() => {});
  }
  return 0;
}

/** The longest window that can be asked for. */
const MOST_MINUTES = 31 * 1440;

/** A day that is over in every zone `minutes` before `now`. */
const dayBefore = (now: number, minutes: number) =>
  new Date(now - minutes * 60_000 - 86_400_000).toISOString().slice(0, 10);

interface Look {
  tz: string;
  width: number;
  style: Style;
}

/** One picture of the running windows. */
export function liveFrame({ rows, minutes }: BlocksAnswer, now: number, { tz, width, style }: Look): string {
  const running = rows.filter(({ active }) => active);
  if (running.length === 0)
    return style.dim(
      `No window of ${lengthName(minutes)} is running; the next begins with the next reply. Ctrl-C ends.`,
    );
  const clock = toClock(tz);
  return running
    .flatMap((row) => {
      const [start, end] = [Date.parse(row.start), Date.parse(row.end)];
      const room = Math.max(10, Math.min(60, width - 30));
      const bar = (share: number) => {
        const full = Math.round(Math.min(1, Math.max(0, share)) * room);
        return `${style.blue("█".repeat(full))}${style.dim("░".repeat(room - full))}`;
      };
      const left = formatDuration(end - now);
      return [
        `${style.bold(printable(row.tool))}  ${clock(row.start)} – ${clock(row.end)}, ${left} left`,
        `  time   ${bar((now - start) / (end - start))} ${Math.round(((now - start) / (end - start)) * 100)} %`,
        ...(row.reported
          ? [`  limit  ${bar(row.reported.usedPercent / 100)} ${percent(row.reported.usedPercent)} used`]
          : []),
        ...toDetails(row, tz).map((line) => `  ${line}`),
        "",
      ];
    })
    .concat(style.dim("Ctrl-C ends"))
    .join("\n");
}

function print(ctx: CommandContext, { rows, totals, tz }: BlocksAnswer): void {
  const style = createStyle(ctx.colour);
  const tables = LAYOUTS.filter(({ wide }) => !wide || ctx.flags.compact !== true).map((layout) =>
    formatTable(toColumns(rows, layout, tz), rows, { head: style.dim, width: ctx.columns }),
  );
  const fits = (table: string) =>
    table.split("\n").every((line) => widthOf(line) <= (ctx.columns ?? Number.POSITIVE_INFINITY));
  ctx.out(tables.find(fits) ?? tables.at(-1) ?? "");
  for (const row of rows.filter(({ active }) => active)) {
    ctx.out("");
    ctx.out(`${style.bold(printable(row.tool))}: window of ${toClock(tz)(row.start)}`);
    for (const line of toDetails(row, tz)) ctx.out(`  ${line}`);
  }
  ctx.err(toEstimate(totals.cost));
}

interface Layout {
  wide: boolean;
  short: boolean;
  rate: boolean;
}
/** The first one that fits the terminal is shown. */
const LAYOUTS: readonly Layout[] = [
  { wide: true, short: false, rate: true },
  { wide: true, short: true, rate: true },
  { wide: false, short: true, rate: true },
  { wide: false, short: true, rate: false },
];

function toColumns(rows: readonly Block[], { wide, short, rate }: Layout, tz: string): Column<Block>[] {
  const count = short ? formatShort : formatCount;
  const clock = toClock(tz);
  const columns: (Column<Block> | false)[] = [
    { title: "window", value: ({ start }) => clock(start) },
    { title: "until", value: (row) => toUntil(row, clock) },
    new Set(rows.map(({ tool }) => tool)).size > 1 && {
      title: "assistant",
      value: ({ tool }) => printable(tool),
      shrink: true,
      least: 11,
    },
    wide && { title: "sessions", align: "right", value: ({ sessions }) => formatCount(sessions) },
    { title: "tokens", align: "right", value: ({ tokens }) => count(computeTotal(tokens)) },
    { title: "cost", align: "right", value: ({ cost }) => toMoney(cost) },
    wide && { title: "tokens/min", align: "right", value: ({ burn }) => count(burn.tokensPerMinute) },
    rate && { title: "cost/h", align: "right", value: ({ burn, cost }) => toRate(burn.microdollarsPerHour, cost) },
    { title: "limit", align: "right", value: ({ reported }) => (reported ? percent(reported.usedPercent) : "") },
    { title: "", value: ({ active }) => (active ? "running" : "") },
  ];
  return columns.filter((column) => column !== false);
}

/** What is said about a running window. */
function toDetails({ tokens, cost, burn, projection, reported, end }: Block, tz: string): string[] {
  const clock = toClock(tz);
  return [
    `so far       ${toMoney(cost)}, ${formatShort(computeTotal(tokens))} tokens`,
    `burn rate    ${toRate(burn.microdollarsPerHour, cost)}/h, ${formatShort(burn.tokensPerMinute)} tokens/min`,
    ...(projection
      ? [
          `at the end   ${toRate(projection.microdollars, cost)}, ${formatShort(projection.tokens)} tokens at ${clock(end)} if it goes on so`,
        ]
      : []),
    ...(reported
      ? [
          `provider     ${percent(reported.usedPercent)} used at ${clock(reported.at)}, resets ${clock(reported.resetsAt)}`,
        ]
      : []),
  ];
}

/** Money that follows from a cost leaves out the same models. */
const toRate = (microdollars: number, { unpriced }: Cost) => toMoney({ microdollars, unpriced });

const computeTotal = (tokens: Tokens) => Object.values(tokens).reduce((sum, n) => sum + n, 0);

const percent = (value: number) => `${Number(value.toFixed(1))} %`;

const lengthName = (minutes: number) =>
  minutes % 1440 === 0 ? `${minutes / 1440} d` : minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;

/** The day is left out where it is that of the start. */
function toUntil({ start, end }: Block, clock: (iso: string) => string): string {
  const [from, to] = [clock(start), clock(end)];
  return from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to.slice(5);
}

/** `2026-11-20 15:04` in a zone. */
function toClock(timeZone: string): (iso: string) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return (iso) => format.format(new Date(iso));
}
