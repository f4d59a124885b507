/** One request passed on to one service, whatever protocol versions the two sides speak. */
import { type JsonRecord, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { SKILLS } from "../skills/uris.ts";
import type { Caller, Slot, UpstreamPool } from "../upstream/pool.ts";
import { lostSession, RpcError, toFailure } from "../upstream/rpc-error.ts";
import type { LocalService } from "./catalog.ts";
import type { Input, PendingCalls } from "./pending-calls.ts";

export interface HubRequest {
  caller: Caller;
  method: string;
  params: JsonRecord;
  signal: AbortSignal;
  /** Modern clients: what they were asked before, and their keys of `_meta` that services need. */
  input?: Input | undefined;
  envelope?: JsonRecord | undefined;
  /** Instead of the service's own limit. */
  timeoutMs?: number | undefined;
  /** Definition of the tool that is called: its headers are made of it. */
  tool?: JsonRecord | undefined;
}

export type ServiceProxy = (entry: ServiceEntry, request: HubRequest) => Promise<JsonRecord>;

/** Requests in which a service may ask the client something. */
const INTERACTIVE = new Set(["tools/call", "prompts/get", "resources/read"]);
/** A modern service that asks again and again is stopped here. */
const MOST_ROUNDS = 16;

/** Answers the service's result; throws RpcError, UPSTREAM_FAILED or UPSTREAM_TIMEOUT. */
export function createServiceProxy(pool: UpstreamPool, pendingCalls: PendingCalls, local: LocalService): ServiceProxy {
  /**
   * A connection whose session the service has forgotten is replaced, once. The request is sent again where the service has not carried it
   * out, or where that changes nothing; any other call gets the service's error, and the next one works.
   */
  async function send(entry: ServiceEntry, request: HubRequest, again: boolean): Promise<JsonRecord> {
    let used: Slot | undefined;
    try {
      return await pool.use(entry, request.caller, INTERACTIVE.has(request.method), (slot) => {
        used = slot;
        return relay(entry, slot, request);
      });
    } catch (error) {
      request.signal.throwIfAborted();
      const end = used?.connection.ended();
      if (end !== undefined) throw toFailure(entry, new Error(end, { cause: error }));
      const lost = used && lostSession(error, used.connection.hasSession());
      if (!again || !used || !lost) throw toFailure(entry, error, request.timeoutMs);
      await pool.retire(used);
      if (lost === "reported" && !isRepeatable(request)) throw toFailure(entry, error, request.timeoutMs);
      return send(entry, request, false);
    }
  }

  return async (entry, request) => {
    if (entry.id === BUILTIN_ID) return local.request(request.method, request.params, request.signal);
    const { caller, signal, input, method } = request;
    const mayAsk =
      caller.protocol === "modern" && Object.keys(caller.capabilities).length > 0 && INTERACTIVE.has(method);
    if (!mayAsk || (input && !pendingCalls.has(input))) return send(entry, request, true);
    return pendingCalls.run(caller, signal, input, (inner, innerSignal) =>
      send(entry, { ...request, caller: inner, signal: innerSignal }, true),
    );
  };
}

/** Only a call of a tool may change something, unless the tool declares that it does not. */
function isRepeatable({ method, tool }: HubRequest): boolean {
  const { readOnlyHint, idempotentHint } = toRecord(tool?.annotations);
  return method !== "tools/call" || readOnlyHint === true || idempotentHint === true;
}

async function relay(entry: ServiceEntry, slot: Slot, request: HubRequest): Promise<JsonRecord> {
  const { connection } = slot;
  const { caller, method, signal, input, tool } = request;
  if (method === "resources/subscribe") return subscribe(entry, slot, request);
  const { _meta, ...rest } = request.params;
  const { progressToken, ...meta } = toRecord(_meta);
  const asked = connection.protocol === "modern" ? { ...meta, ...modernMeta(request) } : meta;
  const options = {
    signal,
    tool,
    takesBytes: caller.takesBytes,
    timeoutMs: request.timeoutMs ?? entry.timeoutMs,
    onProgress:
      progressToken === undefined
        ? undefined
        : (progress: object) => caller.tell("notifications/progress", { ...progress, progressToken }),
  };
  const params: JsonRecord = Object.keys(asked).length > 0 ? { ...rest, _meta: asked } : rest;
  if (connection.protocol === "legacy") return connection.request(method, params, options);
  if (caller.protocol === "modern") {
    const state = input?.state === undefined ? {} : { requestState: input.state };
    const more = input ? { inputResponses: input.responses, ...state } : {};
    return connection.request(method, { ...params, ...more }, options);
  }
  // A modern service and a legacy client: what the service asks goes to the client as a request of its own.
  let result = await connection.request(method, params, options);
  for (let round = 0; result.resultType === "input_required" && round < MOST_ROUNDS; round++) {
    const inputResponses = await askAll(caller, toRecord(result.inputRequests), signal);
    const state = toText(result.requestState);
    const more = { inputResponses, ...(state === undefined ? {} : { requestState: state }) };
    result = await connection.request(method, { ...params, ...more }, options);
  }
  if (result.resultType === "input_required") throw new RpcError(-32603, "The service asked too often");
  const { resultType, ...plain } = result;
  return plain;
}

/** Services of every protocol version report changes of an address; only the older ones are asked with a request. */
async function subscribe(
  entry: ServiceEntry,
  { connection, subscriptions }: Slot,
  request: HubRequest,
): Promise<JsonRecord> {
  const { method, params, signal } = request;
  const uri = String(params.uri);
  if (subscriptions.has(uri)) return {};
  const options = { signal, timeoutMs: entry.timeoutMs };
  if (connection.protocol === "modern") {
    subscriptions.set(uri, await connection.listen({ resourceSubscriptions: [uri] }));
    return {};
  }
  const result = await connection.request(method, { uri }, options);
  subscriptions.set(uri, async () => {
    await connection.request("resources/unsubscribe", { uri }, { signal: NEVER, timeoutMs: entry.timeoutMs });
  });
  return result;
}
const NEVER = new AbortController().signal;

/** Keys of `_meta` that a modern service decides by. */
function modernMeta({ caller, envelope }: HubRequest): JsonRecord {
  const extensions = caller.skills ? { extensions: { [SKILLS]: {} } } : {};
  const meta: JsonRecord = { "io.modelcontextprotocol/clientCapabilities": { ...caller.capabilities, ...extensions } };
  const level = envelope?.["io.modelcontextprotocol/logLevel"];
  if (level !== undefined) meta["io.modelcontextprotocol/logLevel"] = level;
  return meta;
}

async function askAll(caller: Caller, questions: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const { ask } = caller;
  if (!ask) throw new RpcError(-32603, "The service asks for input, and the client cannot be asked");
  const answers = Object.entries(questions).map(async ([key, question]) => {
    const { method, params } = toRecord(question);
    return [key, await ask(String(method), toRecord(params), signal)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}
