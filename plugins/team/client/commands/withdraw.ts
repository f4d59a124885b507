/** `sessarc team withdraw`. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { Withdrawal } from "../client.ts";
import { countAll, isConfirmed, textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const project = textFlag(ctx, "project");
  if (ctx.args.length > 0 === (project !== undefined))
    throw new UsageError("Name sessions, or a project: `sessarc team withdraw <session>…` or `--project P`");
  const sessions = await Promise.all(ctx.args.map((name) => readId(ctx, name)));
  const what = project === undefined ? sessions.join(", ") : `all sessions of ${project}`;
  if (!(await isConfirmed(ctx, `Remove ${printable(what)} from the team's server?`))) return 1;
  const body = { server: textFlag(ctx, "server"), ...(project === undefined ? { sessions } : { project }) };
  const done = await send<Withdrawal>(ctx, "POST", "/team/withdraw", body, ctx.signal);
  if (ctx.json) ctx.out(JSON.stringify(done));
  else {
    ctx.out(`${countAll(done.removed.length, "session")} removed from ${done.address}`);
    for (const { id } of done.removed) ctx.out(`  ${printable(id)}`);
    if (done.receipt !== "") ctx.err("The server signed a receipt: --json shows it.");
  }
  return done.removed.length > 0 ? 0 : 3;
}

/** A session that was deleted here is named by its whole id. */
async function readId(ctx: CommandContext, name: string): Promise<string> {
  const found = await ctx
    .get<{ session: { id: string } }>("/sessions/find", { name })
    .catch((error: unknown) => unlessUnknown(error));
  return found?.session.id ?? name;
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof Error && "code" in error && error.code === "SESSION_NOT_FOUND")) throw error;
}
