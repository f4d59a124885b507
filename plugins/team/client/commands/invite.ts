/** `sessarc team invite`. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { Invitation } from "../../wire/answers.ts";
import { textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0)
    throw new UsageError("`sessarc team invite` takes no words: the invited person chooses a name");
  const days = textFlag(ctx, "days");
  if (days !== undefined && !/^\d{1,2}$/.test(days)) throw new UsageError("--days takes a number from 1 to 30");
  const space = textFlag(ctx, "space");
  const invitation = await send<Invitation>(ctx, "POST", "/team/invites", {
    server: textFlag(ctx, "server"),
    scopes: textFlag(ctx, "scopes")
      ?.split(",")
      .map((scope) => scope.trim()),
    mine: ctx.flags.mine === true,
    ...(space !== undefined && { spaces: [space] }),
    ...(days !== undefined && { days: Number(days) }),
  });
  ctx.out(ctx.json ? JSON.stringify(invitation) : printable(invitation.link));
  if (!ctx.json)
    ctx.err(
      `Good once, until ${printable(invitation.expiresAt.slice(0, 10))}. Send it over a line that others cannot read.`,
    );
  return 0;
}
