/** Questions whose route may belong to a plugin that is not loaded. */
import { ApiError, type RouteKey } from "../client.ts";
import { offers } from "./offers.ts";

/** What the service has no route for is nothing, and is not asked for again. */
export function ifServed<T>(route: RouteKey, none: T, ask: (signal: AbortSignal) => Promise<T>) {
  let missing = !offers(route);
  return async (signal: AbortSignal): Promise<T> => {
    if (missing) return none;
    try {
      return await ask(signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "ROUTE_NOT_FOUND") throw error;
      missing = true;
      return none;
    }
  };
}
