/** Token mode (`--auth`): who may call. Off on loopback unless asked for; then every question here answers yes. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import type { Access } from "../contract/access.ts";
import { writeFileAtomic } from "../utils/atomic.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { readRegular } from "../utils/regular.ts";

/** Shape of `<data directory>/access.json`, mode 0600. */
interface Discovery {
  /** Stable tokens. */
  guard: string;
  mcp: string;
  /** Of the running service; absent when none runs. */
  pid?: number;
  url?: string;
  token?: string;
  /** Link that logs a browser in, once. A new one is written when it was used. */
  login?: string;
}

/** What installed hooks may ask. */
const HOOKS = ["/api/security/pretooluse", "/api/waiting"];

const DISCOVERY_FILE = "access.json";

const secret = () => randomBytes(32).toString("base64url");

export async function createAccess(required: boolean, dataDir: string): Promise<Access> {
  if (!required) return OPEN;
  const file = join(dataDir, DISCOVERY_FILE);
  const known = await readDiscovery(dataDir);
  const stable = { guard: known?.guard ?? secret(), mcp: known?.mcp ?? secret() };
  const token = secret();
  const session = secret();
  let ticket = secret();
  let running: { url: string; port: number } | undefined;

  async function write(): Promise<void> {
    const live = running && { pid: process.pid, url: running.url, token, login: `${running.url}auth/${ticket}` };
    await makeFolder(dataDir, 0o700);
    await writeFileAtomic(file, `${JSON.stringify({ ...stable, ...live }, null, 2)}\n`);
  }
  await write();
  const cookieName = () => `sessarc_${running?.port ?? 0}`;

  return {
    required,
    token,
    scoped: (scope) => stable[scope],
    allows({ method, path, authorization, cookie }) {
      const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
      if (bearer !== undefined) {
        if (same(bearer, token)) return true;
        if (same(bearer, stable.guard)) return method === "POST" && HOOKS.includes(path);
        if (same(bearer, stable.mcp)) return path === "/mcp" || path.startsWith("/mcp/");
        return false;
      }
      const value = readCookie(cookie, cookieName());
      if (value !== undefined && same(value, session)) return true;
      // What they carry is their credential: a share's token, the state of a sign-in. Browsers come there from other places.
      // A hook has its service prove who it is before it shows a token.
      const carries = path.startsWith("/share/") || path === "/oauth/callback" || path === "/api/security/proof";
      return carries && (method === "GET" || method === "HEAD");
    },
    async redeem(given) {
      if (!same(given, ticket)) return undefined;
      ticket = secret();
      await write();
      return `${cookieName()}=${session}; Path=/; HttpOnly; SameSite=Strict`;
    },
    async publish(url, port) {
      running = { url, port };
      await write();
      return `${url}auth/${ticket}`;
    },
    async retract() {
      running = undefined;
      await write();
    },
  };
}

/** The content of the discovery file; undefined when it is missing or invalid. */
export async function readDiscovery(dataDir: string): Promise<Discovery | undefined> {
  try {
    const value = JSON.parse(await readRegular(join(dataDir, DISCOVERY_FILE))) as Partial<Discovery> | null;
    return typeof value?.guard === "string" && typeof value.mcp === "string" ? (value as Discovery) : undefined;
  } catch {
    // Missing or unreadable is the same here: new tokens are made, and a service that asks for the old ones answers 401.
    return undefined;
  }
}

const OPEN: Access = {
  required: false,
  token: undefined,
  scoped: () => undefined,
  allows: () => true,
  redeem: async () => undefined,
  publish: async () => undefined,
  retract: async () => {},
};

function readCookie(header: string | null, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Equal in time that does not depend on where they differ. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
