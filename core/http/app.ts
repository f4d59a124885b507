/** The h3 app: the filter, every route, one shape for every error. */
import { randomBytes } from "node:crypto";
import type { H3, H3Event, HTTPResponse } from "h3";
import type { Front } from "../contract/front.ts";
import type { Kernel } from "../contract/kernel.ts";
import type { RequestEvent } from "../contract/route.ts";
import { SessarcError, toErrorBody } from "../errors/error.ts";
import { messageIn } from "./body.ts";
import {
  addSecurityHeaders,
  checkHead,
  hostNames,
  isLogin,
  LOGIN_PATH,
  type RequestHead,
  SECURITY_HEADERS,
} from "./guard.ts";
import { type Answer, JsonAnswer, routerPath, toAnswer, toHandler } from "./mount.ts";
import type { RegisteredRoute } from "./paths.ts";
import type { Traffic } from "./traffic.ts";

/** Builds the app. Loads h3 (about 40 ms the first time). `front`: default: the local service's filter. */
export async function createApp(
  kernel: Kernel,
  routes: readonly RegisteredRoute[],
  traffic: Traffic,
  front?: Front,
): Promise<H3> {
  const { H3, HTTPResponse } = await import("h3");
  // allowMalformedURL: h3 would answer before the filter; ours answers those itself.
  const app = new H3({ silent: true, allowMalformedURL: true });
  app.use(async (event, next) => {
    const answer = await filter(kernel, front ?? localFront(kernel), event, () =>
      traffic.count(async () => toAnswer(await next(), 200)),
    );
    return finish(answer, event.req.method, HTTPResponse);
  });

  for (const [path, group] of groupByPath(routes)) {
    for (const { route } of group) {
      const handle = toHandler(route, kernel);
      const handler = front ? (event: H3Event) => front.enter(route, event, () => handle(event)) : handle;
      app.on(route.method, path, handler);
      // Mounted by hand: the fallback below would catch HEAD before h3's own step from HEAD to GET.
      if (route.method === "GET") app.on("HEAD", path, handler);
    }
    // A dashboard's `/**` is there for every path: 405 would claim that each of them exists.
    if (path !== "/**") app.all(path, refuseMethod(group.map(({ route }) => route.method)));
  }
  // Before a dashboard's `/**`, or unknown API paths would answer its page.
  for (const path of ["/api", "/api/**", "/**"]) app.all(path, refuseRoute);
  return app;
}

function groupByPath(routes: readonly RegisteredRoute[]): Map<string, RegisteredRoute[]> {
  const groups = new Map<string, RegisteredRoute[]>();
  for (const it of routes) {
    const { path } = routerPath(it.fullPath);
    groups.set(path, [...(groups.get(path) ?? []), it]);
  }
  return groups;
}

function refuseMethod(methods: readonly string[]) {
  const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return (event: H3Event): never => {
    throw new SessarcError("METHOD_NOT_ALLOWED", { method: event.req.method, allow });
  };
}

function refuseRoute(event: H3Event): never {
  throw new SessarcError("ROUTE_NOT_FOUND", { method: event.req.method, path: event.url.pathname });
}

async function filter(kernel: Kernel, front: Front, event: H3Event, next: () => Promise<Answer>): Promise<Answer> {
  const started = performance.now();
  const { method } = event.req;
  const path = event.url.pathname;
  let code: string | undefined;
  const refuse = async (error: unknown) => {
    const body = await fail(kernel, event, front.toError(error));
    code = body.code;
    return body.answer;
  };
  const ask = async () => {
    if (kernel.closing.aborted) throw new SessarcError("SHUTTING_DOWN", {});
    return (await front.check(event)) ?? next();
  };
  let answer = await ask().catch(refuse);
  const { status } = answer;
  await front.answered(event, { status, code, ms: performance.now() - started }).catch(async (error: unknown) => {
    if (answer instanceof Response) await answer.body?.cancel();
    answer = await refuse(error);
  });
  void kernel.notify("request:done", { method, path, status: answer.status, ms: performance.now() - started });
  return answer;
}

/** Of the service on one machine. */
function localFront(kernel: Kernel): Front {
  return {
    async check(event) {
      const head = headOf(event);
      checkHead(head, { hosts: toHosts(kernel), access: kernel.access });
      return kernel.access.required && isLogin(head) ? login(kernel, head.path) : undefined;
    },
    enter: (_route, _event, next) => next(),
    toError: (error) => error,
    answered: async () => {},
  };
}

function headOf(event: RequestEvent): RequestHead {
  const { headers, method } = event.req;
  const node = messageIn(event.req);
  const host = headers.get("host");
  return {
    method,
    target: node?.url ?? event.url.pathname,
    path: event.url.pathname,
    // Node keeps the first of two Host headers and forgets the second; the raw list has both.
    hosts: node ? headerValues(node.rawHeaders, "host") : host === null ? [] : [host],
    header: (name) => headers.get(name),
  };
}

function headerValues(raw: readonly string[], name: string): string[] {
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}

/** Computed once per address. */
function toHosts(kernel: Kernel): ReadonlySet<string> {
  const { host, port } = kernel.address ?? kernel.config;
  const known = hostSets.get(kernel);
  if (known?.key === `${host} ${port}`) return known.names;
  const names = hostNames(host, port, kernel.config.hosts);
  hostSets.set(kernel, { key: `${host} ${port}`, names });
  return names;
}
const hostSets = new WeakMap<Kernel, { key: string; names: ReadonlySet<string> }>();

/**
 * The one-time link: sets the cookie and continues to the dashboard. By a page and not by a redirect, because a Strict cookie
 * is not sent along a redirect that began on another site.
 */
async function login(kernel: Kernel, path: string): Promise<Response> {
  const cookie = await kernel.access.redeem(path.slice(LOGIN_PATH.length));
  if (cookie === undefined) throw new SessarcError("UNAUTHORIZED", {});
  const page = `<!doctype html><meta charset="utf-8"><title>sessarc</title><meta http-equiv="refresh" content="0;url=/"><a href="/">Continue</a>`;
  return new Response(page, { headers: { "content-type": "text/html; charset=utf-8", "set-cookie": cookie } });
}

/** Turns every failure into the one error shape. Internal ones are emitted on `request:error` with the id in the answer. */
async function fail(kernel: Kernel, event: H3Event, error: unknown): Promise<{ answer: Answer; code: string }> {
  const shown = event.req.signal.aborted || kernel.closing.aborted ? (toShutdown(error) ?? error) : error;
  const errorId = randomBytes(4).toString("hex");
  const body = toErrorBody(shown, errorId);
  const info = { method: event.req.method, path: event.url.pathname, errorId };
  if (body.status >= 500 && body.code !== "SHUTTING_DOWN") await kernel.notify("request:error", error, info);
  return { answer: new JsonAnswer(body, body.status, toHeaders(shown, body.status)), code: body.code };
}

/** Work that was cancelled because the client disconnected is not an internal failure. */
function toShutdown(error: unknown): SessarcError | undefined {
  return error instanceof Error && error.name === "AbortError" ? new SessarcError("SHUTTING_DOWN", {}) : undefined;
}

function toHeaders(error: unknown, status: number): Record<string, string> {
  if (status === 401) return { "www-authenticate": 'Bearer realm="sessarc"' };
  if (!(error instanceof SessarcError)) return {};
  const { allow, seconds }: { allow?: unknown; seconds?: unknown } = error.params;
  if (error.code === "METHOD_NOT_ALLOWED" && Array.isArray(allow)) return { allow: allow.join(", ") };
  return typeof seconds === "number" ? { "retry-after": String(seconds) } : {};
}

/** `Plain` is what h3 hands to Node in one piece. */
async function finish(answer: Answer, method: string, Plain: typeof HTTPResponse): Promise<Response | HTTPResponse> {
  const { status } = answer;
  if (answer instanceof JsonAnswer) {
    const headers = { ...SECURITY_HEADERS, ...answer.headers };
    return new Plain(method === "HEAD" ? null : answer.text, { status, headers });
  }
  // A fresh Headers: those of a fetched response cannot be written.
  const headers = new Headers(answer.headers);
  addSecurityHeaders(headers);
  const { statusText } = answer;
  if (method !== "HEAD") return new Response(answer.body, { status, statusText, headers });
  // HEAD of a stream starts it: end it, so that what feeds it stops.
  await answer.body?.cancel();
  return new Response(null, { status, statusText, headers });
}
