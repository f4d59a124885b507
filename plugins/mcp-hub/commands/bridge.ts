/** stdio to the hub's endpoint: one JSON-RPC message a line, for clients without HTTP. */
import { createInterface } from "node:readline";
import { isRecord, type JsonRecord, parseRecord, toRecord, toText } from "sessarc";
import type { CommandContext } from "sessarc/terminal";
import { readEvents } from "./events.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const RETRY_MS = 1_000;
const INTERNAL = -32603;
/** ms between the last notification of a call and its result. Clients on the official SDK forget a call's progress at once when both come in one piece. */
const APART_MS = 25;

/** Runs until its input ends. Standard output holds messages and nothing else. */
export async function bridge(ctx: CommandContext): Promise<number> {
  const path = toPath(ctx);
  const stop = new AbortController();
  ctx.signal.addEventListener("abort", () => stop.abort(), { once: true });
  /** Streams and requests of modern clients, by their id: a cancelled one is ended. */
  const running = new Map<unknown, AbortController>();
  let handshake: JsonRecord | undefined;
  let session: string | undefined;
  let version: string | undefined;

  const write = (message: unknown) => ctx.out(JSON.stringify(message));
  const toHeaders = (message: JsonRecord): Record<string, string> => {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const claimed = toText(toRecord(toRecord(message.params)._meta)[VERSION_KEY]);
    if (claimed !== undefined) return { ...headers, ...modernHeaders(message, claimed) };
    if (session !== undefined) headers["mcp-session-id"] = session;
    if (version !== undefined) headers["mcp-protocol-version"] = version;
    return headers;
  };
  const post = (message: JsonRecord, signal: AbortSignal) =>
    ctx.fetch(path, { method: "POST", body: JSON.stringify(message), headers: toHeaders(message), signal });

  /** The service was restarted, or forgot this session: the same client, greeted again. */
  async function greetAgain(): Promise<void> {
    if (!handshake) return;
    session = undefined;
    version = undefined;
    const response = await post(handshake, stop.signal);
    for await (const message of readMessages(response)) take(message);
    session = response.headers.get("mcp-session-id") ?? undefined;
    await (await post({ jsonrpc: "2.0", method: "notifications/initialized" }, stop.signal)).body?.cancel();
    void follow(session);
  }

  function take(message: JsonRecord): void {
    const negotiated = toText(toRecord(message.result).protocolVersion);
    if (message.id === handshake?.id && negotiated !== undefined) version = negotiated;
  }

  /** What the hub says without being asked, until this session is another one. */
  async function follow(mine: string | undefined): Promise<void> {
    let last: string | undefined;
    while (mine !== undefined && mine === session && !stop.signal.aborted) {
      try {
        const headers: Record<string, string> = { accept: "text/event-stream", "mcp-session-id": mine };
        if (version !== undefined) headers["mcp-protocol-version"] = version;
        if (last !== undefined) headers["last-event-id"] = last;
        const response = await ctx.fetch(path, { headers, signal: stop.signal });
        if (!response.ok || !response.body) return;
        for await (const event of readEvents(response.body)) {
          last = event.id ?? last;
          const message = parseRecord(event.data);
          if (message) write(message);
        }
      } catch {
        // The connection broke; tried again below, from where it broke.
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }

  async function send(message: JsonRecord, again = true): Promise<void> {
    const { id, method } = message;
    const isRequest = id !== undefined && method !== undefined;
    const controller = new AbortController();
    const end = () => controller.abort();
    stop.signal.addEventListener("abort", end, { once: true });
    if (isRequest) running.set(id, controller);
    try {
      const response = await post(message, controller.signal);
      if (response.status === 404 && session !== undefined && again && method !== "initialize") {
        await response.body?.cancel();
        await greetAgain();
        return await send(message, false);
      }
      if (method === "initialize") session = response.headers.get("mcp-session-id") ?? undefined;
      let told = Number.NEGATIVE_INFINITY;
      for await (const answer of readMessages(response)) {
        if (method === "initialize") take(answer);
        const wait = told + APART_MS - performance.now();
        if (answer.method === undefined && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (answer.method !== undefined) told = performance.now();
        if (isRequest || answer.method !== undefined)
          write(isRequest && !("id" in answer) && answer.error ? { ...answer, id } : answer);
      }
      if (method === "notifications/initialized") void follow(session);
    } catch (error) {
      if (isRequest && !controller.signal.aborted)
        write({ jsonrpc: "2.0", id, error: { code: INTERNAL, message: String(error) } });
    } finally {
      stop.signal.removeEventListener("abort", end);
      if (running.get(id) === controller) running.delete(id);
    }
  }

  const pending = new Set<Promise<void>>();
  if (process.stdin.isTTY)
    ctx.err("Waits for MCP messages of an assistant; Ctrl C ends it. `sessarc mcp list` lists the servers.");
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  stop.signal.addEventListener("abort", () => lines.close(), { once: true });
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const message = parseRecord(line);
    if (!message) {
      write({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
      continue;
    }
    if (message.method === "initialize") handshake = message;
    // A modern call is cancelled by ending its request.
    if (message.method === "notifications/cancelled" && session === undefined) {
      running.get(toRecord(message.params).requestId)?.abort();
      continue;
    }
    const sent = send(message).finally(() => pending.delete(sent));
    pending.add(sent);
    // What comes after it needs to know the session.
    if (message.method === "initialize") await sent;
  }
  await Promise.race([Promise.all(pending), new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())]);
  stop.abort();
  if (session !== undefined)
    await ctx.fetch(path, { method: "DELETE", headers: { "mcp-session-id": session } }).catch(() => undefined);
  return 0;
}

/** The endpoint is beside /api, where commands usually call. */
function toPath({ flags }: CommandContext): string {
  const query = new URLSearchParams();
  for (const name of ["client", "project"]) {
    const value = flags[name];
    if (typeof value === "string") query.set(name, value);
  }
  const service = typeof flags.service === "string" ? `/${encodeURIComponent(flags.service)}` : "";
  return `/../mcp${service}${query.size > 0 ? `?${query}` : ""}`;
}

/** What the body says, said again in the head. */
function modernHeaders(message: JsonRecord, version: string): Record<string, string> {
  const params = toRecord(message.params);
  const method = toText(message.method) ?? "";
  const name = toText(method === "resources/read" ? params.uri : params.name);
  const named = ["tools/call", "prompts/get", "resources/read"].includes(method) && name !== undefined;
  return { "mcp-protocol-version": version, "mcp-method": method, ...(named ? { "mcp-name": headerText(name) } : {}) };
}

const headerText = (text: string) =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;

async function* readMessages(response: Response): AsyncGenerator<JsonRecord> {
  if (!response.body) return;
  if (response.headers.get("content-type")?.includes("text/event-stream")) {
    for await (const { data } of readEvents(response.body)) {
      const message = parseRecord(data);
      if (message) yield message;
    }
    return;
  }
  const text = await response.text();
  if (text === "") return;
  const body: unknown = JSON.parse(text);
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isRecord(message)) continue;
    // An error of the service itself, before the protocol.
    yield "jsonrpc" in message
      ? message
      : { jsonrpc: "2.0", error: { code: INTERNAL, message: String(message.message) } };
  }
}
