/** What every request must be before anything is asked of it: for this server by name, and not from another site. */
import type { IncomingMessage } from "node:http";
import { SessarcError } from "sessarc";
import { toHostName } from "sessarc/serve";

export interface Gate {
  /** Names in the Host header, lower case. */
  hosts: ReadonlySet<string>;
  /** What a browser names as the origin of this server's own pages. */
  origins: ReadonlySet<string>;
  /** What machines sign for: without a slash at the end. */
  addresses: readonly string[];
  /** A proxy that ends TLS is in front: it adds the address of its client. */
  proxied: boolean;
}

/** Throws TEAM_ADDRESS_INVALID. Answers the address without a slash at the end. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash || url.username)
    throw new SessarcError("TEAM_ADDRESS_INVALID", { address: text });
  return url.origin;
}

export function createGate(host: string, port: number, address: string | undefined): Gate {
  // The first one is in links.
  const names = new Set([toHostName(host).toLowerCase(), "127.0.0.1", "localhost", "[::1]"]);
  const local = [...names].map((name) => `${name}:${port}`);
  const hosts = new Set(local);
  const origins = new Set(local.map((name) => `http://${name}`));
  if (address !== undefined) {
    hosts.add(new URL(address).host);
    origins.add(address);
  }
  return {
    hosts,
    origins,
    addresses: address === undefined ? [...origins] : [address],
    proxied: address !== undefined,
  };
}

/** Addresses of a health check name no host that is known. They answer nothing that is secret. */
const HEALTH = new Set(["/healthz", "/readyz"]);

/** Throws the error that the request is answered with. */
export function checkRequest(gate: Gate, request: Request, path: string, message: IncomingMessage | undefined): void {
  const { headers, method } = request;
  if (HEALTH.has(path)) return;
  const given = message ? toValues(message.rawHeaders, "host") : [headers.get("host") ?? ""];
  const [host = ""] = given;
  if (given.length !== 1 || !gate.hosts.has(host.toLowerCase()))
    throw new SessarcError("FOREIGN_HOST", { host: given.join(", ") });
  const origin = headers.get("origin");
  if (origin !== null && !gate.origins.has(origin)) throw new SessarcError("FOREIGN_ORIGIN", { origin });
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  const isNavigation = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  const isPage = !/^\/(api|mcp|team)(\/|$)/.test(path);
  if (!(isNavigation && isPage && method === "GET"))
    throw new SessarcError("FOREIGN_ORIGIN", { origin: origin ?? site });
}

/** Node keeps the first of two Host headers and forgets the second; the raw list has both. */
const toValues = (raw: readonly string[], name: string): string[] =>
  raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);

/** The address of the client; behind a proxy the one that the proxy added last. */
export function toRemote(gate: Gate, request: Request, message: IncomingMessage | undefined): string {
  const peer = message?.socket.remoteAddress ?? "";
  const added = gate.proxied ? request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
  return (added || peer).slice(0, 60);
}

/** It came from this machine or its own network, and through no proxy. */
export function isInside(request: Request, message: IncomingMessage | undefined): boolean {
  const peer = (message?.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  if (request.headers.has("x-forwarded-for") || request.headers.has("forwarded")) return false;
  return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd][0-9a-f]{2}:)/i.test(peer);
}
