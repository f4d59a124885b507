/** One connection to a service: the SDK's client as a relay, without a schema between the two sides. */
import type { Client, ClientCapabilities, InputRequiredResult, Result, Tool } from "@modelcontextprotocol/client";
import { type JsonRecord, type Pool, toRecord, VERSION } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import type { ServiceEntry } from "../entry.ts";
import { readLarge, toPlain } from "../large.ts";
import { passOn } from "../pass-on.ts";
import type { AuthFor } from "./auth.ts";
import { keepApart } from "./inbox.ts";
import { openTransport, type UpstreamTransport } from "./transport.ts";
import type { Watchdog } from "./watchdog.ts";

/** `legacy`: up to 2025-11-25, with a handshake. `modern`: 2026-07-28 where the service speaks it. */
export type Protocol = "legacy" | "modern";

/** How far a call is, as its service reports. */
interface CallProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface RequestOptions {
  signal: AbortSignal;
  timeoutMs: number;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** A large result may be bytes (`bytesOf`). */
  takesBytes?: boolean | undefined;
  /** Definition of the tool that is called: some of its arguments become headers. */
  tool?: JsonRecord | undefined;
}

/** What a connection reports to the code that opened it. */
export interface ConnectionEvents {
  /** A request of the service; what it answers goes back. */
  onRequest(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
  onNotification(method: string, params: JsonRecord): void;
  /** The service is gone; `reason` is undefined after `close`. */
  onClose(reason: string | undefined): void;
}

export interface Connection {
  readonly protocol: Protocol;
  readonly protocolVersion: string;
  readonly capabilities: JsonRecord;
  readonly instructions: string | undefined;
  /** Whether the service gave it a session, which the service may forget. */
  hasSession(): boolean;
  /** Rejects with the service's own error, or the SDK's for timeouts and closed connections. */
  request(method: string, params: JsonRecord, options: RequestOptions): Promise<JsonRecord>;
  notify(method: string, params?: JsonRecord): Promise<void>;
  /** Modern services: change notifications of these kinds from now on; answers how to end it. */
  listen(filter: JsonRecord): Promise<() => Promise<void>>;
  /** Why the service's process ended, with the last lines of its error output; undefined while it runs. */
  ended(): string | undefined;
  close(): Promise<void>;
}

interface ConnectOptions {
  entry: ServiceEntry;
  pool: Pool;
  env: AdapterEnv;
  watchdog: Watchdog;
  authFor: AuthFor;
  protocol: Protocol;
  capabilities: JsonRecord;
  events: ConnectionEvents;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Takes every value as it is: what services say is passed on, not judged. */
const ANYTHING = {
  "~standard": {
    version: 1,
    vendor: "sessarc",
    validate: (value: unknown) => ({ value: value as Result | InputRequiredResult }),
  },
} as const;

/** How long a process may leave the modern question unanswered before it counts as one of the legacy protocol. */
const PROBE_MS = 3_000;

/** Connects by the protocol asked for where the service has it, else by the other one. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const first = options.protocol === "modern" ? "auto" : "legacy";
  try {
    return await connectAs(options, first);
  } catch (error) {
    options.signal.throwIfAborted();
    // A process that ends at a question it does not know is of the legacy protocol; a service that refuses the handshake is not.
    if (first === "auto" && options.entry.transport === "stdio") return connectAs(options, "legacy");
    if (first === "legacy" && isRefusal(error)) return connectAs(options, "auto");
    throw error;
  }
}

/** Answered, but not with a handshake: method or version unknown, or an HTTP 4xx other than a missing permission. */
function isRefusal(error: unknown): boolean {
  const { code, status } = toRecord(error) as { code?: unknown; status?: unknown };
  if (typeof status === "number") return status >= 400 && status < 500 && ![401, 403, 429].includes(status);
  return typeof code === "number" && [-32601, -32602, -32600, -32022, -32000].includes(code);
}

async function connectAs(options: ConnectOptions, mode: "auto" | "legacy"): Promise<Connection> {
  const { entry, env, watchdog, authFor, events, signal } = options;
  const [Client, opened] = await Promise.all([
    import("@modelcontextprotocol/client").then(({ Client }) => Client),
    openTransport(entry, env, watchdog, authFor),
  ]);
  const client = new Client(
    { name: "sessarc", version: VERSION },
    {
      capabilities: options.capabilities as ClientCapabilities,
      versionNegotiation: { mode, ...(entry.transport === "stdio" ? { probe: { timeoutMs: PROBE_MS } } : {}) },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: passOn,
    },
  );
  client.fallbackRequestHandler = (request, ctx) =>
    events.onRequest(request.method, toRecord(request.params), ctx.mcpReq.signal);
  client.fallbackNotificationHandler = async ({ method, params }) => events.onNotification(method, toRecord(params));
  // Reported by `onclose`, or by the request that failed.
  client.onerror = () => {};
  try {
    await client.connect(opened.transport, { timeout: options.timeoutMs, signal });
    keepApart(opened.transport);
    // A result of the newer version says what kind it is: the SDK has to read it.
    if (client.getProtocolEra() === "legacy") opened.onLarge = (line) => readLarge(options.pool, line);
  } catch (error) {
    const reason = endOf(opened);
    await client.close().catch(() => {});
    await opened.transport.close().catch(() => {});
    throw reason === undefined ? error : new Error(reason, { cause: error });
  }
  return toConnection(client, opened, events);
}

function toConnection(client: Client, opened: UpstreamTransport, events: ConnectionEvents): Connection {
  let closing = false;
  const modern = client.getProtocolEra() === "modern";
  // Legacy services notify the hub. A modern one without such a stream is asked again after a while.
  if (modern) void client.listen(listFilter(toRecord(client.getServerCapabilities()))).catch(ignore);
  client.onclose = () => {
    events.onClose(closing ? undefined : (endOf(opened) ?? "the connection ended"));
  };
  return {
    protocol: modern ? "modern" : "legacy",
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    capabilities: toRecord(client.getServerCapabilities()),
    instructions: client.getInstructions(),
    hasSession: () => opened.transport.sessionId !== undefined,
    async request(method, params, asked) {
      const { signal, timeoutMs, onProgress, takesBytes, tool } = asked;
      const options = {
        signal,
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        // Always asked for, or nothing would reset the timeout of a call whose caller does not want to see progress.
        onprogress: onProgress ?? ignore,
        allowInputRequired: true,
      };
      if (modern && tool) {
        // Without its output schema: what the service answers is passed on, not judged.
        const toolDefinition = { name: String(params.name), inputSchema: tool.inputSchema } as Tool;
        return checkDepth(
          await client.callTool({ ...params, name: String(params.name) }, { ...options, toolDefinition }),
        );
      }
      const result = await client.request({ method, params }, ANYTHING, options);
      return checkDepth(takesBytes ? result : toPlain(result));
    },
    notify: (method, params) => client.notification({ method, ...(params ? { params } : {}) }),
    async listen(filter) {
      const subscription = await client.listen(filter);
      return () => subscription.close();
    },
    ended: () => endOf(opened),
    async close() {
      closing = true;
      await client.close().catch(() => {});
      await opened.transport.close().catch(() => {});
    },
  };
}

/** What is nested too deep cannot be written down again: then its caller would wait for an answer that never comes. */
function checkDepth(result: unknown): JsonRecord {
  if (isDeeperThan(result, MOST_DEPTH)) throw new Error(`its answer is nested deeper than ${MOST_DEPTH}`);
  return toRecord(result);
}
const MOST_DEPTH = 500;

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((item) => isDeeperThan(item, depth - 1));
}

function endOf(opened: UpstreamTransport): string | undefined {
  const reason = opened.ended();
  const errors = opened.lastErrors();
  return reason !== undefined && errors ? `${reason}: ${errors}` : reason;
}

/** Changes of the lists that a service announces. */
function listFilter(capabilities: JsonRecord): JsonRecord {
  const announces = (name: string) => toRecord(capabilities[name]).listChanged === true;
  return {
    ...(announces("tools") ? { toolsListChanged: true } : {}),
    ...(announces("prompts") ? { promptsListChanged: true } : {}),
    ...(announces("resources") ? { resourcesListChanged: true } : {}),
  };
}

const ignore = () => {};
