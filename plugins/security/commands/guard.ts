import { ApiError, type CommandContext, createStyle, nearest, printable, send, UsageError } from "sessarc/terminal";
import type { GuardStatus, InstallAnswer } from "../guard/install/install.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action, ...rest] = ctx.args;
  if (rest.length > 0) throw new UsageError("`sessarc guard` takes one of install, status, uninstall");
  const tool = typeof ctx.flags.tool === "string" ? ctx.flags.tool : undefined;
  switch (action) {
    case undefined:
    case "status":
      return status(ctx, tool);
    case "install":
      return install(ctx, tool);
    case "uninstall":
      return uninstall(ctx, tool);
    default:
      throw new UsageError("`sessarc guard` takes one of install, status, uninstall");
  }
}

async function status(ctx: CommandContext, tool: string | undefined): Promise<number> {
  const { tools } = await ctx.get<{ tools: GuardStatus[] }>("/security/hook");
  const shown = tools.filter((one) => tool === undefined || one.tool === tool);
  if (tool !== undefined && shown.length === 0)
    throw new UsageError(`There is no guard for ${tool}; ${hintAt(tool, tools)}`);
  if (ctx.json) ctx.out(JSON.stringify({ tools: shown }));
  else {
    for (const one of shown) print(ctx, one);
    const without = shown.find(({ installed }) => !installed);
    if (without)
      ctx.err(
        `\`sessarc guard install --tool ${without.tool}\` installs it in ${without.label}; --dry-run only shows the change.`,
      );
  }
  return shown.length > 0 ? 0 : 3;
}

function hintAt(tool: string, tools: readonly GuardStatus[]): string {
  const known = tools.map((one) => one.tool);
  const near = nearest(tool, known);
  return near ? `did you mean ${near}?` : `use one of ${known.join(", ")}`;
}

async function install(ctx: CommandContext, tool: string | undefined): Promise<number> {
  const onFailure = ctx.flags["on-failure"];
  if (onFailure !== undefined && onFailure !== "allow" && onFailure !== "block")
    throw new UsageError("--on-failure takes allow or block");
  const answer = await ask<InstallAnswer>(ctx, "POST", "/security/install-hook", {
    tool,
    onFailure,
    mode: ctx.flags.observe === true ? "observe" : undefined,
    waiting: ctx.flags.waiting === true ? true : undefined,
    net: typeof ctx.flags.net === "boolean" ? ctx.flags.net : undefined,
    dryRun: ctx.flags["dry-run"] === true,
  });
  if (ctx.json) {
    ctx.out(JSON.stringify(answer));
    return 0;
  }
  const isDry = ctx.flags["dry-run"] === true;
  if (isDry && answer.diff) ctx.out(printable(answer.settingsPath));
  if (answer.diff) ctx.out(printable(answer.diff));
  print(ctx, answer);
  if (isDry) ctx.err("Nothing was written; the same command without --dry-run writes it.");
  if (answer.backupPath) ctx.err(`Backup: ${printable(answer.backupPath)}`);
  return 0;
}

async function uninstall(ctx: CommandContext, tool: string | undefined): Promise<number> {
  const path = `/security/install-hook${tool === undefined ? "" : `?tool=${encodeURIComponent(tool)}`}`;
  const answer = await ask<{ removed: boolean; restored: boolean; settingsPath: string }>(ctx, "DELETE", path);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else if (!answer.removed) ctx.err(`The guard is not installed in ${printable(answer.settingsPath)}`);
  else ctx.out(`Removed from ${printable(answer.settingsPath)}${answer.restored ? ", which is as it was before" : ""}`);
  return answer.removed ? 0 : 3;
}

const CHOICES = new Set(["GUARD_TOOL_UNKNOWN", "GUARD_WAITING_UNKNOWN", "GUARD_FAILURE_FIXED"]);

/** A tool without a guard is a mistake in the command. */
async function ask<T>(ctx: CommandContext, method: "POST" | "DELETE", path: string, body?: object): Promise<T> {
  try {
    return await send<T>(ctx, method, path, body);
  } catch (error) {
    if (error instanceof ApiError && CHOICES.has(error.code)) throw new UsageError(`${error.message}. ${error.fix}`);
    throw error;
  }
}

function print(ctx: CommandContext, status: GuardStatus): void {
  const style = createStyle(ctx.colour);
  const state = !status.installed
    ? style.dim("not installed")
    : status.effective
      ? style.green("on")
      : style.yellow("installed, not working");
  const facts = [
    status.installed && status.mode === "observe" ? "observing" : "",
    status.waiting ? "reports when it waits" : "",
    status.offers.length > 0 ? "offers lines to the model" : "",
    status.net ? "stores files before they are destroyed" : "",
    status.lastFiredAt ? `last asked ${status.lastFiredAt}` : "",
  ];
  ctx.out([`${status.label}: ${state}`, ...facts.filter(Boolean)].join(", "));
  for (const problem of status.problems) ctx.out(`  ${printable(problem)}`);
  if (status.installed || status.offers.length > 0) ctx.out(style.dim(`  ${printable(status.settingsPath)}`));
}
