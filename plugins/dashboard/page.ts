/** GET /** : files of the built dashboard, and its page for every address that is not theirs. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { defineRoute, SessarcError } from "sessarc";
import { resolveInside } from "sessarc/files";
import { toScripts } from "./scripts.ts";

/** What a plugin's page may import by name: the dashboard's own Vue and parts. */
const IMPORT_MAP = JSON.stringify({ imports: { vue: "/vue.js", "sessarc/kit": "/kit.js" } });

const POLICY = [
  "default-src 'self'",
  // The import map is the one script inside the page.
  `script-src 'self' 'sha256-${createHash("sha256").update(IMPORT_MAP).digest("base64")}'`,
  // The highlighter writes custom properties into style attributes; text of sessions never gets there.
  "style-src 'self' 'unsafe-inline'",
  // Pictures of logs are drawn from memory (blob:); nothing is fetched from elsewhere.
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/** Addresses of other plugins, or of none: the page is never served there. */
const FOREIGN = /^(api|mcp|share|plugins|auth)(\/|$)/;

export interface DashboardOptions {
  /** Folder of the built dashboard, for tests and for a custom one. */
  dir?: string;
  /** Where the service answers some routes only: those that the dashboard may ask (`GET /sessions`). It leaves out what needs others. */
  offers?: readonly string[];
}

/** `dir` holds the build; by default `dist/ui` of this package. */
export function createPage({ dir, offers }: DashboardOptions = {}) {
  const read = toAssets(dir);
  return defineRoute({
    method: "GET",
    path: "/**",
    meta: { team: true },
    mount: "/",
    summary: "The dashboard",
    handler: async ({ params, event }) => {
      const path = params._;
      if (FOREIGN.test(path)) throw new SessarcError("ROUTE_NOT_FOUND", { method: "GET", path: `/${path}` });
      const file = path === "" ? undefined : await read(path);
      if (file) return answer(file, path);
      if (path.startsWith("assets/")) throw new SessarcError("ROUTE_NOT_FOUND", { method: "GET", path: `/${path}` });
      const built = await read("index.html");
      if (!built) throw new SessarcError("DASHBOARD_NOT_BUILT", {});
      const index = toPage(built, offers);
      const tag = `"${createHash("sha256").update(index).digest("base64url").slice(0, 22)}"`;
      if (event.req.headers.get("if-none-match") === tag)
        return new Response(null, { status: 304, headers: toHeaders("index.html", tag) });
      return new Response(index, { headers: toHeaders("index.html", tag) });
    },
  });
}

/** The page, with its import map, and the routes of a service that answers only some in its head: it knows them before it asks anything. */
function toPage(page: Uint8Array, routes: readonly string[] | undefined): Uint8Array<ArrayBuffer> {
  const offers = routes === undefined ? "" : `<meta name="sessarc-routes" content="${routes.join(", ")}">`;
  const map = `<script type="importmap">${IMPORT_MAP}</script>`;
  return new TextEncoder().encode(new TextDecoder().decode(page).replace("<head>", () => `<head>${offers}${map}`));
}

function answer(file: Uint8Array<ArrayBuffer>, path: string): Response {
  return new Response(file, { headers: toHeaders(path) });
}

function toHeaders(path: string, tag?: string): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": TYPES[extname(path)] ?? "application/octet-stream",
    // Names below assets/ carry a hash of their content.
    "cache-control": path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": POLICY,
  };
  if (tag) headers.etag = tag;
  return headers;
}

/** Folder of the build: `dist/ui` of this package, wherever this module was bundled to. */
function folder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("sessarc/package.json")), "dist", "ui");
}

/** Reads a file of the build; undefined when there is none. Hidden files and the build's own manifest are not served. */
function toAssets(dir?: string): (path: string) => Promise<Uint8Array<ArrayBuffer> | undefined> {
  const script = toScripts();
  return async (path) => {
    if (path.split("/").some((part) => part.startsWith("."))) return;
    const root = dir ?? folder();
    const file = await resolveInside(root, path).catch(() => undefined);
    if (file === undefined) return;
    const info = await stat(file).catch(() => undefined);
    return info?.isFile() ? new Uint8Array(await readFile(file)) : script(root, path);
  };
}
