/** Where routes stand. */
import type { AnyRoute } from "../contract/route.ts";

export interface RegisteredRoute {
  plugin: string;
  /** Full path: `/api/sessions/:id`, `/share/:token`. */
  fullPath: string;
  route: AnyRoute;
}

export const fullPath = (route: AnyRoute): string => (route.mount === "/" ? route.path : `/api${route.path}`);

/** Two paths that differ in the names of their params alone are the same route. */
export const shape = (path: string): string => path.replace(/\*\*:\w+$/, "**").replace(/:[^/]+/g, ":");
