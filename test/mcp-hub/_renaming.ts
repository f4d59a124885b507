/** In front of the hub's `/mcp`: names of one service as the service has them, so that the conformance suite finds what it looks for. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { parseRecord, toRecord } from "sessarc";
import { onTestFinished } from "vitest";

/** Answers the address of a proxy that puts `<service>__` in front of names on the way in and takes it away on the way out. */
export async function renaming(hub: string, service: string): Promise<string> {
  const prefix = `${service}__`;
  const strip = (line: string) => line.replaceAll(`"name":"${prefix}`, '"name":"');
  const server = createServer(async (req, res) => {
    const body = renamed(await text(req), prefix);
    const { port } = server.address() as AddressInfo;
    const outgoing = request(hub, {
      method: req.method ?? "GET",
      headers: toHeaders(req, hub, port, prefix),
      agent: false,
    });
    outgoing.on("error", () => res.destroy());
    res.on("close", () => outgoing.destroy());
    outgoing.on("response", (answer) => {
      res.writeHead(answer.statusCode ?? 500, ownHeaders(answer));
      // Each message of the hub is one line.
      let rest = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) res.write(`${strip(line)}\n`);
      });
      answer.on("end", () => res.end(strip(rest)));
    });
    outgoing.end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Without those that speak of one connection alone. */
function ownHeaders({ headers }: IncomingMessage): IncomingMessage["headers"] {
  const single = ["connection", "keep-alive", "transfer-encoding", "content-length"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !single.includes(name)));
}

/** Where the proxy was meant, the hub; a foreign host or origin stays one, and is refused. */
function toHeaders(req: IncomingMessage, hub: string, port: number, prefix: string): OutgoingHttpHeaders {
  const { port: target } = new URL(hub);
  const headers = ownHeaders(req);
  for (const name of ["host", "origin"] as const)
    if (headers[name]) headers[name] = headers[name].replace(`:${port}`, `:${target}`);
  if (["tools/call", "prompts/get"].includes(String(headers["mcp-method"])) && headers["mcp-name"] !== undefined)
    headers["mcp-name"] = hubName(String(headers["mcp-name"]), prefix);
  return headers;
}

/** Names of the other services keep their prefix in lists, so they come back with it. */
const hubName = (name: string, prefix: string) => (name.includes("__") ? name : prefix + name);

function renamed(body: string, prefix: string): string {
  const message = parseRecord(body);
  if (!message) return body;
  const params = toRecord(message.params);
  const ref = toRecord(params.ref);
  const named = message.method === "tools/call" || message.method === "prompts/get";
  if (named && typeof params.name === "string") params.name = hubName(params.name, prefix);
  if (typeof ref.name === "string") ref.name = hubName(ref.name, prefix);
  return JSON.stringify(message);
}
