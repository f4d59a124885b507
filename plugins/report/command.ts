/** `sessarc report`. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandContext, printable, UsageError } from "sessarc/terminal";
import { toComparison } from "./compare.ts";
import { toHtml, toMarkdown } from "./document.ts";
import type { Report } from "./report.ts";
import { toText } from "./terminal.ts";

const RANGES = ["today", "week", "last-week", "month", "since"] as const;

export async function run(ctx: CommandContext): Promise<number> {
  const { flags } = ctx;
  if (RANGES.filter((name) => flags[name] !== undefined).length > 1)
    throw new UsageError("--today, --week, --last-week, --month and --since exclude each other");
  if (flags.until !== undefined && flags.since === undefined) throw new UsageError("--until needs --since");
  if (flags.compare === true) return runCompare(ctx);
  const format = toFormat(ctx);
  const report = await ctx.get<Report>(
    "/report",
    // What is on a user's own terminal names sessions; what may be passed on does not, unless asked to.
    { ...toRange(ctx), prompts: flags.prompts === true || (format === "text" && !ctx.json) ? "1" : undefined },
    ctx.signal,
  );
  const text = ctx.json ? `${JSON.stringify(report)}\n` : write(ctx, report, format);
  if (typeof flags.output !== "string") {
    if (ctx.json) ctx.answer(report);
    else ctx.out((format === "text" ? text : printable(text)).trimEnd());
  } else {
    await writeFile(resolve(ctx.cwd, flags.output), text, { flag: "wx", mode: 0o600 }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") throw new UsageError(`${flags.output} exists; name another file`);
        throw error;
      },
    );
    ctx.err(printable(`Written to ${flags.output}`));
  }
  return report.totals.sessions > 0 ? 0 : 3;
}

async function runCompare(ctx: CommandContext): Promise<number> {
  const ignored = ["format", "prompts", "output"].find((name) => ctx.flags[name] !== undefined);
  if (ignored !== undefined) throw new UsageError(`--compare is one sentence: it takes no --${ignored}`);
  const report = await ctx.get<Report>("/report", { ...toRange(ctx), git: "0" }, ctx.signal);
  const sentence = toComparison(report);
  const { from, to, before, totals, previous } = report;
  if (ctx.json) ctx.answer({ sentence, from, to, totals, before, previous });
  else ctx.out(printable(sentence));
  return totals.sessions + previous.sessions > 0 ? 0 : 3;
}

/** Text on a terminal, Markdown in a file and a pipe, unless the user says. */
function toFormat({ flags, columns }: CommandContext): string {
  if (typeof flags.format === "string") return flags.format;
  return columns === undefined || flags.output !== undefined ? "md" : "text";
}

function write(ctx: CommandContext, report: Report, format: string): string {
  if (format === "html") return toHtml(report);
  if (format === "md") return toMarkdown(report);
  return `${toText(report, { columns: ctx.columns ?? 80, colour: ctx.colour, now: Date.now() })}\n`;
}

function toRange({ flags }: CommandContext): { from?: string; to?: string } {
  const today = new Date();
  const back = (days: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - days, 12);
  const sinceMonday = (today.getDay() + 6) % 7;
  if (flags.today === true) return { from: toDay(today) };
  if (flags.week === true) return { from: toDay(back(sinceMonday)) };
  if (flags["last-week"] === true) return { from: toDay(back(sinceMonday + 7)), to: toDay(back(sinceMonday + 1)) };
  if (flags.month === true) return { from: toDay(back(today.getDate() - 1)) };
  const read = (name: "since" | "until") => {
    const value = flags[name];
    if (typeof value !== "string") return undefined;
    const [, days] = /^(\d{1,4})d$/.exec(value) ?? [];
    if (days !== undefined) return toDay(back(Number(days)));
    if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return value;
    throw new UsageError(`--${name} takes a day as 2026-11-01 or 7d, not ${JSON.stringify(value)}`);
  };
  const [from, to] = [read("since"), read("until")];
  return { ...(from && { from }), ...(to && { to }) };
}

function toDay(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
