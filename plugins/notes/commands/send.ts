/** What the commands ask of the service. */
import { ApiError, type CommandContext, type ErrorBody, UsageError } from "sessarc";

export async function send<T>(ctx: CommandContext, method: string, path: string, body?: object): Promise<T> {
  const init: RequestInit = body
    ? { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } }
    : { method };
  const response = await ctx.fetch(path, init);
  const answer: unknown = await response.json();
  if (response.ok) return answer as T;
  throw new ApiError(answer as ErrorBody);
}

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
