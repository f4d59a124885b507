/** A change over the API. */
import { accepted } from "./frames.ts";

/** The answer of `path` (relative to /api), as JSON; throws ApiError for what the API refuses. */
export async function send<T>(
  ctx: { fetch(path: string, init?: RequestInit): Promise<Response> },
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  if (signal) init.signal = signal;
  return (await (await accepted(await ctx.fetch(path, init))).json()) as T;
}
