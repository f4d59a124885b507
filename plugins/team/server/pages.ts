/** Pages of the server's own, and the cookie of a browser that is signed in. */
import { createHash } from "node:crypto";
import { SessarcError } from "sessarc";
import type { Tokens } from "./accounts/tokens.ts";
import type { Gate } from "./gate.ts";

const COOKIE = "sessarc_team";

/** Where TLS ends here, only a name that no other host of the domain can set. */
const cookieName = (gate: Gate): string => (isSecure(gate) ? `__Host-${COOKIE}` : COOKIE);
const isSecure = ({ addresses }: Gate): boolean => addresses.some((address) => address.startsWith("https://"));

/** Its value in a header. */
export function readCookie(header: string | null, gate: Gate): string | undefined {
  const wanted = cookieName(gate);
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at > 0 && name === wanted) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The one-time link. By a page and not by a redirect: a Strict cookie is not sent along a redirect that began on another site. */
export async function signInPage(tokens: Tokens, gate: Gate, ticket: string): Promise<Response> {
  const session = await tokens.redeem(ticket);
  if (!session) throw new SessarcError("TEAM_UNAUTHORIZED", {});
  const answer = page(
    "You are signed in",
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open the dashboard</a></p>',
    200,
  );
  answer.headers.set(
    "set-cookie",
    `${cookieName(gate)}=${session.token}; Path=/; HttpOnly; SameSite=Strict; Expires=${new Date(session.expires).toUTCString()}${isSecure(gate) ? "; Secure" : ""}`,
  );
  return answer;
}

/** As the dashboard looks, in both themes: what a new colleague sees first. */
const STYLE = `:root{color-scheme:light dark;--bg:#fcfcfa;--surface:#fff;--sunken:#f3f3f1;--line:#dcdcd8;--ink:#1b1b1a;--ink-2:#55554f}
@media(prefers-color-scheme:dark){:root{--bg:#111214;--surface:#18191c;--sunken:#212327;--line:#33363c;--ink:#ececea;--ink-2:#a9abb0}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--bg);color:var(--ink);font:15px/1.55 Inter,system-ui,sans-serif}
main{width:min(30rem,100%);padding:2rem;background:var(--surface);border:1px solid var(--line);border-radius:12px}
.brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.25rem;font-weight:600}.brand::before{content:"";width:16px;height:16px;border-radius:4px;background:linear-gradient(135deg,#2f5bea,#7a4fc9)}
h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.3}p{margin:0 0 1rem;color:var(--ink-2)}ol{margin:0;padding-inline-start:1.25rem}li{margin-block:.75rem}
code{display:block;margin-block:.4rem;padding:.5rem .75rem;overflow-x:auto;background:var(--sunken);border-radius:6px;font:13px/1.5 ui-monospace,monospace;user-select:all}a{color:inherit}`;
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `body` is HTML that this file makes. No script and no request: the policy allows one style. */
export function page(title: string, body: string, status: number): Response {
  const text = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · sessarc</title><style>${STYLE}</style></head><body><main><p class="brand">sessarc</p><h1>${title}</h1>${body}</main></body></html>`;
  return new Response(text, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
  });
}
