/** `sessarc team projects`. */
import { type CommandContext, send, UsageError } from "sessarc/terminal";
import type { TeamStatus } from "../client.ts";
import { textFlag } from "./_ask.ts";
import { show } from "./status.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const server = textFlag(ctx, "server");
  const space = textFlag(ctx, "space");
  const remove = ctx.flags.remove === true;
  if (ctx.args.length === 0 && remove) throw new UsageError("Name the projects that are no longer pushed");
  if (remove && space !== undefined) throw new UsageError("--remove takes no --space");
  const body = { server, space, ...(remove ? { remove: ctx.args } : { add: ctx.args }), usual: ctx.args.length === 0 };
  const reads = ctx.args.length === 0 && space === undefined;
  const status = reads
    ? await ctx.get<TeamStatus>("/team")
    : await send<TeamStatus>(ctx, "PUT", "/team/projects", body, ctx.signal);
  if (ctx.json) ctx.out(JSON.stringify(status));
  else for (const one of status.servers) show(ctx, one);
  if (remove)
    ctx.err("What was pushed of them is still there: `sessarc team withdraw --project <project>` removes it.");
  return status.servers.length === 0 ? 3 : 0;
}
