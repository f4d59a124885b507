/** A service that people sign in to, and who gives its tokens: two small servers at two addresses. Everything they are sent is kept. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { parseRecord, toRecord } from "sessarc";
import { onTestFinished } from "vitest";

const secret = (kind: string) => `${kind}-${randomBytes(18).toString("hex")}`;

async function listen(handle: (req: IncomingMessage, res: ServerResponse, body: string, origin: string) => void) {
  const seen: string[] = [];
  let origin = "";
  const server = createServer(async (req, res) => {
    const body = await text(req);
    seen.push(`${req.method} ${req.url} ${JSON.stringify(req.headers)} ${body}`);
    handle(req, res, body, origin);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin, seen };
}

const json = (res: ServerResponse, status: number, value: object, headers: Record<string, string> = {}) =>
  void res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

export async function createOAuthService() {
  const clients = new Map<string, unknown>();
  const codes = new Map<string, { challenge: string; redirect: string }>();
  let access = new Set<string>();
  let refresh = new Set<string>();
  let refreshes = 0;

  function grant(res: ServerResponse): void {
    const token = {
      access_token: secret("access"),
      refresh_token: secret("refresh"),
      token_type: "Bearer",
      expires_in: 60,
    };
    access.add(token.access_token);
    refresh.add(token.refresh_token);
    json(res, 200, token);
  }

  const issuer = await listen((req, res, body, origin) => {
    const url = new URL(req.url ?? "/", origin);
    if (url.pathname === "/.well-known/oauth-authorization-server")
      return json(res, 200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      });
    if (url.pathname === "/register") {
      const client = { ...parseRecord(body), client_id: secret("client") };
      clients.set(client.client_id, client);
      return json(res, 201, client);
    }
    if (url.pathname === "/authorize") {
      const ask = url.searchParams;
      const redirect = ask.get("redirect_uri") ?? "";
      const known = toRecord(clients.get(ask.get("client_id") ?? "")).redirect_uris;
      if (!Array.isArray(known) || !known.includes(redirect) || ask.get("code_challenge_method") !== "S256")
        return json(res, 400, { error: "invalid_request" });
      const code = secret("code");
      codes.set(code, { challenge: ask.get("code_challenge") ?? "", redirect });
      const back = new URL(redirect);
      for (const [name, value] of [
        ["code", code],
        ["state", ask.get("state") ?? ""],
        ["iss", origin],
      ] as const)
        back.searchParams.set(name, value);
      return void res.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname !== "/token") return json(res, 404, {});
    const form = new URLSearchParams(body);
    if (form.get("grant_type") === "refresh_token") {
      refreshes++;
      // Each is good once, as is usual.
      return refresh.delete(form.get("refresh_token") ?? "") ? grant(res) : json(res, 400, { error: "invalid_grant" });
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const fits = code?.challenge === proof && code.redirect === form.get("redirect_uri");
    return fits ? grant(res) : json(res, 400, { error: "invalid_grant" });
  });

  const answers: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "guarded", version: "1" },
    },
    "tools/list": { tools: [{ name: "whoami", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "somebody" }] },
  };
  const service = await listen((req, res, body, origin) => {
    if (req.url?.startsWith("/.well-known/oauth-protected-resource"))
      return json(res, 200, { resource: `${origin}/mcp`, authorization_servers: [issuer.origin] });
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1] ?? "";
    if (!access.has(token)) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return json(res, 401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
    }
    if (req.method !== "POST") return void res.writeHead(405).end();
    const { id, method } = parseRecord(body) ?? {};
    if (id === undefined) return void res.writeHead(202).end();
    const result = answers[String(method)];
    return json(res, 200, {
      jsonrpc: "2.0",
      id,
      ...(result ? { result } : { error: { code: -32601, message: "no" } }),
    });
  });

  return {
    url: `${service.origin}/mcp`,
    service,
    issuer,
    refreshes: () => refreshes,
    expire: () => {
      access = new Set();
    },
    revoke: () => {
      access = new Set();
      refresh = new Set();
    },
  };
}
