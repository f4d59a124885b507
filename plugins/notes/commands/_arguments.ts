/** What the commands take. */
import { type CommandContext, UsageError } from "sessarc/terminal";

/** The id of the session that a text names. Throws ApiError. */
export async function sessionId(ctx: CommandContext, name: string): Promise<string> {
  return (await ctx.get<{ session: { id: string } }>("/sessions/find", { name })).session.id;
}

/** `--message`. */
export function messageFlag({ flags }: CommandContext): number | undefined {
  if (flags.message === undefined) return undefined;
  if (typeof flags.message === "string" && /^\d{1,9}$/.test(flags.message)) return Number(flags.message);
  throw new UsageError(`--message takes the number of a message, not ${JSON.stringify(flags.message)}`);
}
