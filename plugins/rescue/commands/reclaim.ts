import { type CommandContext, formatBytes, formatCount, printable, send, UsageError } from "sessarc/terminal";
import { DEFAULT_DAYS, LEAST_DAYS, type Reclaimable, type Reclaimed } from "../reclaim/reclaim.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0)
    throw new UsageError("`sessarc reclaim` takes flags alone: --tool, --older-than, --yes, --dry-run, --undo");
  if (ctx.flags.undo === true) return undo(ctx);
  const tool = typeof ctx.flags.tool === "string" ? ctx.flags.tool : undefined;
  const days = toDays(ctx.flags["older-than"]);
  const plan = await ctx.get<Reclaimable>("/rescue/reclaim", { tool, days: String(days) }, ctx.signal);
  if (ctx.flags.yes !== true || ctx.flags["dry-run"] === true) {
    if (ctx.json) ctx.answer(plan);
    else print(ctx, plan);
    return 0;
  }
  const done = await send<Reclaimed>(ctx, "POST", "/rescue/reclaim", { tool, days }, ctx.signal);
  if (ctx.json) ctx.answer(done);
  else {
    ctx.out(
      `${countOf(done.sessions, "log")} removed: ${formatBytes(done.bytes)}. \`sessarc resume\` puts one back, \`sessarc reclaim --undo\` all.`,
    );
    printLeft(ctx, done);
  }
  return done.left.length > 0 ? 1 : 0;
}

function print(ctx: CommandContext, { sessions, bytes, days, tools, stays, reclaimed }: Reclaimable): void {
  if (sessions === 0) ctx.out(`No stored log is older than ${days} days.`);
  else {
    ctx.out(
      `${formatCount(sessions)} ${sessions === 1 ? "session was" : "sessions were"} not written for ${days} days; their logs take ${formatBytes(bytes)}, and the archive holds every byte of them.`,
    );
    for (const one of tools)
      ctx.out(`  ${printable(one.label)}  ${countOf(one.sessions, "session")}, ${formatBytes(one.bytes)}`);
  }
  for (const { reason, sessions: count } of stays) ctx.out(`${formatCount(count)} stay: ${STAYS[reason]}.`);
  if (reclaimed.sessions > 0)
    ctx.out(
      `${countOf(reclaimed.sessions, "log")} removed before: ${formatBytes(reclaimed.bytes)}. \`sessarc reclaim --undo\` puts them back.`,
    );
  if (sessions > 0) ctx.err("Nothing was removed. --yes removes them.");
}

const STAYS: Readonly<Record<Reclaimable["stays"][number]["reason"], string>> = {
  behind: "their log is not stored as it is now; `sessarc import` stores it",
  pinned: "they are pinned in their assistant, or its list of pinned sessions cannot be read",
  unknown: "sessarc does not know how their assistant finds its sessions",
};

async function undo(ctx: CommandContext): Promise<number> {
  const done = await send<Reclaimed>(ctx, "POST", "/rescue/reclaim/undo", undefined, ctx.signal);
  if (ctx.json) ctx.answer(done);
  else {
    if (done.sessions + done.left.length === 0) ctx.err("No removed log can be put back.");
    else ctx.out(`${countOf(done.sessions, "log")} put back: ${formatBytes(done.bytes)}.`);
    printLeft(ctx, done);
  }
  return done.left.length > 0 ? 1 : 0;
}

function printLeft(ctx: CommandContext, { left }: Reclaimed): void {
  for (const { session, reason } of left) ctx.err(`${printable(session)}: ${printable(reason)}`);
}

const countOf = (n: number, word: string) => `${formatCount(n)} ${n === 1 ? word : `${word}s`}`;

function toDays(given: unknown): number {
  if (given === undefined) return DEFAULT_DAYS;
  const days = /^(\d{1,5})d?$/.exec(String(given))?.[1];
  if (days === undefined || Number(days) < LEAST_DAYS)
    throw new UsageError(`--older-than takes days, ${LEAST_DAYS}d or more: \`sessarc reclaim --older-than 30d\``);
  return Number(days);
}
