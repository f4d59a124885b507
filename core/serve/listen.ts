/** The socket: listhen, tied down to the one address, and answers for what never becomes a request. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isLoopback } from "../config/config.ts";
import type { CoreConfig } from "../contract/config.ts";
import type { ServedAddress } from "../contract/kernel.ts";
import { type ErrorCode, type ErrorParams, SessarcError, toErrorBody } from "../errors/error.ts";
import { toServiceUrl } from "../http/address.ts";
import { addSecurityHeaders } from "../http/guard.ts";
import { choosePort } from "./port.ts";

interface Listening {
  server: Server;
  address: ServedAddress;
  /** Takes no more connections and resolves when the last one is gone; idle ones go at once. */
  stop(): Promise<void>;
}

/** Loads listhen and listens. Throws PORT_TAKEN for a port that was asked for by name. */
export async function listenOn(config: CoreConfig, handle: RequestListener): Promise<Listening> {
  const [listen, wanted] = await Promise.all([import("listhen").then(({ listen }) => listen), choosePort(config)]);
  const host = config.host.replace(/^\[|\]$/g, "");
  const listener = await listen(handle, {
    hostname: host,
    port: { port: wanted, random: wanted === 0 },
    // Every one of these has a default that binds publicly, prints, opens, or ends the process without closing.
    public: !isLoopback(host),
    isProd: false,
    isTest: true,
    showURL: false,
    open: false,
    clipboard: false,
    autoClose: false,
    qr: false,
  });
  const server = listener.server as Server;
  const port = listener.address.port;
  if (config.portFixed && port !== config.port) {
    await listener.close();
    throw new SessarcError("PORT_TAKEN", { port: config.port, host });
  }
  // Node would refuse a missing Host in its own form. The filter refuses it in ours.
  Object.assign(server, { requireHostHeader: false });
  server.on("clientError", refuseBroken);
  return { server, address: { host, port, url: toServiceUrl({ host, port }) }, stop: () => listener.close() };
}

/** Bytes that are no HTTP, heads that are too large, requests that never end. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const shown =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new SessarcError("HEAD_TOO_LARGE", {})
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? new SessarcError("REQUEST_TIMEOUT", {})
        : new SessarcError("INVALID_INPUT", { reason: "This is not a valid HTTP request" });
  const { head, text } = rawAnswer(shown);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${shown.status} Refused`, ...lines, "connection: close", "", text].join("\r\n"));
}

/** An error before or without the app, in the same shape and with the same headers. */
export function refuse<C extends ErrorCode>(res: ServerResponse, code: C, params: ErrorParams[C]): void {
  const error = new SessarcError(code, params);
  const { head, text } = rawAnswer(error);
  res.writeHead(error.status, head).end(text);
}

function rawAnswer(error: SessarcError): { head: Record<string, string>; text: string } {
  const text = JSON.stringify(toErrorBody(error));
  const headers = new Headers({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
  });
  addSecurityHeaders(headers);
  return { head: Object.fromEntries(headers), text };
}

const LINGER_MS = 1_000;

/**
 * An answer that came before the body was read (too large, refused) ends the connection with `Connection: close`: a client that sent its next request
 * over it would not know whether that was taken. It gets a moment to read the answer, and nothing more of what it sends is taken: a body
 * may be without end.
 */
export function linger(req: IncomingMessage, res: ServerResponse): void {
  const keep = res.shouldKeepAlive;
  if (hasBody(req)) {
    res.shouldKeepAlive = false;
    req.once("end", () => {
      res.shouldKeepAlive = keep;
    });
  }
  res.once("finish", () => {
    if (req.complete) return;
    req.pause();
    req.socket.end();
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS);
    timer.unref();
    req.socket.once("close", () => clearTimeout(timer));
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
