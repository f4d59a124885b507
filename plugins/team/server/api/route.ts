/** A route of the server's own API. */
import type { Schema } from "sessarc";
import type { Caller, Scope } from "../accounts/caller.ts";
import type { Services } from "./services.ts";

type Output<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : undefined
  : undefined;

interface ApiContext<Body = unknown, C = Caller> {
  services: Services;
  caller: C;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: Body;
  /** Address of the client. */
  remote: string;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
}

export interface ApiRoute {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /team/api. */
  path: string;
  /** What the caller's token must allow; `signed-in`: any; `open`: it needs no token. */
  scope: Scope | "signed-in" | "open";
  body?: Schema | undefined;
  /** Bytes of a JSON body. Default 64 KiB. */
  bytes?: number | undefined;
  /** Holds one of these places from before its body is read until it is answered. */
  places?: keyof Services["places"] | undefined;
  /** The body is not JSON: the handler gets a Buffer of at most `bytes`. */
  raw?: boolean | undefined;
  handler(context: ApiContext<unknown, Caller | undefined>): Promise<unknown>;
}

/** A route whose caller has a token. */
export function route<S extends Schema | undefined = undefined>(
  definition: Omit<ApiRoute, "handler" | "body" | "scope"> & {
    scope: Exclude<ApiRoute["scope"], "open">;
    body?: S;
    handler(context: ApiContext<Output<S>>): Promise<unknown>;
  },
): ApiRoute {
  return definition;
}

/** A route for everybody: it has no caller. */
export function openRoute<S extends Schema | undefined = undefined>(
  definition: Omit<ApiRoute, "handler" | "body" | "scope"> & {
    body?: S;
    handler(context: ApiContext<Output<S>, undefined>): Promise<unknown>;
  },
): ApiRoute {
  return { ...definition, scope: "open" };
}
