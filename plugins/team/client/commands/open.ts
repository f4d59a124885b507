/** `sessarc team open`: a one-time link into the team's dashboard. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import { textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("`sessarc team open` takes no words; --server names the server");
  const answer = await send<{ url: string; expires: string }>(ctx, "POST", "/team/open", {
    server: textFlag(ctx, "server"),
  });
  ctx.out(ctx.json ? JSON.stringify(answer) : printable(answer.url));
  if (!ctx.json) ctx.err("Open it in your browser; it works once, and for a few minutes.");
  return 0;
}
