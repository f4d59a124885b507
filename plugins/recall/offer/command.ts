/** `sessarc recall install`, `uninstall` and `log`. */
import type { Services } from "sessarc";
import { ApiError, type CommandContext, createStyle, printable, send, UsageError } from "sessarc/terminal";
import type { Offered } from "./schema.ts";

type Installed = Awaited<ReturnType<Services["guard"]["offer"]>>;

/** The words after `recall` that are these actions. */
export const OFFER_ACTIONS: Readonly<Record<string, (ctx: CommandContext) => Promise<number>>> = {
  install,
  uninstall,
  log,
};

const WORDS = { start: "at a session's start", command: "with commands", file: "with changes of files" } as const;
const KINDS = ["start", "command", "file"] as const;

async function install(ctx: CommandContext): Promise<number> {
  const without = (Array.isArray(ctx.flags.without) ? ctx.flags.without : [])
    .flatMap((one) => String(one).split(","))
    .map((one) => {
      const kind = KINDS.find((known) => known === one.trim());
      if (!kind) throw new UsageError("--without takes start, command or file");
      return kind;
    });
  const body = { tool: toolOf(ctx), without, dryRun: ctx.flags["dry-run"] === true };
  const answer = await ask<Installed>(ctx, "POST", "/recall/install", body);
  if (ctx.json) {
    ctx.out(JSON.stringify(answer));
    return 0;
  }
  if (answer.diff) ctx.out(printable(answer.diff));
  const style = createStyle(ctx.colour);
  if (answer.offers.length === 0) ctx.out(`${answer.label}: ${style.dim("not installed")}`);
  else ctx.out(`${answer.label}: ${style.green("offers")} ${answer.offers.map((one) => WORDS[one]).join(", ")}`);
  for (const problem of answer.problems) ctx.out(`  ${printable(problem)}`);
  if (answer.backupPath) ctx.err(`Backup: ${printable(answer.backupPath)}`);
  return 0;
}

async function uninstall(ctx: CommandContext): Promise<number> {
  const tool = toolOf(ctx);
  const path = `/recall/install${tool === undefined ? "" : `?tool=${encodeURIComponent(tool)}`}`;
  const answer = await ask<Pick<Installed, "removed" | "restored" | "settingsPath">>(ctx, "DELETE", path);
  const settings = printable(answer.settingsPath);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else if (!answer.removed) ctx.err(`No hook that offers lines is installed in ${settings}`);
  else ctx.out(`Removed from ${settings}${answer.restored ? ", which is as it was before" : ""}`);
  return answer.removed ? 0 : 3;
}

async function log(ctx: CommandContext): Promise<number> {
  const { offered } = await ctx.get<{ offered: Offered[] }>("/recall/log");
  if (ctx.json) ctx.out(JSON.stringify({ offered }));
  else if (offered.length === 0) ctx.err("Nothing was offered yet. `sessarc recall install` installs the hooks.");
  else
    for (const { at, session, moment, used, line } of offered) {
      ctx.out(`${at} ${printable(session)} ${moment}, ${used === null ? "use not known" : used ? "used" : "not used"}`);
      ctx.out(`  ${printable(line)}`);
    }
  return offered.length > 0 ? 0 : 3;
}

const toolOf = ({ flags }: CommandContext) => (typeof flags.tool === "string" ? flags.tool : undefined);

const CHOICES = new Set(["GUARD_TOOL_UNKNOWN", "GUARD_OFFER_UNKNOWN"]);

/** An assistant without such hooks is a mistake in the command. */
async function ask<T>(ctx: CommandContext, method: "POST" | "DELETE", path: string, body?: object): Promise<T> {
  try {
    return await send<T>(ctx, method, path, body);
  } catch (error) {
    if (error instanceof ApiError && CHOICES.has(error.code)) throw new UsageError(`${error.message}. ${error.fix}`);
    throw error;
  }
}
