/** `sessarc team leave`. */
import { type CommandContext, send, UsageError } from "sessarc/terminal";
import { countAll, isConfirmed, textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("`sessarc team leave` takes no words; --server names the server");
  const question =
    "Forget this team's server and the key for it? Sessions that were pushed stay there and can no longer be withdrawn from here.";
  if (!(await isConfirmed(ctx, question))) return 1;
  const { address, pushed } = await send<{ address: string; pushed: number }>(ctx, "POST", "/team/leave", {
    server: textFlag(ctx, "server"),
  });
  if (ctx.json) ctx.out(JSON.stringify({ address, pushed }));
  else ctx.out(`Left ${address}; ${countAll(pushed, "session")} still there.`);
  return 0;
}
