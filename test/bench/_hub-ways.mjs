/**
 * The ways to one tool that `hub.mjs` measures: over its pipes, behind an HTTP server that does nothing else, through the hub.
 * `node _hub-ways.mjs answer|relay`: those HTTP servers, as processes of their own.
 */
import { spawn } from "node:child_process";
import { createServer, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const SERVER = fileURLToPath(new URL("../mcp-hub/echo-server.mjs", import.meta.url));
const clientInfo = { name: "bench", version: "1" };
const HELLO = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

/** The tool's own process: one line out, one line in. */
export function overPipes() {
  const child = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let next = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = ++next;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  return { pid: child.pid, ask, hello: () => ask("initialize", HELLO), stop: () => child.kill() };
}

/** A server that speaks the protocol over HTTP and does nothing else: `answer` alone, `relay` by way of the tool's pipes. */
export async function plainHttp(kind) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((resolve) => child.stdout.once("data", (text) => resolve(Number(text))));
  return { pid: child.pid, url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** A client that does no more than it must. */
export async function rawClient(url, agent) {
  let session;
  let next = 0;
  const send = (message) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
        ...(session ? { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" } : {}),
      };
      const outgoing = request(`${url}/mcp`, { method: "POST", agent, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => {
          session ??= answer.headers["mcp-session-id"];
          const data = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
          resolve(JSON.parse(data));
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  await send({ id: ++next, method: "initialize", params: HELLO });
  await send({ method: "notifications/initialized" });
  return (method, params) => send({ id: ++next, method, params });
}

/** The official client over streamable HTTP. */
export async function officialClient(url) {
  const [{ Client }, { StreamableHTTPClientTransport }, { ResultSchema }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  // It puts a listener on one signal for every call, until they are collected: Node would warn of each.
  process.removeAllListeners("warning");
  const client = new Client(clientInfo);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return {
    ask: async (method, params) => ({ result: await client.request({ method, params }, ResultSchema) }),
    stop: () => client.close(),
  };
}

function answering() {
  const answers = {
    initialize: (params) => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: clientInfo,
    }),
    "tools/call": (params) => ({ content: [{ type: "text", text: params.arguments.text }] }),
  };
  return async ({ id, method, params }) => ({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} });
}

function relaying() {
  const tool = overPipes();
  process.once("exit", tool.stop);
  return async ({ id, method, params }) => ({ ...(await tool.ask(method, params)), id });
}

function serveAs(kind) {
  const answer = kind === "relay" ? relaying() : answering();
  const server = createServer((req, res) => {
    if (req.method !== "POST") return void res.writeHead(405).end();
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", async () => {
      const message = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      if (message.id === undefined) return void res.writeHead(202).end();
      const text = JSON.stringify(await answer(message));
      res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
    });
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)));
  process.once("SIGTERM", () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serveAs(process.argv[2]);
