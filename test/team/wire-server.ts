/** A server that keeps the wire contract of the team's API and remembers every byte, for tests of the machine that pushes. */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import type { Manifest } from "../../plugins/team/index.ts";
import { toDigest } from "./digest.ts";

const SIGNING = generateKeyPairSync("ed25519");

export interface Received {
  method: string;
  path: string;
  headers: string;
  body: Buffer;
}

/** What the server does with a request before it answers: a status instead, or `cut` the connection, before or after it has taken effect. */
export type Trouble = (request: {
  method: string;
  path: string;
  count: number;
}) => undefined | { status: number; headers?: Record<string, string>; code?: string } | "cut" | "cut-after";

export interface Stored {
  space: number;
  manifest: Manifest;
  digest: string;
}

export class WireServer {
  readonly received: Received[] = [];
  readonly blobs = new Map<string, Buffer>();
  readonly sessions = new Map<string, Stored>();
  readonly withdrawn = new Set<string>();
  /** How often each session's import took effect. */
  readonly imports = new Map<string, number>();
  trouble: Trouble = () => undefined;
  /** What a request waits for before it is answered. */
  hold: ((request: { method: string; path: string }) => Promise<void> | undefined) | undefined;
  tokens = new Set<string>();
  #revoked = false;
  #http: Server | undefined;
  #key: string | undefined;
  address = "";

  get link(): string {
    return `${this.address}/join#${"c".repeat(43)}`;
  }

  async start(port = 0): Promise<this> {
    const http = createServer((request, response) => void this.#take(request, response));
    this.#http = http;
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    this.address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    onTestFinished(() => this.stop());
    return this;
  }

  /** Ends the access of the machine, as an owner does. */
  revoke(): void {
    this.#revoked = true;
    this.tokens.clear();
  }

  async stop(): Promise<void> {
    const http = this.#http;
    this.#http = undefined;
    http?.closeAllConnections();
    await new Promise((resolve) => (http ? http.close(resolve) : resolve(undefined)));
  }

  /** Everything that was received, inflated where it can be. */
  text(): string {
    return this.received
      .flatMap(({ path, headers, body }) => [
        path,
        headers,
        body.toString("latin1"),
        body.toString("utf8"),
        inflated(body),
      ])
      .join("\n");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const path = (request.url ?? "").replace("/team/api", "");
    const method = request.method ?? "";
    this.received.push({ method, path, headers: JSON.stringify(request.headers), body: Buffer.concat(parts) });
    await this.hold?.({ method, path });
    const trouble = this.trouble({ method, path, count: this.received.length });
    if (trouble === "cut") return void request.socket.destroy();
    if (trouble && trouble !== "cut-after")
      return send(response, trouble.status, { code: trouble.code ?? "BUSY", message: "no" }, trouble.headers);
    const [status, body] = this.#answer(method, path, request, Buffer.concat(parts));
    if (trouble === "cut-after") return void request.socket.destroy();
    send(response, status, body);
  }

  #answer(method: string, path: string, request: IncomingMessage, bytes: Buffer): [number, unknown] {
    const json = () => JSON.parse(bytes.toString("utf8"));
    const spaces = [
      { id: 1, name: "Anna", kind: "private", mine: true },
      { id: 2, name: "Everyone", kind: "team", mine: false },
    ];
    const who = { person: { id: "p1", name: "Anna" }, device: "d1", machine: "m1", scopes: ["push", "read"], spaces };
    if (path === "/join") {
      this.#key = json().publicKey;
      return [200, { ...who, address: this.address }];
    }
    if (path === "/token") {
      const { device, at, nonce, signature } = json();
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: this.#key ?? "" }, format: "jwk" });
      const text = Buffer.from(["sessarc-team-token", this.address, device, at, nonce].join("\n"));
      if (!verify(null, text, key, Buffer.from(signature, "base64url")))
        return [401, { code: "TEAM_SIGNATURE_INVALID", message: "no" }];
      if (this.#revoked)
        return [401, { code: "TEAM_MACHINE_REVOKED", message: "ended", fix: "Run `sessarc team join <link>`." }];
      const token = randomBytes(16).toString("hex");
      this.tokens.add(token);
      return [200, { token, expires: new Date(Date.now() + 600_000).toISOString() }];
    }
    if (!this.tokens.has(request.headers.authorization?.replace("Bearer ", "") ?? ""))
      return [401, { code: "TEAM_UNAUTHORIZED", message: "no" }];
    if (path === "/me") return [200, who];
    if (path === "/have") {
      const asked: { id: string; digest: string; space: number }[] = json().sessions;
      const lacks = ({ id, digest, space }: (typeof asked)[number]) => {
        const known = this.sessions.get(id);
        return known?.digest !== digest || known.space !== space;
      };
      const missing = asked.filter((one) => !this.withdrawn.has(one.id) && lacks(one)).map(({ id }) => id);
      return [200, { missing, withdrawn: asked.filter(({ id }) => this.withdrawn.has(id)).map(({ id }) => id) }];
    }
    if (path === "/blobs/have") return [200, { missing: json().sha256.filter((one: string) => !this.blobs.has(one)) }];
    if (method === "PUT" && path.startsWith("/blobs/")) {
      const inflated = gunzipSync(bytes);
      const name = path.slice(7);
      if (createHash("sha256").update(inflated).digest("hex") !== name)
        return [422, { code: "TEAM_BLOB_WRONG", message: "no" }];
      this.blobs.set(name, inflated);
      return [200, { stored: true }];
    }
    if (path === "/sessions") return this.#store(json());
    if (path === "/withdraw") return this.#withdraw(json().ids);
    if (path === "/open")
      return [200, { url: `${this.address}/auth/${"x".repeat(43)}`, expires: new Date().toISOString() }];
    return [404, { code: "ROUTE_NOT_FOUND", message: path }];
  }

  #store({ space, manifest, again }: { space: number; manifest: Manifest; again: boolean }): [number, unknown] {
    const { id, events, earlier, replies, raw } = manifest;
    if (this.withdrawn.has(id) && !again) return [410, { code: "TEAM_WITHDRAWN", message: "no" }];
    const missing = [...events, ...earlier.flat(), ...replies, ...raw].filter((one) => !this.blobs.has(one));
    if (missing.length > 0) return [409, { code: "TEAM_BLOBS_MISSING", message: missing.join() }];
    const digest = toDigest(manifest);
    const known = this.sessions.get(id);
    if (known?.digest === digest && known.space === space) return [200, { id, digest, outcome: "unchanged" }];
    this.withdrawn.delete(id);
    this.sessions.set(id, { space, manifest, digest });
    this.imports.set(id, (this.imports.get(id) ?? 0) + 1);
    return [200, { id, digest, outcome: "imported" }];
  }

  #withdraw(ids: readonly string[]): [number, unknown] {
    const removed = ids.flatMap((id) => {
      const known = this.sessions.get(id);
      this.sessions.delete(id);
      this.withdrawn.add(id);
      return known ? [{ id, digest: known.digest, at: new Date().toISOString() }] : [];
    });
    const receipt = JSON.stringify({ person: "p1", device: "d1", removed });
    const signature = sign(null, Buffer.from(receipt), SIGNING.privateKey).toString("base64url");
    return [200, { removed, receipt, signature, publicKey: SIGNING.publicKey.export({ format: "jwk" }).x }];
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function inflated(body: Buffer): string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return "";
  return gunzipSync(body).toString("utf8");
}
