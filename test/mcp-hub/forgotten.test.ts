/** A tool server over HTTP that was restarted and knows no session: the hub initialises it again, whatever the server calls that. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, type JsonRecord, parseRecord, toRecord } from "sessarc";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveHub } from "./_hub.ts";

/** How it answers a session that it does not know. `html`: not JSON at all. */
interface Way {
  status: number;
  error?: { code: number; message: string };
  html?: string;
  stream?: boolean;
}

const WAYS: Record<string, Way> = {
  "404 as the protocol asks": { status: 404, error: { code: -32001, message: "Session not found" } },
  "404 without a body": { status: 404, html: "" },
  "400 of the official SDK after a restart": {
    status: 400,
    error: { code: -32000, message: "Bad Request: Server not initialized" },
  },
  "400 that asks for a header": {
    status: 400,
    error: { code: -32000, message: "Bad Request: Mcp-Session-Id header is required" },
  },
  "400 in words of its own": { status: 400, error: { code: -32600, message: "unbekannte Sitzung" } },
  "400 of a proxy": { status: 400, html: "<h1>Bad Request</h1>" },
  "410 gone": { status: 410, html: "gone" },
  "422 about the session": { status: 422, error: { code: -32000, message: "Invalid session ID" } },
  "500 about the session": { status: 500, error: { code: -32603, message: "session has expired" } },
  "200 with an error": { status: 200, error: { code: -32001, message: "Session not found" } },
  "200 with an error of other words": { status: 200, error: { code: -32000, message: "No valid session ID provided" } },
  "200 that wants a handshake": { status: 200, error: { code: -32002, message: "Server not initialized" } },
  "200 with an error in a stream": {
    status: 200,
    error: { code: -32001, message: "session_id does not exist" },
    stream: true,
  },
};
const isReported = ({ status }: Way) => status === 200 || status >= 500;

async function readBody(request: IncomingMessage): Promise<JsonRecord> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return parseRecord(Buffer.concat(parts).toString("utf8")) ?? {};
}

/** A server with the tools `write` (changes something), `read` (does not) and `slow` (ends when the test releases it). */
async function forgetful(way: Way) {
  const sessions = new Set<string>();
  const done: string[] = [];
  let handshakes = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = () => {};
  const holding = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = await readBody(request);
    const say = (status: number, body: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id ?? null, ...body }));
    };
    const params = toRecord(message.params);
    if (message.method === "initialize") {
      handshakes++;
      const session = randomUUID();
      sessions.add(session);
      const result = {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "forgetful", version: "1" },
      };
      return say(200, { result }, { "mcp-session-id": session });
    }
    const isKnown = sessions.has(String(request.headers["mcp-session-id"]));
    // One that only reports an error may have done its work before.
    if (!isKnown && isReported(way) && message.method === "tools/call") done.push(`${params.name}?`);
    if (!isKnown && way.html !== undefined)
      return void response.writeHead(way.status, { "content-type": "text/html" }).end(way.html);
    if (!isKnown && way.stream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const error = { jsonrpc: "2.0", id: message.id, error: way.error };
      return void response.end(`event: message\ndata: ${JSON.stringify(error)}\n\n`);
    }
    if (!isKnown) return say(way.status, { error: way.error });
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/list") {
      const inputSchema = { type: "object" };
      const tools = [
        { name: "write", inputSchema },
        { name: "read", inputSchema, annotations: { readOnlyHint: true } },
        { name: "slow", inputSchema },
        { name: "odd", inputSchema },
      ];
      return say(200, { result: { tools } });
    }
    if (params.name === "slow") {
      isHeld();
      await held;
    }
    if (params.name === "odd") return say(200, { error: { code: -32050, message: "No session of the browser yet" } });
    done.push(String(params.name));
    say(200, { result: { content: [{ type: "text", text: "done" }] } });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const { kernel, add } = await serveHub();
  await add("s", { url: `http://127.0.0.1:${port}/mcp` });
  const call = async (tool: string) => {
    const body = JSON.stringify({ name: `s__${tool}`, arguments: {} });
    const headers = { "content-type": "application/json" };
    const response = await kernel.fetch("/api/mcp/call", { method: "POST", headers, body });
    const answer: unknown = await response.json();
    return { status: response.status, message: isRecord(answer) ? String(answer.message ?? "") : "" };
  };
  return { call, done, sessions, holding, release, handshakes: () => handshakes };
}

describe("mcp-hub: a server that forgot its sessions", () => {
  it.each(Object.entries(WAYS))("is initialised again, once: %s", async (_, way) => {
    const { call, done, sessions, handshakes } = await forgetful(way);
    expect(await call("write")).toMatchObject({ status: 200 });
    sessions.clear();
    const first = await call("write");
    if (isReported(way)) {
      // The tool may have run: it is not run a second time unasked.
      expect(first.status).not.toBe(200);
      expect(done).toEqual(["write", "write?"]);
    } else {
      expect(first).toMatchObject({ status: 200 });
      expect(done).toEqual(["write", "write"]);
    }
    expect(await call("write")).toMatchObject({ status: 200 });
    expect(handshakes()).toBe(2);
    sessions.clear();
    expect(await call("read")).toMatchObject({ status: 200 });
    expect(await call("read")).toMatchObject({ status: 200 });
    expect(handshakes()).toBe(3);
  });

  it("keeps the calls of others that are still running over the old session", async () => {
    const { call, sessions, holding, release, done } = await forgetful({ status: 400, html: "no" });
    const slow = call("slow");
    await holding;
    sessions.clear();
    expect(await call("write")).toMatchObject({ status: 200 });
    release();
    expect(await slow).toMatchObject({ status: 200 });
    expect(done).toEqual(["write", "slow"]);
  });

  it("gives the error back when the server never knows a session", async () => {
    const { call, sessions, handshakes } = await forgetful({ status: 400, html: "no" });
    sessions.add = () => sessions;
    expect((await call("read")).status).toBeGreaterThanOrEqual(400);
    expect(handshakes()).toBeLessThan(6);
  });

  it("does not call a tool again that talks about a session of its own", async () => {
    const { call, handshakes } = await forgetful({ status: 404 });
    expect((await call("odd")).message).toContain("No session of the browser yet");
    expect(handshakes()).toBeLessThan(3);
  });
});
