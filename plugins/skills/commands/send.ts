/** A change over the API. */
import { ApiError, type CommandContext, type ErrorBody } from "sessarc";

export async function send<T>(
  ctx: CommandContext,
  method: "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await ctx.fetch(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  if (!response.ok) throw new ApiError((await response.json()) as ErrorBody);
  return (await response.json()) as T;
}
