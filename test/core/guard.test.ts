/** The filter in front of every mount, over bare sockets: what browsers and fetch would never send is sent here. */

import { mkdtemp, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, defineRoute } from "sessarc";
import { loadConfig, type Served, serve } from "sessarc/serve";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendRaw } from "../_setup.ts";
import { createTestKernel, readError, testEnv } from "../kernel.ts";

let calls = 0;
const plugin = definePlugin({
  name: "target",
  routes: [
    defineRoute({ method: "GET", path: "/target", summary: "Read", handler: () => ({ calls: ++calls }) }),
    defineRoute({
      method: "POST",
      path: "/target",
      summary: "Write",
      body: v.optional(v.unknown()),
      handler: () => ({ calls: ++calls }),
    }),
    defineRoute({ method: "GET", path: "/**", mount: "/", summary: "Pages", handler: () => new Response("page") }),
    defineRoute({
      method: "GET",
      path: "/share/:token",
      mount: "/",
      summary: "Share",
      handler: () => new Response("s"),
    }),
    defineRoute({
      method: "POST",
      path: "/mcp",
      mount: "/",
      summary: "Protocol",
      body: v.unknown(),
      handler: () => ({}),
    }),
  ],
});

let home: string;
let served: Served;
let port: number;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
  const env = testEnv(home);
  const config = await loadConfig({ cwd: home, env, flags: { port: 0, hosts: ["box.example"] } });
  served = await serve({ config, env, plugins: [plugin()], log: () => {} });
  port = served.port;
});
afterAll(async () => {
  await served.close();
  await rm(home, { recursive: true, force: true });
});

/** `PORT` in a row stands for the port being served. */
const fill = (text: string) => text.replaceAll("PORT", String(port));

interface Row {
  name: string;
  head: string;
  body?: string;
  status: number;
  code?: string;
}

const OURS = "Host: 127.0.0.1:PORT";
const JSON_TYPE = "Content-Type: application/json";
const post = (more: string, path = "/api/target") => `POST ${path} HTTP/1.1\n${OURS}\n${more}`;
const get = (more: string, path = "/api/target") => `GET ${path} HTTP/1.1\n${OURS}\n${more}`;
const host = (...values: string[]) => `GET /api/target HTTP/1.1\n${values.map((value) => `Host: ${value}`).join("\n")}`;
const HOST = { status: 403, code: "FOREIGN_HOST" };
const ORIGIN = { status: 403, code: "FOREIGN_ORIGIN" };
const NAVIGATE = "Sec-Fetch-Mode: navigate\nSec-Fetch-Dest: document";

const rows: Row[] = [
  // 1 Host
  { name: "127.0.0.1", head: host("127.0.0.1:PORT"), status: 200 },
  { name: "localhost", head: host("localhost:PORT"), status: 200 },
  { name: "[::1]", head: host("[::1]:PORT"), status: 200 },
  { name: "a configured name", head: host("box.example:PORT"), status: 200 },
  { name: "DNS rebinding: a foreign name on our port", head: host("evil.example:PORT"), ...HOST },
  { name: "a name that begins like ours", head: host("127.0.0.1.evil.example:PORT"), ...HOST },
  { name: "a name that ends like ours", head: host("evil-localhost:PORT"), ...HOST },
  { name: "localhost as a subdomain", head: host("localhost.evil.example:PORT"), ...HOST },
  { name: "a subdomain of localhost", head: host("evil.localhost:PORT"), ...HOST },
  { name: "ours with another port", head: host("127.0.0.1:1"), ...HOST },
  { name: "ours with our port as a prefix", head: host("127.0.0.1:PORT1"), ...HOST },
  { name: "ours without a port", head: host("127.0.0.1"), ...HOST },
  { name: "ours with user information", head: host("evil@127.0.0.1:PORT"), ...HOST },
  { name: "another spelling of loopback", head: host("127.1:PORT"), ...HOST },
  { name: "loopback as a number", head: host("2130706433:PORT"), ...HOST },
  { name: "the wildcard address", head: host("0.0.0.0:PORT"), ...HOST },
  { name: "a trailing dot", head: host("localhost.:PORT"), ...HOST },
  { name: "a missing Host", head: "GET /api/target HTTP/1.1\nAccept: */*", ...HOST },
  { name: "an empty Host", head: host(""), ...HOST },
  { name: "HTTP/1.0 without Host", head: "GET /api/target HTTP/1.0\nAccept: */*", ...HOST },
  { name: "two Hosts, ours first", head: host("127.0.0.1:PORT", "evil.example"), ...HOST },
  { name: "two Hosts, ours last", head: host("evil.example", "127.0.0.1:PORT"), ...HOST },
  { name: "X-Forwarded-Host", head: `${host("evil.example:PORT")}\nX-Forwarded-Host: 127.0.0.1:PORT`, ...HOST },
  {
    name: "an absolute target with a foreign Host",
    head: "GET http://127.0.0.1:PORT/api/target HTTP/1.1\nHost: evil.example",
    ...HOST,
  },
  {
    name: "an absolute target",
    head: `GET http://evil.example/api/target HTTP/1.1\n${OURS}`,
    status: 400,
    code: "INVALID_INPUT",
  },
  // 2 Sec-Fetch-Site
  { name: "same-origin", head: get("Sec-Fetch-Site: same-origin"), status: 200 },
  { name: "none (typed by the user)", head: get("Sec-Fetch-Site: none"), status: 200 },
  { name: "cross-site", head: get("Sec-Fetch-Site: cross-site"), ...ORIGIN },
  { name: "same-site: another port of this machine", head: get("Sec-Fetch-Site: same-site"), ...ORIGIN },
  { name: "an unknown value", head: get("Sec-Fetch-Site: friendly"), ...ORIGIN },
  { name: "two values", head: get("Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site"), ...ORIGIN },
  { name: "a link to a page", head: get(`Sec-Fetch-Site: cross-site\n${NAVIGATE}`, "/projects"), status: 200 },
  { name: "a link to a share", head: get(`Sec-Fetch-Site: same-site\n${NAVIGATE}`, "/share/abc"), status: 200 },
  { name: "a link to the API", head: get(`Sec-Fetch-Site: cross-site\n${NAVIGATE}`), ...ORIGIN },
  {
    name: "a link to the API, encoded",
    head: get(`Sec-Fetch-Site: cross-site\n${NAVIGATE}`, "/%61pi/target"),
    ...ORIGIN,
  },
  { name: "a link to the protocol", head: get(`Sec-Fetch-Site: cross-site\n${NAVIGATE}`, "/mcp"), ...ORIGIN },
  {
    name: "a page in a frame",
    head: get("Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe", "/projects"),
    ...ORIGIN,
  },
  {
    name: "a page as a script",
    head: get("Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: script", "/projects"),
    ...ORIGIN,
  },
  {
    name: "a form of another site",
    head: post(`Sec-Fetch-Site: cross-site\n${NAVIGATE}\nContent-Length: 0`, "/projects"),
    ...ORIGIN,
  },
  // 3 Origin
  { name: "our own Origin", head: get("Origin: http://127.0.0.1:PORT"), status: 200 },
  { name: "null", head: get("Origin: null"), ...ORIGIN },
  { name: "a foreign Origin on a read", head: get("Origin: http://evil.example"), ...ORIGIN },
  { name: "another port", head: get("Origin: http://127.0.0.1:1"), ...ORIGIN },
  { name: "ours over https", head: get("Origin: https://127.0.0.1:PORT"), ...ORIGIN },
  { name: "another of our names", head: get("Origin: http://localhost:PORT"), ...ORIGIN },
  { name: "an Origin that begins like ours", head: get("Origin: http://127.0.0.1:PORT.evil.example"), ...ORIGIN },
  { name: "an empty Origin", head: get("Origin:"), ...ORIGIN },
  {
    name: "a preflight",
    head: `OPTIONS /api/target HTTP/1.1\n${OURS}\nOrigin: http://evil.example\nAccess-Control-Request-Method: POST`,
    ...ORIGIN,
  },
  {
    name: "a preflight for the private network",
    head: `OPTIONS /api/target HTTP/1.1\n${OURS}\nOrigin: http://127.0.0.1:PORT\nAccess-Control-Request-Private-Network: true`,
    status: 405,
    code: "METHOD_NOT_ALLOWED",
  },
  // Other mounts and answers go through the same filter
  { name: "a page for a foreign Host", head: "GET / HTTP/1.1\nHost: evil.example", ...HOST },
  { name: "a share for a foreign Host", head: "GET /share/abc HTTP/1.1\nHost: evil.example", ...HOST },
  { name: "a file for a foreign Origin", head: get("Origin: http://evil.example", "/assets/app.js"), ...ORIGIN },
  { name: "an unknown API path for a foreign Host", head: "GET /api/none HTTP/1.1\nHost: evil.example", ...HOST },
  { name: "HEAD for a foreign Host", head: "HEAD /api/target HTTP/1.1\nHost: evil.example", status: 403 },
  { name: "HEAD", head: `HEAD /api/target HTTP/1.1\n${OURS}`, status: 200 },
  { name: "the protocol for a foreign Host", head: `POST /mcp HTTP/1.1\nHost: evil.example\n${JSON_TYPE}`, ...HOST },
  // 4 Writes and methods
  { name: "JSON", head: post(`${JSON_TYPE}\nContent-Length: 2`), body: "{}", status: 200 },
  { name: "JSON in UTF-8", head: post(`${JSON_TYPE}; charset=utf-8\nContent-Length: 2`), body: "{}", status: 200 },
  { name: "no body at all", head: post("Content-Length: 0"), status: 200 },
  {
    name: "text/plain",
    head: post("Content-Type: text/plain\nContent-Length: 2"),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  {
    name: "a form",
    head: post("Content-Type: application/x-www-form-urlencoded\nContent-Length: 2"),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  { name: "an untyped body", head: post("Content-Length: 2"), body: "{}", status: 415, code: "NOT_JSON" },
  {
    name: "a type that only begins like JSON",
    head: post("Content-Type: application/json-patch\nContent-Length: 2"),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  {
    name: "two types in one",
    head: post("Content-Type: text/plain; application/json\nContent-Length: 2"),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  {
    name: "another charset",
    head: post(`${JSON_TYPE}; charset=utf-16\nContent-Length: 2`),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  {
    name: "a compressed body",
    head: post(`${JSON_TYPE}\nContent-Encoding: gzip\nContent-Length: 2`),
    body: "{}",
    status: 415,
    code: "NOT_JSON",
  },
  {
    name: "text/plain on the protocol",
    head: post("Content-Type: text/plain\nContent-Length: 2", "/mcp"),
    body: "{}",
    status: 415,
  },
  { name: "TRACE", head: `TRACE /api/target HTTP/1.1\n${OURS}`, status: 405, code: "METHOD_NOT_ALLOWED" },
  {
    name: "PUT",
    head: `PUT /api/target HTTP/1.1\n${OURS}\nContent-Type: application/json\nContent-Length: 0`,
    status: 405,
    code: "METHOD_NOT_ALLOWED",
  },
  {
    name: "a method override stays a GET",
    head: get("X-HTTP-Method-Override: DELETE"),
    status: 200,
  },
  // 6 Bodies
  {
    name: "a body announced too large",
    head: post(`${JSON_TYPE}\nContent-Length: 99999999`),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  { name: "a prototype key", head: post(`${JSON_TYPE}\nContent-Length: 16`), body: '{"__proto__":{}}', status: 400 },
  // Not HTTP
  { name: "bytes that are no HTTP", head: "HELLO", status: 400, code: "INVALID_INPUT" },
  {
    name: "a head that is too large",
    head: get(`X-Large: ${"x".repeat(20_000)}`),
    status: 431,
    code: "HEAD_TOO_LARGE",
  },
  { name: "a path that is not UTF-8", head: get("Accept: */*", "/api/%ff"), status: 400, code: "INVALID_INPUT" },
  {
    name: "a path that is not UTF-8 for a foreign Host",
    head: "GET /api/%ff HTTP/1.1\nHost: evil.example",
    ...HOST,
  },
];

describe("S5: the filter", () => {
  it.each(rows)("$name → $status $code", async ({ head, body, status, code }) => {
    const before = calls;
    const answer = await sendRaw(port, fill(head), body);
    expect({ status: answer.status, code: answer.json?.code }).toEqual({ status, code: code ?? answer.json?.code });
    if (status >= 400) expect(calls).toBe(before);
    if (code) expect(answer.json).toMatchObject({ status, code, message: expect.any(String) });
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("a chunked body is counted while it comes, and the answer reaches the client", async () => {
    const chunk = `${(65_536).toString(16)}\r\n${"x".repeat(65_536)}\r\n`;
    const head = fill(post(`${JSON_TYPE}\nTransfer-Encoding: chunked`));
    const answer = await sendRaw(
      port,
      head,
      Array.from({ length: 32 }, () => chunk),
    );
    expect(answer.json).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
  });

  it("a body without end is read no further than the limit, and the connection is closed", async () => {
    const socket = createConnection(port, "127.0.0.1");
    let answer = "";
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`${fill(post(`${JSON_TYPE}\nTransfer-Encoding: chunked`)).replaceAll("\n", "\r\n")}\r\n\r\n`);
    const chunk = `${(65_536).toString(16)}\r\n${"x".repeat(65_536)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pour);
    pour();
    await closed;
    expect(answer).toContain("BODY_TOO_LARGE");
    // The limit is 1 MB; the system's own buffers on both sides take some more.
    expect(socket.bytesWritten).toBeLessThan(24 * 2 ** 20);
  });

  it("an answer that did not wait for the body says that the connection ends, one that read it keeps it", async () => {
    const refused = await sendRaw(port, fill(post("Content-Type: text/plain\nContent-Length: 2")), "{}");
    const taken = await sendRaw(port, fill(post(`${JSON_TYPE}\nContent-Length: 2`)), "{}");
    expect([refused, taken].map(({ status, headers }) => [status, headers.connection])).toEqual([
      [415, "close"],
      [200, "keep-alive"],
    ]);
  });

  it("a connection that never ends its refused body is cut off", async () => {
    const socket = createConnection(port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.resume();
    socket.write(fill(post("Content-Type: text/plain\nTransfer-Encoding: chunked")).replaceAll("\n", "\r\n"));
    socket.write("\r\n\r\n5\r\nhello\r\n");
    await closed;
  });

  it("goes for requests of this process too", async () => {
    const t = await createTestKernel({ plugins: [plugin()] });
    expect((await t.fetch("/api/target")).status).toBe(200);
    const foreign = await t.fetch("/api/target", { headers: { host: "evil.example" } });
    expect(await readError(foreign)).toMatchObject({ code: "FOREIGN_HOST" });
    const origin = await t.fetch("/api/target", { headers: { origin: "null" } });
    expect(await readError(origin)).toMatchObject({ code: "FOREIGN_ORIGIN" });
    const text = await t.fetch("/api/target", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "text/plain" },
    });
    expect(await readError(text)).toMatchObject({ code: "NOT_JSON" });
  });
});
