/** The filter in front of every mount: who is asking, by which name, from where. Looks at the head of a request only. */

import type { Access } from "../contract/access.ts";
import { SessarcError } from "../errors/error.ts";
import { toHostName } from "./address.ts";

/** The largest body any route takes; routes set their own, smaller limits. */
const MAX_BODY = 8 * 2 ** 20;

/** A request before its body, as the wire had it. */
export interface RequestHead {
  method: string;
  /** Request target as it was sent. */
  target: string;
  /** Path that is routed. */
  path: string;
  /** Every Host header; a proper request has one. */
  hosts: readonly string[];
  header(name: string): string | null;
}

interface GuardPolicy {
  /** Names this service answers to, with port, lower case. */
  hosts: ReadonlySet<string>;
  access: Access;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Throws the error the request has to be answered with. Cost: a few comparisons, and hashes in token mode. */
export function checkHead(head: RequestHead, policy: GuardPolicy): void {
  const host = checkHost(head, policy.hosts);
  checkSite(head);
  checkOrigin(head, host);
  if (!head.target.startsWith("/"))
    throw new SessarcError("INVALID_INPUT", { reason: "The request target is not a path" });
  if (!isDecodable(head.path)) throw new SessarcError("INVALID_INPUT", { reason: "The path is not valid UTF-8" });
  checkAccess(head, policy.access);
  checkMethod(head.method);
  if (head.method !== "GET" && head.method !== "HEAD") checkBodyHead(head);
}

/** Exactly one Host header, with exactly one of this service's names: the address a name resolves to proves nothing (DNS rebinding). */
function checkHost({ hosts }: RequestHead, allowed: ReadonlySet<string>): string {
  const [host] = hosts;
  if (host === undefined || hosts.length !== 1 || !allowed.has(host.toLowerCase())) {
    throw new SessarcError("FOREIGN_HOST", { host: hosts.join(", ") });
  }
  return host.toLowerCase();
}

/** Browsers say where a request comes from. `same-site` is refused too: every other port of this machine is same-site. */
function checkSite(head: RequestHead): void {
  const site = head.header("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  const isNavigation = head.header("sec-fetch-mode") === "navigate" && head.header("sec-fetch-dest") === "document";
  const isRead = head.method === "GET" || head.method === "HEAD";
  if (isNavigation && isRead && isPage(head.path)) return;
  throw new SessarcError("FOREIGN_ORIGIN", { origin: head.header("origin") ?? site });
}

/** `null` is what sandboxed frames and local files send: as foreign as any other. */
function checkOrigin(head: RequestHead, host: string): void {
  const origin = head.header("origin");
  if (origin !== null && origin !== `http://${host}`) throw new SessarcError("FOREIGN_ORIGIN", { origin });
}

function checkAccess(head: RequestHead, access: Access): void {
  if (!access.required || isLogin(head)) return;
  const credentials = { authorization: head.header("authorization"), cookie: head.header("cookie") };
  if (!access.allows({ method: head.method, path: head.path, ...credentials }))
    throw new SessarcError("UNAUTHORIZED", {});
}

/** OPTIONS goes through: the route's own 405 says what is allowed, and no answer ever grants another origin anything. */
function checkMethod(method: string): void {
  if (method === "OPTIONS" || METHODS.some((known) => known === method)) return;
  throw new SessarcError("METHOD_NOT_ALLOWED", { method, allow: METHODS });
}

/** A write carries JSON or nothing: a form of another page cannot send that without being asked for permission first. */
function checkBodyHead(head: RequestHead): void {
  const length = head.header("content-length");
  const hasBody = (length !== null && length !== "0") || head.header("transfer-encoding") !== null;
  const type = head.header("content-type");
  if ((hasBody || type !== null) && !isJson(type)) throw new SessarcError("NOT_JSON", { type: type ?? "" });
  const encoding = head.header("content-encoding");
  if (hasBody && encoding !== null && encoding !== "identity") throw new SessarcError("NOT_JSON", { type: encoding });
  if (Number(length) > MAX_BODY) throw new SessarcError("BODY_TOO_LARGE", { limit: MAX_BODY });
}

function isJson(type: string | null): boolean {
  return type !== null && /^application\/json *(; *charset="?utf-8"? *)?;? *$/i.test(type);
}

const isPage = (path: string) => !["/api", "/mcp"].some((mount) => path === mount || path.startsWith(`${mount}/`));

export const LOGIN_PATH = "/auth/";
export const isLogin = (head: RequestHead) => head.method === "GET" && head.path.startsWith(LOGIN_PATH);

function isDecodable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes("\0");
  } catch {
    return false;
  }
}

/** Names for an address: the three of loopback, the address itself, and those of the configuration. */
export function hostNames(host: string, port: number, configured: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const name of ["127.0.0.1", "localhost", "[::1]", toHostName(host).toLowerCase()]) {
    names.add(`${name}:${port}`);
    if (port === 80) names.add(name);
  }
  for (const name of configured) names.add(/:\d+$/.test(name) ? name.toLowerCase() : `${name.toLowerCase()}:${port}`);
  return names;
}

/** On every answer. */
const FIXED = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
/** Where a route says nothing else. */
const DEFAULTS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};
/** For answers that are JSON. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = { ...FIXED, ...DEFAULTS };

/** Routes may set their own policy for content and caching; the rest is not theirs to change. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(FIXED)) headers.set(name, value);
  for (const [name, value] of Object.entries(DEFAULTS)) if (!headers.has(name)) headers.set(name, value);
}
