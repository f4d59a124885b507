/** A route called in this process without HTTP: no h3, no Request, no Response. For commands, whose life is shorter than loading those. */
import type { Kernel } from "../contract/kernel.ts";
import type { AnyRoute, RequestEvent, RouteContext } from "../contract/route.ts";
import { validate } from "../contract/schema.ts";
import { type ErrorBody, SessarcError } from "../errors/error.ts";
import { ApiError } from "../terminal/errors.ts";
import { fullPath, type RegisteredRoute } from "./paths.ts";

/** A kernel with the routes it answers. */
export interface Callable {
  kernel: Kernel;
  routes: readonly RegisteredRoute[];
}

/**
 * What GET `path` (relative to /api) answers. Throws the SessarcError the HTTP API would answer with. A handler that reads the
 * request itself gets one: then the call goes the long way through the app, and what that refuses is an ApiError.
 */
export async function callRoute(
  { kernel, routes }: Callable,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<unknown> {
  const found = findRoute(routes, `/api${path}`);
  if (!found) throw new SessarcError("ROUTE_NOT_FOUND", { method: "GET", path: `/api${path}` });
  const { route, params } = found;
  let needsRequest = false;
  const ctx: RouteContext = {
    get event(): RequestEvent {
      needsRequest = true;
      throw new TypeError("there is no request");
    },
    kernel,
    params: route.params ? await validate(route.params, params, "params") : params,
    query: route.query ? await validate(route.query, { ...query }, "query") : undefined,
    body: undefined,
    signal: kernel.closing,
  };
  try {
    const value = await route.handler(ctx);
    return isResponse(value) ? await read(value) : value;
  } catch (error) {
    if (!needsRequest) throw error;
    return read(await kernel.fetch(`/api${path}?${new URLSearchParams(query)}`));
  }
}

async function read(response: Response): Promise<unknown> {
  const answer: unknown = await response.json();
  if (!response.ok) throw new ApiError(answer as ErrorBody);
  return answer;
}

/** By its tag: to name the class `Response` makes Node load its whole fetch, 30 ms. */
function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}

function findRoute(
  routes: readonly RegisteredRoute[],
  path: string,
): { route: AnyRoute; params: Record<string, string> } | undefined {
  const wanted = path.split("/").map(decodeURIComponent);
  const candidates = routes.flatMap(({ route }) => {
    const params = route.method === "GET" ? match(fullPath(route).split("/"), wanted) : undefined;
    return params ? [{ route, params }] : [];
  });
  // As in the app: a fixed segment wins over a parameter.
  return candidates.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}

function match(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of pattern.entries()) {
    const value = path[i] ?? "";
    if (segment.startsWith(":")) params[segment.slice(1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}
