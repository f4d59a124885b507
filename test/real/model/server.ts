/**
 * A model server on 127.0.0.1 that speaks Anthropic's, OpenAI's, Google's and Augment's protocols and says what the script says. Every
 * request it answers goes into the ledger; what a client asks for beside the model, and where else it would go, is written down too.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { anthropic } from "./anthropic.ts";
import { augment } from "./augment.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import {
  type Answer,
  type Entry,
  MAIN,
  type ModelRequest,
  type Reply,
  type Script,
  toLane,
  toTokens,
} from "./script.ts";
import { isRecord, type Json, type ServerSent, type Wire } from "./wire.ts";

const WIRES: readonly Wire[] = [anthropic, responses, chat, gemini, augment];

export interface ModelServer {
  /** `http://127.0.0.1:…`, without a slash at the end. */
  url: string;
  /** Takes the place of what is left of the script before. */
  play(script: Script): void;
  /** Answered requests in order, since the start or the last `takeLedger`. */
  ledger: readonly Entry[];
  takeLedger(): Entry[];
  /** Replies that were not requested yet, as `lane: count`. */
  left(): Record<string, number>;
  /** `CONNECT host` of clients that take this server for their proxy, and requests for paths unknown here. */
  strays: readonly string[];
  close(): Promise<void>;
}

/** `script`: what is said at first. Listens on a free port. */
export async function startModelServer(script: Script = {}): Promise<ModelServer> {
  let lanes = queues(script);
  let ledger: Entry[] = [];
  const strays: string[] = [];
  let count = 0;

  const next = (request: ModelRequest): { lane: string; answer: Answer } => {
    const lane = toLane(request, [...lanes.keys()]);
    const reply: Reply = lanes.get(lane)?.shift() ?? { text: lane === MAIN ? "done" : `done: ${lane}` };
    const index = count++;
    const { calls, ...said } = reply;
    const made = typeof calls === "function" ? calls(request) : calls;
    const answer = {
      id: `r${index}`,
      reply: { ...said, ...(made && { calls: made }) },
      tokens: toTokens(reply, index),
    };
    return { lane, answer };
  };

  const answerModel = async (wire: Wire, path: string, body: Json, response: ServerResponse): Promise<void> => {
    const request = wire.read(body, path);
    const { lane, answer } = next(request);
    const { reply, tokens, id } = answer;
    const { model, prompts, tools, protocol } = request;
    const status = reply.error?.status ?? 200;
    const said = { calls: reply.calls ?? [], text: reply.text ?? "", tokens };
    const entry = { id, protocol, lane, model, ...said, status, finished: false, prompts, tools };
    ledger.push(entry);
    reply.asked?.(request);
    for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
    if (reply.error) sendJson(response, status, wire.failure(reply.error));
    else if (!request.stream) sendJson(response, status, wire.whole(request, answer));
    else {
      const headers = { "content-type": "text/event-stream", "cache-control": "no-cache", "request-id": `req_${id}` };
      response.writeHead(200, headers);
      for (const one of wire.stream(request, answer)) {
        response.write(wire.hasLines ? `${JSON.stringify(one.data)}\n` : toText(one));
        if (reply.hang) return; // until the client goes away
      }
      response.end();
    }
    entry.finished = true;
  };

  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      const wire = request.method === "POST" ? WIRES.find((one) => one.matches(path)) : undefined;
      if (wire) return answerModel(wire, path, body, response);
      if (/\/count_tokens$|:countTokens$/.test(path))
        return sendJson(response, 200, { input_tokens: 100, totalTokens: 100 });
      const known = WIRES.map((one) => one.beside?.(path)).find((one) => one !== undefined);
      if (known) return sendJson(response, 200, known);
      if (/\/models$/.test(path)) return sendJson(response, 200, { object: "list", data: [], models: [] });
      if (request.method === "HEAD") return response.writeHead(200).end();
      strays.push(`${request.method} ${path}`);
      return sendJson(response, 404, { error: { message: `${path} is not served here`, type: "not_found_error" } });
    });
  });
  // The drivers name this server as proxy for everything else: what a tool would send elsewhere is seen and refused.
  server.on("connect", (request, socket) => {
    strays.push(`CONNECT ${request.url}`);
    socket.on("error", () => {}); // the client may have hung up already
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The model server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    play(now) {
      lanes = queues(now);
    },
    get ledger() {
      return ledger;
    },
    takeLedger() {
      const taken = ledger;
      ledger = [];
      return taken;
    },
    left: () =>
      Object.fromEntries([...lanes].flatMap(([lane, list]) => (list.length > 0 ? [[lane, list.length]] : []))),
    strays,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const queues = (script: Script) => new Map(Object.entries(script).map(([lane, replies]) => [lane, [...replies]]));

function toText({ event, data }: ServerSent): string {
  return `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** An empty record for what is no JSON object. */
async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
}
