/**
 * A legacy service asks in the middle of a call; a modern client is asked in the answer, and calls again with what it has to say. In
 * between the call is pending here: the connection to the service stays open and waits.
 */
import { randomBytes } from "node:crypto";
import { type JsonRecord, toRecord } from "sessarc";
import type { Caller } from "../upstream/pool.ts";
import { INVALID_PARAMS, RpcError } from "../upstream/rpc-error.ts";

/** What a modern client sent along with its second call. */
export interface Input {
  state: string | undefined;
  responses: JsonRecord;
}

export interface PendingCalls {
  /**
   * Starts `work` with a caller that can be asked, or goes on with the call that `input` belongs to. Answers the result, or what the
   * client is asked (`resultType: "input_required"`).
   */
  run(caller: Caller, signal: AbortSignal, input: Input | undefined, work: Work): Promise<JsonRecord>;
  /** Whether this belongs to a pending call. */
  has(input: Input): boolean;
  close(): void;
}
type Work = (caller: Caller, signal: AbortSignal) => Promise<JsonRecord>;

interface Question {
  method: string;
  params: JsonRecord;
  answer(result: JsonRecord): void;
}
interface PendingCall {
  /** Names this round of questions; the next round gets a new one. */
  state: string;
  outcome: Promise<JsonRecord>;
  questions: Map<string, Question>;
  /** Called when something was asked. */
  wake: () => void;
  abort: AbortController;
  /** The calls that are pending right now. */
  caller: Caller | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** A person may need a while; after that the service's call is cancelled. */
const PATIENCE_MS = 10 * 60_000;

export function createPendingCalls(): PendingCalls {
  const pending = new Map<string, PendingCall>();

  function start(caller: Caller, work: Work): PendingCall {
    const call: PendingCall = {
      state: "",
      outcome: Promise.resolve({}),
      questions: new Map(),
      wake: () => {},
      abort: new AbortController(),
      caller,
      timer: undefined,
    };
    let asked = 0;
    const inner: Caller = {
      session: caller.session,
      protocol: caller.protocol,
      capabilities: caller.capabilities,
      tell: (method, params) => call.caller?.tell(method, params),
      ask: (method, params, signal) =>
        new Promise((resolve, reject) => {
          const key = `${method.split("/")[0]}-${++asked}`;
          const forget = () => call.questions.delete(key);
          call.questions.set(key, { method, params, answer: (result) => forget() && resolve(result) });
          signal.addEventListener("abort", () => forget() && reject(signal.reason), { once: true });
          call.wake();
        }),
    };
    call.outcome = work(inner, call.abort.signal).finally(() => {
      clearTimeout(call.timer);
      pending.delete(call.state);
    });
    // The request that waits gets the error; without one the call was cancelled.
    call.outcome.catch(() => {});
    return call;
  }

  async function wait(call: PendingCall, caller: Caller, signal: AbortSignal): Promise<JsonRecord> {
    clearTimeout(call.timer);
    call.caller = caller;
    const cancel = () => call.abort.abort(signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const asked = new Promise<undefined>((resolve) => {
        call.wake = () => resolve(undefined);
        if (call.questions.size > 0) resolve(undefined);
      });
      return (await Promise.race([call.outcome, asked])) ?? suspend(call);
    } finally {
      signal.removeEventListener("abort", cancel);
      call.caller = undefined;
    }
  }

  function suspend(call: PendingCall): JsonRecord {
    call.state = randomBytes(24).toString("base64url");
    pending.set(call.state, call);
    call.timer = setTimeout(
      () => call.abort.abort(new Error("the client did not answer the service's question")),
      PATIENCE_MS,
    );
    call.timer.unref();
    const inputRequests = Object.fromEntries(
      [...call.questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
    return { resultType: "input_required", inputRequests, requestState: call.state };
  }

  return {
    has: ({ state }) => state !== undefined && pending.has(state),
    async run(caller, signal, input, work) {
      if (!input) return wait(start(caller, work), caller, signal);
      const call = pending.get(input.state ?? "");
      if (!call) throw new RpcError(INVALID_PARAMS, "This call no longer waits for input; start it again");
      pending.delete(call.state);
      for (const [key, response] of Object.entries(input.responses))
        call.questions.get(key)?.answer(toRecord(response));
      return wait(call, caller, signal);
    },
    close() {
      for (const call of pending.values()) {
        clearTimeout(call.timer);
        call.abort.abort(new Error("the hub is closing"));
      }
      pending.clear();
    },
  };
}
