/** What is in front of a kernel's routes, in place of the local service's filter: for a kernel that other people ask. */
import type { AnyRoute, RequestEvent } from "./route.ts";

/** How a request was answered. */
export interface Answered {
  status: number;
  /** Of the error; undefined where none was answered. */
  code: string | undefined;
  ms: number;
}

/** Checks requests before their routes do, and is informed of each answer. */
export interface Front {
  /** Before the route is looked for. Throws what the request is refused with; answers it itself, or undefined: its route does. */
  check(event: RequestEvent): Promise<Response | undefined>;
  /** Around a route, before its body is read: who asks, and whether they may. */
  enter<T>(route: AnyRoute, event: RequestEvent, next: () => Promise<T>): Promise<T>;
  /** The error that is answered for one that was thrown. */
  toError(error: unknown): unknown;
  /** Before the answer leaves. What it throws is answered instead. */
  answered(event: RequestEvent, answered: Answered): Promise<void>;
}
