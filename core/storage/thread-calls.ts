/** What the service's thread and the catalogue's thread send each other. */
import type { Database, SqlValue, Statement } from "./types.ts";

/** What the catalogue's thread opens. */
export interface ThreadOptions {
  dir: string;
  readOnly: boolean;
  /** Of the lock that this process holds on `dir`; undefined: it holds none. */
  token: string | undefined;
}

/** How the catalogue is when a call ends. */
export type State = Pick<Database, "generation" | "stats">;

/** What the catalogue is asked to do. */
export type Call =
  | { call: "ready" | "hold" | "compact" }
  /** `hold`: what that call returned. */
  | { call: "release"; hold: number }
  | { call: "read" | "run"; sql: string; params: readonly SqlValue[] }
  | { call: "batch"; statements: readonly Statement[] }
  | { call: "close"; withinMs: number | undefined };

/** To the catalogue's thread. `open` comes first. `proved` answers `prove`. */
export type ToCatalogue =
  | ({ call: "open" } & ThreadOptions)
  | (Call & { id: number })
  | { call: "proved"; id: number; failed?: unknown };

/** From the catalogue's thread. `rows` come before the end of a `read`, in parts. */
export type FromCatalogue =
  | { say: "rows"; id: number; columns: readonly string[]; rows: SqlValue[][] }
  | { say: "done"; id: number; result: unknown; state: State }
  | { say: "failed"; id: number; error: unknown; state: State }
  | { say: "prove"; id: number }
  | { say: "notice"; message: string };
