/**
 * Requests of the hub to a service of the legacy era, over the transport that the SDK's client has connected. The client's own way checks
 * each message several times against schemas, which costs more than the rest of a call.
 */
import type { Transport } from "@modelcontextprotocol/client";
import { type JsonRecord, toRecord } from "sessarc";
import { bytesResult } from "./large.ts";
import type { FoundResult } from "./large-job.ts";

type Message = Parameters<NonNullable<Transport["onmessage"]>>[0];

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

export interface DirectRequests {
  /** Rejects with the service's error (`code`, `data`), the signal's reason, or an error of code REQUEST_TIMEOUT. */
  request(method: string, params: JsonRecord, options: RequestOptions): Promise<JsonRecord>;
  /** Whether a message answers a request made here, or reports its progress; then it is handled. */
  takes(message: Message): boolean;
  /** Whether a request is open whose caller takes bytes. */
  awaitsBytes(): boolean;
  /** A large answer: whether its request is open and takes bytes; then it is answered. */
  takesBytes(found: FoundResult, line: Buffer): boolean;
  /** Rejects what is still open. */
  close(reason: Error): void;
}

/** The SDK's client counts from 0: these ids never meet its own. */
const FIRST_ID = 1_000_000_000;

interface Open {
  options: RequestOptions;
  resolve(result: JsonRecord): void;
  /** Ends it without an answer. */
  fail(error: unknown): void;
  /** Starts the time limit, again with each progress. */
  restart(): void;
}

export function createDirectRequests(transport: Transport): DirectRequests {
  const open = new Map<number, Open>();
  let next = FIRST_ID;

  const cancel = (requestId: number, reason: string) =>
    transport
      .send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } })
      // A service that is gone needs no cancelling.
      .catch(() => {});

  function request(method: string, params: JsonRecord, options: RequestOptions): Promise<JsonRecord> {
    const { signal, timeoutMs } = options;
    signal.throwIfAborted();
    const id = next++;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", aborted);
        return open.delete(id);
      };
      const fail = (error: unknown) => settle() && reject(error);
      const aborted = () => {
        void cancel(id, String(signal.reason));
        fail(signal.reason);
      };
      const late = () => {
        void cancel(id, "Request timed out");
        fail(Object.assign(new Error("Request timed out"), { code: "REQUEST_TIMEOUT" }));
      };
      const restart = () => {
        clearTimeout(timer);
        timer = setTimeout(late, timeoutMs);
      };
      open.set(id, { options, fail, restart, resolve: (result) => settle() && resolve(result) });
      signal.addEventListener("abort", aborted, { once: true });
      restart();
      // Progress is always asked for: it resets the time limit of calls whose caller does not want to see it.
      const _meta = { ...toRecord(params._meta), progressToken: id };
      transport.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }).catch(fail);
    });
  }

  return {
    request,
    takes(message) {
      if ("method" in message) {
        if (message.method !== "notifications/progress") return false;
        const { progressToken, ...progress } = toRecord(message.params);
        const row = open.get(Number(progressToken));
        if (!row) return false;
        row.restart();
        row.options.onProgress?.(progress as unknown as Parameters<NonNullable<RequestOptions["onProgress"]>>[0]);
        return true;
      }
      const row = typeof message.id === "number" ? open.get(message.id) : undefined;
      // An answer that comes after its request was given up is of no interest to the SDK either.
      if (!row) return typeof message.id === "number" && message.id >= FIRST_ID;
      if ("error" in message) {
        const { code, message: text, data } = message.error;
        row.fail(Object.assign(new Error(text), { code, data }));
      } else row.resolve(toRecord(message.result));
      return true;
    },
    awaitsBytes: () => [...open.values()].some(({ options }) => options.takesBytes),
    takesBytes({ id, start, end, isError }, line) {
      const row = open.get(id);
      if (!row?.options.takesBytes) return false;
      row.resolve(bytesResult(line.subarray(start, end), isError));
      return true;
    },
    close(reason) {
      for (const { fail } of open.values()) fail(reason);
    },
  };
}
