/** Routes are data: one list drives the server, the client's types, OpenAPI and the tests. */
import type { MaybePromise } from "../utils/async.ts";
import type { Kernel } from "./kernel.ts";
import type { Schema, SchemaInput, SchemaOutput } from "./schema.ts";

export type { Schema, SchemaInput, SchemaOutput } from "./schema.ts";

/** HEAD comes with every GET; no other method exists. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Names in a path: `/sessions/:id/messages` → `"id"`, a trailing `/**:rest` → `"rest"`, a bare `/**` → `"_"`. */
type ParamName<P extends string> = P extends `${string}/**:${infer Name}`
  ? Name
  : P extends `${infer Head}/**`
    ? ParamName<Head> | "_"
    : P extends `${string}:${infer Name}/${infer Rest}`
      ? Name | ParamName<`/${Rest}`>
      : P extends `${string}:${infer Name}`
        ? Name
        : never;

/** Params of a path, URL-decoded. */
export type PathParams<P extends string> = string extends P
  ? Readonly<Record<string, string>>
  : { readonly [K in ParamName<P>]: string };

/** One request as the handler sees it; an H3Event of h3. */
export interface RequestEvent {
  /** Its signal aborts when the client is gone. */
  readonly req: Request;
  /** Parsed; the host is ours. */
  readonly url: URL;
}

/** What a handler is handed. */
export interface RouteContext<Params = unknown, Query = unknown, Body = unknown> {
  event: RequestEvent;
  kernel: Kernel;
  params: Params;
  query: Query;
  body: Body;
  /** Aborts when the client is gone or the kernel closes. Reading it costs a listener: hand it to what waits. */
  readonly signal: AbortSignal;
}

/** What a route with a body accepts; the defaults are those of the local service's filter. */
interface BodyLimits {
  /** Bytes, counted while streaming. Default 1 MiB. */
  bytes?: number;
  /** The body has this media type instead of JSON, and is checked and handled as bytes. For kernels with a front: the local service takes JSON alone. */
  type?: string;
}

interface RouteMeta<M extends Method, P extends string> {
  method: M;
  /** Relative to /api unless `mount` is "/". `:name` is one segment, `/**` the rest. */
  path: P;
  /** One line, shown in OpenAPI. */
  summary: string;
  mount?: "/" | undefined;
  /** Success status; default 200. */
  status?: number | undefined;
  /** Wire shape of the answer, for OpenAPI: of plugins that are not part of sessarc. Built-in routes are described from the types of their handlers. */
  response?: Schema | undefined;
  limits?: BodyLimits | undefined;
  /** Says that this route may be offered to agents as a tool. */
  agent?: { description: string } | undefined;
  /** What plugins read of each other's routes, a field each: `{ team: true }` says that a team's server may answer it. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}

/** A route as `defineRoute` makes it: method, path, schemas and handler. */
export interface Route<M extends Method, P extends string, Params, Query, Body, R> extends RouteMeta<M, P> {
  params?: Schema | undefined;
  query?: Schema | undefined;
  body?: Schema | undefined;
  handler(ctx: RouteContext<Params, Query, Body>): MaybePromise<R>;
  /** Types only, never set: what a client sends and gets. */
  readonly "~types"?: RouteTypes;
}

/** Any route, as the registry holds it. */
export interface AnyRoute extends RouteMeta<Method, string> {
  params?: Schema | undefined;
  query?: Schema | undefined;
  body?: Schema | undefined;
  handler(ctx: RouteContext): unknown;
}

/** What a client sends and gets, as types: never a value. */
export interface RouteTypes {
  params: unknown;
  query: unknown;
  body: unknown;
  response: unknown;
}

type ParamsOf<P extends string, S> = S extends Schema ? SchemaOutput<S> : PathParams<P>;

/**
 * Defines a route. Values that fail `params`, `query` or `body` answer 400 with `issues` and never reach the handler.
 * The handler returns JSON-plain data, or a web `Response` for anything else (a stream, a page, a file); it throws
 * SessarcError to fail. Without a `body` schema a body is refused to the handler: `body` is undefined.
 */
export function defineRoute<
  const M extends Method,
  const P extends string,
  R,
  S extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(
  route: RouteMeta<M, P> & {
    params?: S;
    query?: Q;
    body?: B;
    handler(ctx: RouteContext<ParamsOf<P, S>, SchemaOutput<Q>, SchemaOutput<B>>): MaybePromise<R>;
  },
): Route<M, P, ParamsOf<P, S>, SchemaOutput<Q>, SchemaOutput<B>, R> & {
  readonly "~types"?: { params: PathParams<P>; query: SchemaInput<Q>; body: SchemaInput<B>; response: Awaited<R> };
} {
  return route;
}

/** `"GET /sessions/:id"` → `{ params, query, body, response }`, from a list of routes `as const`. */
export type RoutesOf<T extends readonly AnyRoute[]> = {
  [R in T[number] as `${R["method"]} ${R["path"]}`]: R extends { readonly "~types"?: infer Types }
    ? NonNullable<Types>
    : RouteTypes;
};
