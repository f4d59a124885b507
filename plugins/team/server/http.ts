/** The h3 app of a node: the gate, the server's own API, and the kernels of people. */
import { randomBytes } from "node:crypto";
import { IncomingMessage } from "node:http";
import type { H3, H3Event } from "h3";
import { isSessarcError, type Kernel, messageOf, SessarcError, toErrorBody } from "sessarc";
import { addSecurityHeaders, readBytes, readJson, validate } from "sessarc/serve";
import { codeOf } from "../database/install.ts";
import { type Caller, need, needMachine } from "./accounts/caller.ts";
import { createRateLimit } from "./accounts/rate.ts";
import type { ApiRoute } from "./api/route.ts";
import type { Services } from "./api/services.ts";
import { checkRequest, type Gate, remoteOf } from "./gate.ts";
import { isApi, type Offers } from "./people/offers.ts";

const BODY = 64 * 2 ** 10;
/** Entries a minute of one address whose requests have no valid sign-in: without a limit they would fill the disk. */
const UNKNOWN_A_MINUTE = 120;

interface AppParts {
  services: Services;
  routes: readonly ApiRoute[];
  /** What the kernels of people answer. */
  offers: Offers;
  /** Of the caller. */
  kernel(caller: Caller): Promise<Kernel>;
  /** Answers of pages that need no sign-in. */
  open: Readonly<Record<string, (request: Request, message: IncomingMessage | undefined) => Promise<Response>>>;
  log(line: string): void;
}

/** Which of the server's two stores has no room left. */
function toFull(error: unknown): unknown {
  if (!isSessarcError(error) || error.code !== "STORAGE_FULL") return error;
  const what = codeOf(error.cause) === "53100" ? "database" : "disk for chunks and transcripts";
  return new SessarcError("TEAM_FULL", { what }, { cause: error });
}

/** What is known of a request when it is entered into the access log. */
interface Seen {
  caller: Caller | undefined;
}

export async function createNodeApp(parts: AppParts): Promise<H3> {
  const { H3 } = await import("h3");
  const { services, log } = parts;
  const app = new H3({ silent: true, allowMalformedURL: true });
  const unknown = createRateLimit(UNKNOWN_A_MINUTE, 60_000);

  async function handle(event: H3Event, answer: (seen: Seen) => Promise<Response>): Promise<Response> {
    const began = performance.now();
    const request = event.req;
    const path = event.url.pathname;
    const message = messageOfEvent(event);
    const seen: Seen = { caller: undefined };
    let code: string | null = null;
    const refuse = (thrown: unknown): Response => {
      // The client is gone and reads no answer; the access log has it.
      if (request.signal.aborted) {
        code = "CLIENT_GONE";
        return new Response(null, { status: 499 });
      }
      const error = toFull(thrown);
      const errorId = randomBytes(4).toString("hex");
      const body = toErrorBody(error, errorId);
      code = body.code;
      if (body.status >= 500)
        log(
          `${errorId} ${request.method} ${path}: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
        );
      const headers: Record<string, string> = {};
      if (body.code === "TEAM_UNAUTHORIZED") headers["www-authenticate"] = 'Bearer realm="sessarc"';
      if (isSessarcError(error) && "seconds" in error.params) headers["retry-after"] = String(error.params.seconds);
      return json(body, body.status, headers);
    };
    let response: Response;
    try {
      checkRequest(services.gate(), request, path, message);
      response = await answer(seen);
    } catch (error) {
      response = refuse(error);
    }
    if (isLogged(path)) {
      const { caller } = seen;
      const remote = remoteOf(services.gate(), request, message);
      const entry = {
        at: Date.now(),
        person: caller?.person.id ?? null,
        device: caller?.device ?? null,
        remote,
        method: request.method,
        path: shownPath(path),
        status: response.status,
        code,
      };
      // What is above the limit is in the metrics.
      if (caller || unknown.count(remote) === 0)
        await services.access.add(entry).catch(async (error: unknown) => {
          await response.body?.cancel();
          response = refuse(error);
        });
    }
    services.metrics.answered(response.status, performance.now() - began);
    const headers = new Headers(response.headers);
    addSecurityHeaders(headers);
    return new Response(request.method === "HEAD" ? null : response.body, { status: response.status, headers });
  }

  for (const route of parts.routes) {
    app.on(route.method, `/team/api${route.path}`, (event) =>
      handle(event, async (seen) => {
        const caller = route.scope === "open" ? undefined : await signedIn(services, event, seen);
        // A read token reads sessions. Accounts are for machines and for people in a browser.
        if (caller?.proof === "token") needMachine(caller);
        if (caller && route.scope !== "signed-in" && route.scope !== "open") need(caller, route.scope);
        const { signal } = event.req;
        const leave =
          route.places && caller ? await services.places[route.places].enter(caller.person.id, signal) : () => {};
        try {
          const value = await route.handler({
            services,
            caller,
            params: decoded(event.context.params ?? {}),
            query: event.url.searchParams,
            body: await bodyOf(route, event),
            remote: remoteOf(services.gate(), event.req, messageOfEvent(event)),
            signal,
          });
          return json(value, 200);
        } finally {
          leave();
        }
      }),
    );
  }
  for (const [path, answer] of Object.entries(parts.open))
    app.get(path, (event) => handle(event, () => answer(event.req, messageOfEvent(event))));
  app.get("/auth/:ticket", (event) => handle(event, () => signIn(services, String(event.context.params?.ticket))));
  app.all("/**", (event) =>
    handle(event, async (seen) => {
      const path = event.url.pathname;
      if (/^\/team(\/|$)/.test(path)) throw new SessarcError("ROUTE_NOT_FOUND", { method: event.req.method, path });
      const caller = await signedIn(services, event, seen).catch((error: unknown) => {
        if (isApi(path) || event.req.method !== "GET") throw error;
        return undefined;
      });
      if (!caller)
        return page(
          "Sign in",
          "<p>Run <code>sessarc team open</code> on a machine that has joined this team.</p>",
          401,
        );
      need(caller, "read");
      if (!parts.offers.isAllowed(event.req.method, path))
        throw new SessarcError("TEAM_NOT_HERE", {
          what: `${event.req.method} ${path}`,
          instead: "Use the sessarc of your own machine for that",
        });
      const leave = isApi(path) ? await services.places.questions.enter(caller.person.id, event.req.signal) : () => {};
      try {
        return await passOn(await parts.kernel(caller), event);
      } finally {
        leave();
      }
    }),
  );
  return app;
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

async function passOn(kernel: Kernel, event: H3Event): Promise<Response> {
  const headers = new Headers();
  for (const name of PASSED) {
    const value = event.req.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return kernel.fetch(`${event.url.pathname}${event.url.search}`, {
    method: event.req.method,
    headers,
    signal: event.req.signal,
    ...(event.req.method === "POST" && { body: JSON.stringify(await readJson(event.req, MESSAGE)) }),
  });
}

/** Throws TEAM_UNAUTHORIZED. */
async function signedIn({ tokens, gate }: Services, event: H3Event, seen: Seen): Promise<Caller> {
  const { headers } = event.req;
  const bearer = /^Bearer +([A-Za-z0-9_-]{43}) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const cookie = bearer ?? cookieOf(headers.get("cookie"), cookieName(gate()));
  const caller =
    cookie === undefined ? undefined : await tokens.caller(bearer === undefined ? "cookie" : "bearer", cookie);
  if (!caller) throw new SessarcError("TEAM_UNAUTHORIZED", {});
  seen.caller = caller;
  return caller;
}

const COOKIE = "sessarc_team";

/** Where TLS ends here, only a name that no other host of the domain can set. */
const cookieName = (gate: Gate): string => (isSecure(gate) ? `__Host-${COOKIE}` : COOKIE);
const isSecure = ({ addresses }: Gate): boolean => addresses.some((address) => address.startsWith("https://"));

function cookieOf(header: string | null, wanted: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at > 0 && name === wanted) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The one-time link. By a page and not by a redirect: a Strict cookie is not sent along a redirect that began on another site. */
async function signIn({ tokens, gate }: Services, ticket: string): Promise<Response> {
  const session = await tokens.redeem(ticket);
  if (!session) throw new SessarcError("TEAM_UNAUTHORIZED", {});
  const answer = page("sessarc", '<meta http-equiv="refresh" content="0;url=/"><a href="/">Continue</a>', 200);
  answer.headers.set(
    "set-cookie",
    `${cookieName(gate())}=${session.token}; Path=/; HttpOnly; SameSite=Strict; Expires=${new Date(session.expires).toUTCString()}${isSecure(gate()) ? "; Secure" : ""}`,
  );
  return answer;
}

export function page(title: string, body: string, status: number): Response {
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${body}</html>`;
  return new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

const json = (value: unknown, status: number, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value ?? {}), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });

async function bodyOf(route: ApiRoute, event: H3Event): Promise<unknown> {
  if (route.method === "GET") return undefined;
  const type = event.req.headers.get("content-type") ?? "";
  if (route.raw) {
    if (type !== "application/gzip") throw new SessarcError("NOT_JSON", { type });
    return readBytes(event.req, route.bytes ?? BODY);
  }
  const hasBody = event.req.headers.has("content-length") || event.req.headers.has("transfer-encoding");
  if (route.body && hasBody && !/^application\/json *(;|$)/i.test(type)) throw new SessarcError("NOT_JSON", { type });
  const body = await readJson(event.req, route.bytes ?? BODY);
  return route.body ? validate(route.body, body ?? {}, "body") : undefined;
}

function decoded(raw: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch (cause) {
    throw new SessarcError("INVALID_INPUT", { reason: "The path is not valid UTF-8" }, { cause });
  }
}

const messageOfEvent = (event: H3Event): IncomingMessage | undefined => {
  const message: unknown = event.runtime?.node?.req;
  return message instanceof IncomingMessage ? message : undefined;
};

/** Files of the dashboard hold nothing of the team. */
const isLogged = (path: string): boolean => isApi(path) || /^\/team(\/|$)/.test(path);
/** A ticket is a secret until it is used. */
const shownPath = (path: string): string => (path.startsWith("/auth/") ? "/auth/…" : path);
