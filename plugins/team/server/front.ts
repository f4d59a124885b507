/** What is in front of every request: the gate, who asks, their places, the access log, and the kernels of people. */
import { isSessarcError, type Kernel, SessarcError } from "sessarc";
import { type Front, messageIn, readJson } from "sessarc/serve";
import { codeOf } from "../database/install.ts";
import { type Caller, need, needMachine } from "./accounts/caller.ts";
import { createRateLimit } from "./accounts/rate.ts";
import { type Access, type Asked, findAccess } from "./api/route.ts";
import type { Services } from "./api/services.ts";
import { checkRequest, toRemote } from "./gate.ts";
import { isApi, type Offers } from "./offers.ts";
import { page, readCookie } from "./pages.ts";

/** Entries a minute of one address whose requests have no valid sign-in: without a limit they would fill the disk. */
const UNKNOWN_A_MINUTE = 120;

interface FrontParts {
  services: Services;
  /** What the kernels of people answer. */
  offers: Offers;
  /** Of the caller. */
  kernel(caller: Caller): Promise<Kernel>;
}

/** Service "team-server" of a node's kernel. */
export interface TeamServer {
  read(request: Request): Asked;
}

export function createFront({ services, offers, kernel }: FrontParts): Front & TeamServer {
  const callers = new WeakMap<Request, Caller>();
  const unknown = createRateLimit(UNKNOWN_A_MINUTE, 60_000);
  const readRemote = (request: Request) => toRemote(services.gate(), request, messageIn(request));

  /** Throws TEAM_UNAUTHORIZED. */
  async function signIn(request: Request): Promise<Caller> {
    const { headers } = request;
    const bearer = /^Bearer +([A-Za-z0-9_-]{43}) *$/i.exec(headers.get("authorization") ?? "")?.[1];
    const token = bearer ?? readCookie(headers.get("cookie"), services.gate());
    const caller =
      token === undefined ? undefined : await services.tokens.caller(bearer === undefined ? "cookie" : "bearer", token);
    if (!caller) throw new SessarcError("TEAM_UNAUTHORIZED", {});
    callers.set(request, caller);
    return caller;
  }

  /** A person's kernel answers what is not the server's own. */
  async function passOn(request: Request, path: string, search: string): Promise<Response> {
    const caller = await signIn(request).catch((error: unknown) => {
      if (isApi(path) || request.method !== "GET") throw error;
      return undefined;
    });
    if (!caller)
      return page(
        "Sign in",
        `<p>There is no password: a machine that has joined this team signs this browser in.</p>
<ol><li>On that machine, run:<code>sessarc team open</code></li><li>No machine of yours has joined yet? Ask an owner of the team for an invitation.</li></ol>`,
        401,
      );
    need(caller, "read");
    if (!offers.isAllowed(request.method, path))
      throw new SessarcError("TEAM_NOT_HERE", {
        what: `${request.method} ${path}`,
        instead: "Use the sessarc of your own machine for that",
      });
    const leave = isApi(path) ? await services.places.questions.enter(caller.person.id, request.signal) : () => {};
    try {
      return await ask(await kernel(caller), request, `${path}${search}`);
    } finally {
      leave();
    }
  }

  /** Throws TEAM_FORBIDDEN. */
  async function admit(request: Request, { scope, places }: Access): Promise<() => void> {
    if (scope === "open") return () => {};
    const caller = await signIn(request);
    // A read token reads sessions. Accounts are for machines and for people in a browser.
    if (caller.proof === "token") needMachine(caller);
    if (scope !== "signed-in") need(caller, scope);
    return places ? services.places[places].enter(caller.person.id, request.signal) : () => {};
  }

  return {
    read: (request) => ({ services, remote: readRemote(request), caller: callers.get(request) }),

    async check({ req, url }) {
      checkRequest(services.gate(), req, url.pathname, messageIn(req));
      return isOwn(url.pathname) ? undefined : passOn(req, url.pathname, url.search);
    },

    async enter(route, { req }, next) {
      const access = findAccess(route.meta);
      if (!access) throw new SessarcError("ROUTE_NOT_FOUND", { method: req.method, path: route.path });
      const leave = await admit(req, access);
      try {
        if (route.body && !route.limits?.type) checkJson(req);
        return await next();
      } finally {
        leave();
      }
    },

    // One of the server's two stores has no room left.
    toError(error) {
      if (!isSessarcError(error) || error.code !== "STORAGE_FULL") return error;
      const what = codeOf(error.cause) === "53100" ? "database" : "disk for chunks and transcripts";
      return new SessarcError("TEAM_FULL", { what }, { cause: error });
    },

    async answered({ req, url }, { status, code, ms }) {
      // The client is gone and reads no answer; the access log has it.
      const isGone = code !== undefined && req.signal.aborted;
      const shown = isGone ? { status: 499, code: "CLIENT_GONE" } : { status, code: code ?? null };
      services.metrics.answered(shown.status, ms);
      if (!isLogged(url.pathname)) return;
      const caller = callers.get(req);
      const remote = readRemote(req);
      // What is above the limit is in the metrics.
      if (!caller && unknown.count(remote) > 0) return;
      await services.access.add({
        at: Date.now(),
        person: caller?.person.id ?? null,
        device: caller?.device ?? null,
        remote,
        method: req.method,
        path: shownPath(url.pathname),
        ...shown,
      });
    },
  };
}

/** What the kernel gets of a request: its own address, and nothing that proves who asks. */
const PASSED = [
  "accept",
  "accept-language",
  "if-none-match",
  "if-modified-since",
  "range",
  "last-event-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
];
/** Bytes of a message to the tool protocol. */
const MESSAGE = 2 ** 20;

async function ask(kernel: Kernel, request: Request, path: string): Promise<Response> {
  const headers = new Headers();
  for (const name of PASSED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return kernel.fetch(path, {
    method: request.method,
    headers,
    signal: request.signal,
    ...(request.method === "POST" && { body: JSON.stringify(await readJson(request, MESSAGE)) }),
  });
}

function checkJson({ headers }: Request): void {
  const type = headers.get("content-type") ?? "";
  const hasBody = headers.has("content-length") || headers.has("transfer-encoding");
  if (hasBody && !/^application\/json *(;|$)/i.test(type)) throw new SessarcError("NOT_JSON", { type });
}

/** The server answers itself, or refuses. */
const isOwn = (path: string): boolean => /^\/(?:team(?:\/|$)|auth\/|(?:healthz|readyz|metrics|join)$)/.test(path);

/** Files of the dashboard hold nothing of the team. */
const isLogged = (path: string): boolean => isApi(path) || /^\/team(\/|$)/.test(path);
/** A ticket is a secret until it is used. */
const shownPath = (path: string): string => (path.startsWith("/auth/") ? "/auth/…" : path);
