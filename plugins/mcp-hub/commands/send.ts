import { ApiError, type CommandContext } from "sessarc";

/** A request that changes something; throws ApiError for any answer but a good one. */
export async function send<T>(ctx: CommandContext, method: string, path: string, body?: object): Promise<T> {
  const json = body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {};
  const response = await ctx.fetch(path, { method, ...json });
  const answer: unknown = await response.json();
  if (!response.ok) throw new ApiError(answer as ConstructorParameters<typeof ApiError>[0]);
  return answer as T;
}
