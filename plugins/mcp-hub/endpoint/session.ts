/** One legacy client: the SDK's server over its transport, every request handed to the hub as it is. */
import type { Notification, Request } from "@modelcontextprotocol/sdk/types.js";
import { isRecord, type JsonRecord, type Kernel, toRecord, toText, VERSION } from "sessarc";
import { type Hub, toRpcError } from "../hub/hub.ts";
import type { HubRequest } from "../hub/proxy.ts";
import type { Subscriber } from "../hub/subscribers.ts";
import type { View } from "../hub/view.ts";
import { createLargeResults } from "../large.ts";
import { passOn } from "../pass-on.ts";
import type { Caller } from "../upstream/pool.ts";
import { INVALID_PARAMS, RpcError } from "../upstream/rpc-error.ts";
import { CAPABILITIES, INSTRUCTIONS } from "./description.ts";
import { createEventStore } from "./event-store.ts";
import { refuse } from "./refuse.ts";
import { isEvents, jsonOrStream, type RelayOptions, relayed } from "./stream.ts";

export interface LegacySession {
  readonly id: string;
  /** JSON where it is answered at once. */
  handle(request: globalThis.Request, body: unknown): Promise<Response | JsonRecord>;
  /** ms since the epoch of the last use; now, while something runs. */
  idleSince(): number;
  close(): Promise<void>;
}

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/** What a client can be asked for. */
const ASKABLE = ["sampling", "elicitation", "roots"] as const;
/** A person may have to answer. */
const ASK_MS = 10 * 60_000;

const MOST_SUBSCRIPTIONS = 1_000;

export async function createLegacySession(
  kernel: Kernel,
  hub: Hub,
  id: string,
  view: View,
  ended: (id: string) => void,
): Promise<LegacySession> {
  const [sdk, { WebStandardStreamableHTTPServerTransport }, { ResultSchema }] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  // Not the SDK's own kinds of messages alone: what a service sends is passed on as it is.
  const server = new sdk.Server<Request, Notification, JsonRecord>(
    { name: "sessarc", version: VERSION },
    {
      capabilities: CAPABILITIES,
      jsonSchemaValidator: passOn,
      ...(view.service === null ? { instructions: INSTRUCTIONS } : {}),
    },
  );
  const events = createEventStore();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: events,
  });
  const large = createLargeResults();
  const subscriptions = new Map<string, { service: string; uri: string }>();
  let level: string | undefined;
  let running = 0;
  let usedAt = performance.now();
  let closed: Promise<void> | undefined;

  const ask: NonNullable<Caller["ask"]> = async (method, params, signal) =>
    toRecord(await server.request({ method, params }, ResultSchema, { signal, timeout: ASK_MS }));
  const hears = (asked: unknown) => level === undefined || LEVELS.indexOf(String(asked)) >= LEVELS.indexOf(level);
  let capabilities: JsonRecord | undefined;
  /** Known once the handshake is done, and the same from then on. */
  const askable = (): JsonRecord => {
    const all = toRecord(server.getClientCapabilities());
    capabilities ??= Object.fromEntries(ASKABLE.flatMap((name) => (all[name] ? [[name, all[name]]] : [])));
    return capabilities;
  };

  const notify: Subscriber["notify"] = (method, params) => void server.notification({ method, params }).catch(() => {});
  const attached: Subscriber = {
    session: id,
    view: () => view,
    get level() {
      return level;
    },
    get caller() {
      return { session: id, protocol: "legacy" as const, capabilities: askable(), tell: notify, ask };
    },
    hears,
    notify,
    wanted: (service) => [...subscriptions.values()].flatMap((it) => (it.service === service ? [it.uri] : [])),
    wants: (service, uri) =>
      [...subscriptions].flatMap(([address, it]) => (it.service === service && it.uri === uri ? [address] : [])),
  };
  const detach = hub.subscribers.add(attached);

  // The hub has levels of its own for each service.
  server.removeRequestHandler("logging/setLevel");
  server.fallbackRequestHandler = async ({ id: rpcId, method, params: sent }, extra) => {
    const params = toRecord(sent);
    const { signal } = extra;
    const caller: Caller = {
      session: id,
      protocol: "legacy",
      capabilities: askable(),
      takesBytes: true,
      tell(kind, told) {
        if (kind === "notifications/message" && !hears(told.level)) return;
        void extra.sendNotification({ method: kind, params: told }).catch(() => {});
      },
      ask: async (kind, asked, until) =>
        toRecord(
          await extra.sendRequest({ method: kind, params: asked }, ResultSchema, { signal: until, timeout: ASK_MS }),
        ),
    };
    try {
      return large.mark(await answer({ caller, method, params, signal }, rpcId));
    } catch (error) {
      throw toRpcError(error);
    }
  };

  async function answer(request: HubRequest, rpcId: string | number): Promise<JsonRecord> {
    const { method, params } = request;
    if (method === "logging/setLevel") return setLevel(params);
    if (method === "resources/unsubscribe") return unsubscribe(String(params.uri));
    if (method === "resources/subscribe" && subscriptions.size >= MOST_SUBSCRIPTIONS)
      throw new RpcError(INVALID_PARAMS, `No more than ${MOST_SUBSCRIPTIONS} subscriptions`);
    const handled: { service: string | null; uri?: string } = { service: null };
    const result = await hub.ask(view, request, rpcId, handled);
    if (method === "resources/subscribe" && handled.service !== null)
      subscriptions.set(String(params.uri), { service: handled.service, uri: handled.uri ?? "" });
    return result;
  }

  // Notifications of the client go to the services that it has its own connections to.
  server.fallbackNotificationHandler = async ({ method, params }) => {
    for (const slot of hub.pool.ofSession(id)) await slot.connection.notify(method, toRecord(params)).catch(() => {});
  };
  server.onerror = () => {
    // A client that went away, or a message that makes no sense: the transport has answered it.
  };

  async function setLevel(params: JsonRecord): Promise<JsonRecord> {
    level = toText(params.level);
    await hub.subscribers.setLevel(hub.pool.ofSession(id), level);
    return {};
  }

  async function unsubscribe(address: string): Promise<JsonRecord> {
    const known = subscriptions.get(address);
    subscriptions.delete(address);
    if (known) await hub.release(known.service, known.uri);
    return {};
  }

  /** A stream is a use of the session until it ends. */
  function follow(): RelayOptions {
    running++;
    const ended = () => {
      running--;
      usedAt = performance.now();
    };
    return { ended, fill: large.fill };
  }

  async function close(): Promise<void> {
    detach();
    ended(id);
    large.close();
    await server.close().catch(() => {});
    await hub.pool.endSession(id);
    // Over connections that others use too.
    await Promise.all([...subscriptions.keys()].map(unsubscribe));
  }

  const session: LegacySession = {
    id,
    async handle(request, body) {
      usedAt = performance.now();
      const last = request.headers.get("last-event-id");
      if (last !== null && request.method === "GET" && !events.has(last))
        return refuse(400, -32000, "This event is no longer kept");
      const response = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
      if (!isEvents(response)) return response;
      const isOne = isRecord(body) && body.method !== "initialize";
      return isOne
        ? jsonOrStream(response, follow())
        : relayed(response, { ...follow(), hello: request.method === "GET" });
    },
    idleSince: () => (running > 0 ? performance.now() : usedAt),
    close() {
      closed ??= close();
      return closed;
    },
  };
  server.onclose = () =>
    void session.close().catch((error) => kernel.notify("listener:failed", error, { hook: "mcp" }));
  await server.connect(transport);
  return session;
}
