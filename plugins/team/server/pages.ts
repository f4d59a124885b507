/** Pages of the server's own, and the cookie of a browser that is signed in. */
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
  const answer = page("sessarc", '<meta http-equiv="refresh" content="0;url=/"><a href="/">Continue</a>', 200);
  answer.headers.set(
    "set-cookie",
    `${cookieName(gate)}=${session.token}; Path=/; HttpOnly; SameSite=Strict; Expires=${new Date(session.expires).toUTCString()}${isSecure(gate) ? "; Secure" : ""}`,
  );
  return answer;
}

export function page(title: string, body: string, status: number): Response {
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${body}</html>`;
  return new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}
