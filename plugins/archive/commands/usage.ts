import type { SessionUsage, TokenUsage } from "sessarc";
import { emptyUsage } from "sessarc/adapter";
import { hasArchive } from "sessarc/storage";
import {
  type Column,
  type CommandContext,
  createProgress,
  createStyle,
  formatCount,
  formatMoney,
  formatShort,
  formatTable,
  oneLine,
  printable,
  toShortIds,
  UsageError,
  widthOf,
} from "sessarc/terminal";
import type { LeftOutNote, LeftOutReport } from "../catalogue/left-out.ts";
import type { Cost } from "../catalogue/types.ts";
import { dayFlag, numberFlag, textFlag } from "./_flags.ts";
import { findSession, NOT_LOGGED, toEstimate, toMoney } from "./_session.ts";

/** What GET /usage answers. */
export interface UsageAnswer {
  by: string;
  /** Rows in the order they are shown: time going on, else the largest first. */
  rows: UsageRow[];
  /** With those that a limit left out. */
  rowCount: number;
  totals: Omit<UsageRow, "key" | "label">;
  evidence?: { records: number; requests: number; duplicatesFolded: number; inheritedExcluded: number } | null;
  /** Logs that could not be read, of a stateless answer. */
  failed?: readonly { id: string; message: string }[];
  /** Logs with replies that do not count, of a stateless answer. */
  leftOut?: readonly LeftOutNote[];
}
export interface UsageRow {
  /** Day, week, month, session, model, project, branch, work tree or tool. */
  key: string;
  label?: string | null;
  sessions: number;
  /** Not counted from logs alone. */
  messages?: number | null;
  usage: SessionUsage;
  cost: Cost | null;
  /** Dearest first. Null: without a price. */
  models: { model: string; spellings: string[]; tokens: TokenUsage; microdollars: number | null }[];
}

const PERIODS = {
  daily: "day",
  weekly: "week",
  monthly: "month",
  session: "session",
  model: "model",
  project: "project",
  branch: "branch",
  worktree: "worktree",
  tool: "tool",
} as const;
type Period = keyof typeof PERIODS;

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args[0] === "blocks") return runBlocks(ctx);
  for (const name of ["length", "live"])
    if (ctx.flags[name] !== undefined) throw new UsageError(`--${name} is an option of \`sessarc usage blocks\``);
  const otlp = textFlag(ctx, "otlp");
  if (otlp !== undefined) return runOtlp(ctx, otlp);
  const limit = numberFlag(ctx, "limit", 1, 1000);
  const query = readQuery(ctx);
  // The first of the other order are the last of all.
  if (isUsualOrder(ctx, query.by)) query.limit = limit?.toString();
  const answer = inOrder(ctx, await ask(ctx, query), limit);
  if (ctx.json) ctx.answer(answer);
  else await print(ctx, answer);
  return answer.rows.length > 0 ? 0 : 3;
}

type Query = { by: (typeof PERIODS)[Period] } & Record<
  "from" | "to" | "tool" | "project" | "tz" | "session" | "limit",
  string | undefined
>;

function readQuery(ctx: CommandContext): Query {
  const [period = "daily", session, ...rest] = ctx.args;
  const extra = period === "session" ? rest[0] : session;
  if (extra !== undefined) throw new UsageError(`\`sessarc usage ${period}\` takes no ${JSON.stringify(extra)}`);
  return {
    by: PERIODS[period as Period],
    from: dayFlag(ctx, "since"),
    to: dayFlag(ctx, "until"),
    tool: textFlag(ctx, "tool"),
    project: textFlag(ctx, "project"),
    tz: readZone(textFlag(ctx, "tz")),
    session,
    limit: undefined,
  };
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

/** Time goes on and the dearest stands first, unless the user wants it the other way round. */
function isUsualOrder(ctx: CommandContext, by: string): boolean {
  const usual = ["day", "week", "month"].includes(by) ? "asc" : "desc";
  return ctx.flags.order === undefined || ctx.flags.order === usual;
}

function inOrder(ctx: CommandContext, answer: UsageAnswer, limit: number | undefined): UsageAnswer {
  const rows = isUsualOrder(ctx, answer.by) ? answer.rows : answer.rows.toReversed();
  return { ...answer, rows: rows.slice(0, limit) };
}

/** Sends what the archive has. */
async function runOtlp(ctx: CommandContext, endpoint: string): Promise<number> {
  const [period, session, ...extra] = ctx.args;
  if (extra.length > 0 || (period !== undefined && (period !== "session" || session === undefined)))
    throw new UsageError(
      "--otlp sends what the archive has by assistant and model, or `session <session>`: it takes no period",
    );
  const { readEndpoint, sendSession, sendUsage } = await import("./usage-otlp.ts");
  const url = readEndpoint(ctx, endpoint, session === undefined ? "metrics" : "traces");
  if (!(await hasSessions(ctx))) {
    ctx.err("Nothing is archived: `sessarc import` first.");
    return 3;
  }
  if (session !== undefined) return sendSession(ctx, url, session);
  const { from, to, tool, project, tz } = readQuery(ctx);
  await sendUsage(ctx, url, { from, to, tool, project, tz });
  return 0;
}

/** Windows of plans. Without an archive they come from one that holds all logs, for the length of this command. */
async function runBlocks(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 1) throw new UsageError(`\`sessarc usage blocks\` takes no ${JSON.stringify(ctx.args[1])}`);
  const { showBlocks } = await import("./usage-blocks.ts");
  if (ctx.flags.stateless === true || !(await hasSessions(ctx))) await importIntoScratch(ctx);
  return showBlocks(ctx, {
    from: dayFlag(ctx, "since"),
    to: dayFlag(ctx, "until"),
    tool: textFlag(ctx, "tool"),
    project: textFlag(ctx, "project"),
    tz: readZone(textFlag(ctx, "tz")),
  });
}

async function ask(ctx: CommandContext, query: Query): Promise<UsageAnswer> {
  if (ctx.flags.stateless === true) return askLogs(ctx, query);
  if (await hasSessions(ctx)) return askArchive(ctx, query);
  const answer = await askLogs(ctx, query);
  if (answer.rows.length > 0) ctx.err("Nothing is archived: counted from the logs. `sessarc import` keeps them.");
  return answer;
}

/** Asking must not make an archive where there is none. */
async function hasSessions(ctx: CommandContext): Promise<boolean> {
  if (!hasArchive(ctx.config.dataDir)) return false;
  return (await ctx.get<{ total: number }>("/sessions", { limit: "1" }, ctx.signal)).total > 0;
}

async function askArchive(ctx: CommandContext, query: Query): Promise<UsageAnswer> {
  const session = query.session && (await findSession(ctx, query.session)).id;
  nameLeftOut(ctx, await ctx.get<LeftOutReport>("/sessions/left-out", {}, ctx.signal));
  return ctx.get<UsageAnswer>("/usage", { ...query, session }, ctx.signal);
}

async function askLogs(ctx: CommandContext, query: Query): Promise<UsageAnswer> {
  const { by, project, session, limit: _, ...rest } = query;
  if (by === "project" || by === "branch" || by === "worktree" || project !== undefined || session !== undefined) {
    // Which folders are one project and work tree, and which session a text names, only an archive can tell.
    await importIntoScratch(ctx);
    return askArchive(ctx, query);
  }
  const kernel = await ctx.scratch();
  const answer: UsageAnswer = await kernel.inject("insights").stateless({ by, ...rest });
  for (const { id, message } of answer.failed ?? []) ctx.err(printable(`not read: ${id}: ${message}`));
  const { leftOut = [] } = answer;
  nameLeftOut(ctx, { sessions: leftOut.slice(0, NAMED), total: leftOut.length });
  return answer;
}

/** Sessions named one by one. */
const NAMED = 5;

function nameLeftOut(
  ctx: CommandContext,
  { sessions, total }: { sessions: readonly LeftOutNote[]; total: number },
): void {
  const named = sessions.slice(0, NAMED);
  for (const { id, reason } of named) ctx.err(printable(`${id}: ${reason}`));
  if (total > named.length) ctx.err(`${total - named.length} more sessions have replies that do not count`);
}

/** After it, `ctx.get` asks an archive of this command's own that holds everything there is. */
async function importIntoScratch(ctx: CommandContext): Promise<void> {
  const kernel = await ctx.scratch();
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  try {
    const { importer } = kernel.inject("archive/open");
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
  id: string;
  /** Undefined: no log has any. */
  tokens: TokenUsage | undefined;
  sessions: string;
  cost: string;
}

async function print(ctx: CommandContext, answer: UsageAnswer): Promise<void> {
  if (answer.rows.length === 0) {
    ctx.err(
      (await hasSessions(ctx))
        ? "No usage in this range."
        : "No logs with usage are found. `sessarc doctor --all` lists where they would be.",
    );
    return;
  }
  const style = createStyle(ctx.colour);
  const ids = answer.by === "session" ? toShortIds(answer.rows.map((row) => row.key)) : undefined;
  const lines = answer.rows.flatMap((row) => [
    toLine(row, toName(row), ids?.get(row.key)),
    ...(ctx.flags.breakdown === true && answer.by !== "model" ? row.models.map(toModelLine) : []),
  ]);
  const foot = [toLine(answer.totals, "total")];
  const tables = LAYOUTS.filter((layout) => layout.compact || ctx.flags.compact !== true).map((layout) =>
    formatTable(toColumns(answer.by, layout), lines, { head: style.dim, foot, width: ctx.columns }),
  );
  // The rule above the sums is as wide as the table.
  const fitting = tables.find(
    (table) => widthOf(table.split("\n").at(-2) ?? "") <= (ctx.columns ?? Number.POSITIVE_INFINITY),
  );
  ctx.out(fitting ?? tables.at(-1) ?? "");
  if (answer.rows.length < answer.rowCount)
    ctx.err(
      `${formatCount(answer.rows.length)} of ${formatCount(answer.rowCount)} rows${answer.by === "session" ? ", sub-agents included" : ""}; without --limit all of them`,
    );
  const { cost, models } = answer.totals;
  if (cost) ctx.err(toEstimate(cost));
  if (ctx.flags.evidence !== true) return;
  if (answer.evidence) {
    const { records, requests, duplicatesFolded, inheritedExcluded } = answer.evidence;
    ctx.out(
      `${formatCount(records)} usage records → ${formatCount(requests)} replies counted once; ` +
        `${formatCount(duplicatesFolded)} repeats folded, ${formatCount(inheritedExcluded)} copies of other sessions left out`,
    );
  }
  for (const { model, spellings } of models) {
    const others = spellings.filter((spelling) => spelling !== model);
    if (others.length > 0) ctx.out(printable(`${model}: spelled ${spellings.join(", ")}`));
  }
}

/** A date is shown in full. */
const PERIOD_KEYS: ReadonlySet<string> = new Set(["day", "week", "month"]);

interface Layout {
  compact: boolean;
  /** 1.2M for 1,234,567. */
  short: boolean;
}

/** The first one that fits the terminal is shown. */
const LAYOUTS: readonly Layout[] = [
  { compact: false, short: false },
  { compact: false, short: true },
  { compact: true, short: false },
  { compact: true, short: true },
];

const toName = (row: UsageRow) => oneLine(printable(row.label ? `${row.label}` : row.key));

function toColumns(by: string, { compact, short }: Layout): Column<Line>[] {
  const format = short ? formatShort : formatCount;
  const tokens = (title: string, key: (t: TokenUsage) => number): Column<Line> => ({
    title,
    align: "right",
    value: (line) => (line.tokens ? format(key(line.tokens)) : ""),
  });
  const columns: (Column<Line> | false)[] = [
    by === "session" && { title: "id", value: (line) => line.id },
    { title: by, value: (line) => line.name, ...(!PERIOD_KEYS.has(by) && { shrink: true, least: 20 }) },
    !compact && { title: "sessions", align: "right", value: (line) => line.sessions },
    !compact && tokens("input", (t) => t.input),
    !compact && tokens("output", (t) => t.output),
    !compact && tokens("cache write", (t) => t.cacheWrite5m + t.cacheWrite1h),
    !compact && tokens("cache read", (t) => t.cacheRead),
    tokens("total", (t) => t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead),
    { title: "cost", align: "right", value: (line) => line.cost },
  ];
  return columns.filter((column) => column !== false);
}

function toLine(row: Omit<UsageRow, "key" | "label">, name: string, id = ""): Line {
  const logged = row.models.length > 0 || row.sessions === 0;
  return {
    name,
    id,
    tokens: logged ? sum(row.models.map((one) => one.tokens)) : undefined,
    sessions: formatCount(row.sessions),
    cost: logged ? toMoney(row.cost) : NOT_LOGGED,
  };
}

const toModelLine = ({ model, tokens, microdollars }: UsageRow["models"][number]): Line => ({
  name: `  ${printable(model)}`,
  id: "",
  tokens,
  sessions: "",
  cost: microdollars === null ? "—" : formatMoney(microdollars),
});

function sum(list: readonly TokenUsage[]): TokenUsage {
  const total = emptyUsage();
  for (const tokens of list) {
    for (const key of Object.keys(total) as (keyof TokenUsage)[]) total[key] += tokens[key];
  }
  return total;
}
