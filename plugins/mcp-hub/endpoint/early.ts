/**
 * Requests that are answered at once go without a stream: one piece of JSON. Those that take longer, or in which a service notifies or
 * asked first, are taken over by the SDK's stream; the request itself goes on meanwhile, and is made once.
 */
import { isRecord, type JsonRecord } from "sessarc";
import { toRpcError } from "../hub/hub.ts";
import type { Caller } from "../upstream/pool.ts";
import { METHODS } from "./offered.ts";

export interface EarlyRequest {
  id: string | number;
  method: string;
  params: JsonRecord;
}

/** How a request reaches its client while it runs. */
export type Line = Required<Pick<Caller, "tell" | "ask">>;

/** The stream a request got. */
export interface StreamSide {
  /** Aborts when the client cancels. */
  signal: AbortSignal;
  tell(method: string, params: JsonRecord): Promise<void>;
  ask: NonNullable<Caller["ask"]>;
}

type Work = (line: Line, signal: AbortSignal) => Promise<JsonRecord>;

interface EarlyRequests {
  /** The answer, or undefined when a stream has to be opened: `take` goes on with it. */
  start(request: EarlyRequest, work: Work): Promise<JsonRecord | undefined>;
  /** The result, over this stream; undefined for a request that was not started here. */
  take(id: string | number, stream: StreamSide): Promise<JsonRecord> | undefined;
  /** There will be no stream for it. */
  drop(id: string | number): void;
  /** Resolves when this request is answered or has its stream: what is said about it can be passed on then. */
  settle(id: unknown): Promise<void>;
  close(): void;
}

/** An answer that takes longer gets a stream: its head is sent, and a connection that breaks can be taken up again. */
const EARLY_MS = 100;

/** A single request of those the hub answers, in a form the SDK would take; anything else is left to its judgement. */
export function asEarly(request: Request, body: unknown, versions: readonly string[]): EarlyRequest | undefined {
  if (!isRecord(body) || body.jsonrpc !== "2.0" || Object.keys(body).length > 4) return undefined;
  const { id, method, params = {} } = body;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  // Tasks are the SDK's affair.
  if (typeof method !== "string" || !isRecord(params) || "task" in params) return undefined;
  if (!METHODS.has(method) && method !== "ping") return undefined;
  const accept = request.headers.get("accept") ?? "";
  if (!accept.includes("application/json") || !accept.includes("text/event-stream")) return undefined;
  const version = request.headers.get("mcp-protocol-version");
  return version === null || versions.includes(version) ? { id: id as string | number, method, params } : undefined;
}

export function createEarlyRequests(): EarlyRequests {
  const running = new Map<string | number, Running>();

  function end(id: string | number): Running | undefined {
    const it = running.get(id);
    running.delete(id);
    it?.ended.resolve();
    return it;
  }

  return {
    async start({ id }, work) {
      // A client that uses an id twice: the SDK's affair too.
      if (running.has(id)) return undefined;
      const it = run(work);
      running.set(id, it);
      const timer = setTimeout(it.woken.resolve, EARLY_MS);
      const answer = it.result.then(
        (result) => ({ jsonrpc: "2.0", id, result }),
        (error: unknown) => ({ jsonrpc: "2.0", id, error: toErrorObject(error) }),
      );
      const first = await Promise.race([answer, it.woken.promise]);
      clearTimeout(timer);
      // Notifications come before the answer, and need the stream.
      if (!first || it.told.length > 0) return undefined;
      end(id);
      return first;
    },
    take(id, stream) {
      return end(id)?.over(stream);
    },
    drop(id) {
      end(id)?.stop.abort();
    },
    async settle(id) {
      const it = typeof id === "string" || typeof id === "number" ? running.get(id) : undefined;
      it?.woken.resolve();
      await it?.ended.promise;
    },
    close() {
      for (const id of [...running.keys()]) end(id)?.stop.abort();
    },
  };
}

type Running = ReturnType<typeof run>;

function run(work: Work) {
  const stop = new AbortController();
  const woken = deferred<void>();
  const ended = deferred<void>();
  const attached = deferred<StreamSide>();
  const told: [string, JsonRecord][] = [];
  let stream: StreamSide | undefined;

  const line: Line = {
    tell(method, params) {
      if (stream) return void stream.tell(method, params).catch(ignore);
      told.push([method, params]);
      woken.resolve();
    },
    async ask(method, params, signal) {
      woken.resolve();
      return (await attached.promise).ask(method, params, signal);
    },
  };
  const result = work(line, stop.signal);

  async function over(side: StreamSide): Promise<JsonRecord> {
    side.signal.addEventListener("abort", () => stop.abort(side.signal.reason), { once: true });
    if (side.signal.aborted) stop.abort(side.signal.reason);
    stream = side;
    attached.resolve(side);
    await Promise.all(told.splice(0).map(([method, params]) => side.tell(method, params).catch(ignore)));
    return result;
  }

  return { result, told, woken, ended, stop, over };
}

/** As the SDK writes it. */
function toErrorObject(error: unknown): JsonRecord {
  const { code, message, data } = toRpcError(error);
  return { code, message, ...(data === undefined ? {} : { data }) };
}

function deferred<T>() {
  let resolve: (value: T) => void = ignore;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The client that was to be notified is gone. */
const ignore = () => {};
