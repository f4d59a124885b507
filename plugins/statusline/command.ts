/** The forms of `sessarc statusline` that no assistant runs. */
import { type CommandContext, createStyle, printable, send, UsageError } from "sessarc/terminal";
import type { Figures } from "./figures.ts";
import { type OtherNames, readInput, readNames } from "./input.ts";
import type { StatuslineInstalled, StatuslineRemoved, StatuslineStatus } from "./install.ts";
import { DEFAULT_TEMPLATE, FIELDS, toLine, unknownFields } from "./line.ts";
import { NO_INPUT, readAll } from "./quick.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const { flags } = ctx;
  const template = typeof flags.template === "string" ? flags.template : undefined;
  const tool = typeof flags.tool === "string" ? flags.tool : undefined;
  const [unknown] = template === undefined ? [] : unknownFields(template);
  if (unknown !== undefined)
    throw new UsageError(
      `--template has no figure {${printable(unknown)}}; there are ${Object.keys(FIELDS)
        .map((name) => `{${name}}`)
        .join(" ")}`,
    );
  const forms = ["install", "uninstall", "status"].filter((name) => flags[name] === true);
  if (forms.length > 1) throw new UsageError("--install, --uninstall and --status exclude each other");
  if (flags.install === true) return install(ctx, { tool, template, replace: flags.replace });
  if (flags.uninstall === true) return uninstall(ctx, tool);
  if (flags.status === true) return status(ctx);
  const fields = typeof flags.fields === "string" ? readNames(flags.fields) : {};
  if (!fields) throw new UsageError("--fields takes names and paths: --fields model=llm.name,context=ctx.percent");
  return print(ctx, tool, fields, template);
}

/** The line, where only a configuration file says which archive it is about. */
async function print(
  ctx: CommandContext,
  tool: string | undefined,
  fields: OtherNames,
  template = DEFAULT_TEMPLATE,
): Promise<number> {
  if (process.stdin.isTTY)
    throw new UsageError(
      "`sessarc statusline` reads the JSON of an assistant on stdin; `sessarc statusline --install` shows the line in an assistant",
    );
  const text = await readAll(process.stdin);
  const input = text === undefined ? undefined : readInput(text, tool, fields);
  if (!input) throw new UsageError(NO_INPUT);
  const { session, limits } = input;
  const figures = await send<Figures>(ctx, "POST", "/statusline", { tool: input.tool, session, limits });
  const style = createStyle(ctx.env.env.NO_COLOR === undefined);
  // Coloured though it is piped; each value in the line is `printable`.
  ctx.outRaw(`${toLine(input, figures, { template, style, now: Date.now() })}\n`);
  return 0;
}

async function install(ctx: CommandContext, body: object): Promise<number> {
  const answer = await send<StatuslineInstalled>(ctx, "POST", "/statusline/install", body);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    ctx.out(`${answer.label} shows the status line: ${printable(answer.settingsPath)}`);
    if (answer.backupPath) ctx.err(`Backup: ${printable(answer.backupPath)}`);
  }
  return 0;
}

async function uninstall(ctx: CommandContext, tool: string | undefined): Promise<number> {
  const path = `/statusline/install${tool === undefined ? "" : `?tool=${encodeURIComponent(tool)}`}`;
  const answer = await send<StatuslineRemoved>(ctx, "DELETE", path);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else if (!answer.removed) ctx.err(`The status line is not installed in ${printable(answer.settingsPath)}`);
  else ctx.out(`Removed from ${printable(answer.settingsPath)}${answer.restored ? ", which is as it was before" : ""}`);
  return answer.removed ? 0 : 3;
}

async function status(ctx: CommandContext): Promise<number> {
  const tools = await ctx.get<StatuslineStatus[]>("/statusline");
  if (ctx.json) ctx.out(JSON.stringify(tools));
  else
    for (const { label, installed, taken, problem, settingsPath } of tools) {
      const state = problem ?? (installed ? "on" : taken ? "another status line" : "not installed");
      ctx.out(printable(`${label}: ${state}, ${settingsPath}`));
    }
  return 0;
}
