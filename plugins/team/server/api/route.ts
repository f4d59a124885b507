/** What routes of the server's own API need: who may ask them, and who asks. */
import { type Kernel, type RouteContext, SessarcError } from "sessarc";
import { type Caller, SCOPES, type Scope } from "../accounts/caller.ts";
import type { Services } from "./services.ts";

/** `meta` of a route of the server. */
export interface Access {
  /** What the caller's token must allow; `signed-in`: any; `open`: it needs no token. */
  scope: Scope | "signed-in" | "open";
  /** Holds one of these places from before its body is read until it is answered. */
  places?: keyof Services["places"];
}

/** A request to the server's own API. */
export interface Asked {
  services: Services;
  /** Address of the client. */
  remote: string;
  caller: Caller | undefined;
}

/** Of a request to this server. */
export const readAsked = (kernel: Kernel, { req }: RouteContext["event"]): Asked =>
  kernel.inject("team-server").read(req);

/** The same with its caller, whom the front admitted: for a route with a token. */
export function readCaller(kernel: Kernel, event: RouteContext["event"]): Asked & { caller: Caller } {
  const { caller, ...asked } = readAsked(kernel, event);
  if (!caller) throw new SessarcError("TEAM_UNAUTHORIZED", {});
  return { ...asked, caller };
}

/** Undefined for a route that is not the server's: it is refused. */
export function findAccess(meta: Readonly<Record<string, unknown>> | undefined): Access | undefined {
  const { scope, places } = meta ?? {};
  const known = [...SCOPES, "signed-in" as const, "open" as const].find((one) => one === scope);
  if (!known) return undefined;
  return places === "bodies" || places === "pushes" || places === "questions"
    ? { scope: known, places }
    : { scope: known };
}
