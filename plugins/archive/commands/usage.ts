import {
  type Column,
  type CommandContext,
  createProgress,
  createStyle,
  emptyUsage,
  formatCount,
  formatMoney,
  formatTable,
  printable,
  type SessionUsage,
  type TokenUsage,
  UsageError,
} from "sessarc";
import type { Cost } from "../catalogue/types.ts";

/** What GET /usage answers. */
export interface UsageAnswer {
  by: string;
  /** Rows in the order they are shown: time going on, else the largest first. */
  rows: UsageRow[];
  totals: Omit<UsageRow, "key" | "label">;
  evidence?: { records: number; requests: number; duplicatesFolded: number; inheritedExcluded: number } | null;
  /** Logs that could not be read, of a stateless answer. */
  failed?: readonly { id: string; message: string }[];
}
export interface UsageRow {
  /** Day, week, month, session, model, project or tool. */
  key: string;
  label?: string | null;
  sessions: number;
  /** Not counted from logs alone. */
  messages?: number | null;
  usage: SessionUsage;
  cost: Cost | null;
}

const PERIODS = {
  daily: "day",
  weekly: "week",
  monthly: "month",
  session: "session",
  model: "model",
  project: "project",
  tool: "tool",
} as const;

export async function run(ctx: CommandContext): Promise<number> {
  const query = readQuery(ctx);
  const answer = await ask(ctx, query);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else print(ctx, answer);
  return answer.rows.length > 0 ? 0 : 3;
}

type Query = { by: (typeof PERIODS)[keyof typeof PERIODS] } & Record<
  "from" | "to" | "tool" | "project" | "tz",
  string | undefined
>;

function readQuery(ctx: CommandContext): Query {
  const [period = "daily", ...rest] = ctx.args;
  if (!(period in PERIODS) || rest.length > 0) {
    throw new UsageError(
      `\`sessarc usage\` takes one of ${Object.keys(PERIODS).join(", ")}, not ${JSON.stringify(ctx.args.join(" "))}`,
    );
  }
  const text = (name: string) => (typeof ctx.flags[name] === "string" ? (ctx.flags[name] as string) : undefined);
  return {
    by: PERIODS[period as keyof typeof PERIODS],
    from: readDay(text("since"), "since"),
    to: readDay(text("until"), "until"),
    tool: text("tool"),
    project: text("project"),
    tz: readZone(text("tz")),
  };
}

/** `2026-11-01`, `20261101`, or `7d`: seven days before today. */
function readDay(value: string | undefined, flag: string): string | undefined {
  if (value === undefined) return undefined;
  const ago = /^(\d{1,4})d$/.exec(value);
  if (ago) {
    const day = new Date();
    day.setDate(day.getDate() - Number(ago[1]));
    return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
  }
  const parts = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(value);
  const day = parts ? `${parts[1]}-${parts[2]}-${parts[3]}` : "";
  const time = Date.parse(`${day}T00:00:00Z`);
  // Date.parse takes the 31st of any month for a day of the next.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day) {
    throw new UsageError(`--${flag} takes a day as 2026-11-01 or 7d, not ${JSON.stringify(value)}`);
  }
  return day;
}

function readZone(value: string | undefined): string {
  if (value === undefined) return Intl.DateTimeFormat().resolvedOptions().timeZone;
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return value;
  } catch {
    throw new UsageError(`--tz takes a time zone as Europe/Berlin or UTC, not ${JSON.stringify(value)}`);
  }
}

async function ask(ctx: CommandContext, query: Query): Promise<UsageAnswer> {
  if (ctx.flags.stateless !== true) return ctx.get<UsageAnswer>("/usage", query, ctx.signal);
  const { by, project, ...rest } = query;
  if (by === "project" || project !== undefined) {
    // Which folders are one project only an archive can tell.
    await importIntoScratch(ctx);
    return ctx.get<UsageAnswer>("/usage", query, ctx.signal);
  }
  const kernel = await ctx.scratch();
  const answer: UsageAnswer = await kernel.inject("insights").stateless({ by, ...rest });
  for (const { id, message } of answer.failed ?? []) ctx.err(printable(`not read: ${id}: ${message}`));
  return answer;
}

/** After it, `ctx.get` asks an archive of this command's own that holds everything there is. */
async function importIntoScratch(ctx: CommandContext): Promise<void> {
  const kernel = await ctx.scratch();
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  try {
    const { importer } = kernel.inject("archive");
    const { choose, named } = await importer.select({ all: true });
    const report = await importer.run(choose, named, (frame) => {
      if (frame.type === "progress") progress.update(frame);
    });
    progress.clear();
    for (const { id, message } of report.failed) ctx.err(printable(`not read: ${id}: ${message}`));
  } finally {
    progress.clear();
  }
}

interface Line {
  name: string;
  tokens: TokenUsage;
  sessions: string;
  cost: Cost | null | undefined;
}

function print(ctx: CommandContext, answer: UsageAnswer): void {
  if (answer.rows.length === 0) {
    ctx.err("No usage in this range. `sessarc import` reads the logs.");
    return;
  }
  const style = createStyle(ctx.colour);
  const lines = answer.rows.flatMap((row) => [
    toLine(row, nameOf(row)),
    ...(ctx.flags.breakdown === true ? perModel(row.usage) : []),
  ]);
  const total = toLine(answer.totals, "total");
  ctx.out(formatTable(columns(answer.by), lines, { head: style.dim, foot: [total], width: ctx.columns }));
  const { cost } = answer.totals;
  if (cost)
    ctx.err(
      `estimated with prices of ${cost.pricedAt}${cost.unpriced.length > 0 ? `; no price for ${cost.unpriced.join(", ")}` : ""}`,
    );
  if (ctx.flags.evidence === true && answer.evidence) {
    const { records, requests, duplicatesFolded, inheritedExcluded } = answer.evidence;
    ctx.out(
      `${formatCount(records)} usage records → ${formatCount(requests)} replies counted once; ` +
        `${formatCount(duplicatesFolded)} repeats folded, ${formatCount(inheritedExcluded)} copies of other sessions left out`,
    );
  }
}

const nameOf = (row: UsageRow) => printable(row.label ? `${row.label}` : row.key).replace(/\s+/g, " ");

function columns(by: string): Column<Line>[] {
  const tokens = (title: string, key: (t: TokenUsage) => number): Column<Line> => ({
    title,
    align: "right",
    value: (line) => formatCount(key(line.tokens)),
  });
  return [
    { title: by, value: (line) => line.name, shrink: true },
    { title: "sessions", align: "right", value: (line) => line.sessions },
    tokens("input", (t) => t.input),
    tokens("output", (t) => t.output),
    tokens("cache write", (t) => t.cacheWrite5m + t.cacheWrite1h),
    tokens("cache read", (t) => t.cacheRead),
    tokens("total", (t) => t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead),
    { title: "cost", align: "right", value: (line) => (line.cost ? formatMoney(line.cost.microdollars) : "") },
  ];
}

function toLine(row: Omit<UsageRow, "key" | "label">, name: string): Line {
  return { name, tokens: sum(Object.values(row.usage)), sessions: formatCount(row.sessions), cost: row.cost };
}

function perModel(usage: SessionUsage): Line[] {
  return Object.entries(usage).map(([model, tokens]) => ({
    name: `  ${printable(model)}`,
    tokens,
    sessions: "",
    cost: undefined,
  }));
}

function sum(list: readonly TokenUsage[]): TokenUsage {
  const total = emptyUsage();
  for (const tokens of list) {
    for (const key of Object.keys(total) as (keyof TokenUsage)[]) total[key] += tokens[key];
  }
  return total;
}
