/** Whose turn it is in a session: the assistant works, it waits for the person, or nothing comes any more. */
import { type EventKind, isSessarcError, type Kernel } from "sessarc";
import { readFrame } from "./frames.ts";
import { NO_MARK } from "./position.ts";
import { createRunningCalls, type RunningCall } from "./running-call.ts";
import { findTarget } from "./target.ts";

/** `waiting`: the assistant has answered and nothing follows. `ended`: the log is gone, or fell silent in the middle of a turn. */
export type Turn = "working" | "waiting" | "ended";

/** `seq`: the last message of the turn; null where there is none. */
export interface TurnFrame {
  sessionId: string;
  turn: Turn;
  seq: number | null;
  /** While it works: the call that runs, the newest of several. */
  call?: RunningCall;
}

export interface TurnTimes {
  /** An answer that nothing follows for so long is the end of a turn: tools write it before the calls it announces. Default 20,000. */
  restMs?: number | undefined;
  /** A turn in which nothing was written for so long is over. Default 900,000. */
  silentMs?: number | undefined;
}

const REST_MS = 20_000;
const SILENT_MS = 900_000;
/** The messages a session already has arrive in parts. */
const SETTLE_MS = 500;
/** Messages read from the end to find the last one that is not a note. */
const LOOK_BACK = 16;
/** Errors of one session that end its part of the stream; the other sessions go on. */
const NOT_THERE: readonly string[] = ["SESSION_NOT_FOUND", "ADAPTER_MISSING"];

/**
 * Tells whose turn it is, at first and whenever that changes, until `signal` aborts or the session ends. One that is not there, or whose adapter is
 * not, has ended.
 * A call without a result is work: whether a tool runs or waits for a permission is in no log.
 */
export async function followTurn(
  kernel: Kernel,
  sessionId: string,
  tell: (frame: TurnFrame) => void,
  signal: AbortSignal,
  { restMs = REST_MS, silentMs = SILENT_MS }: TurnTimes = {},
): Promise<void> {
  let last: { seq: number; kind: EventKind; at: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let told: TurnFrame | undefined;
  const calls = createRunningCalls();
  const say = (turn: Turn) => {
    const call = turn === "working" ? calls.last() : undefined;
    const frame: TurnFrame = { sessionId, turn, seq: last?.seq ?? null, ...(call && { call }) };
    if (told?.turn === turn && told.seq === frame.seq) return;
    told = frame;
    tell(frame);
  };
  /** The state is about to be reported: what comes meanwhile does not put it off. */
  let settling = false;
  /** Calls `then` when nothing has been written for `ms`. */
  const quiet = (ms: number, then: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(then, Math.max(SETTLE_MS, ms - (Date.now() - (last?.at ?? Date.now()))));
    timer.unref();
  };
  const moved = () => {
    if (last?.kind === "assistant") {
      settling = false;
      // Whether the turn is over is not known yet; the call is.
      if (told?.call) say("working");
      return quiet(restMs, () => say("waiting"));
    }
    if (settling) return;
    settling = true;
    quiet(0, () => {
      settling = false;
      say("working");
      quiet(silentMs, () => say("ended"));
    });
  };
  const client = await open(kernel, sessionId);
  if (!client) return say("ended");
  const drop = () => client.drop();
  signal.addEventListener("abort", drop, { once: true });
  try {
    if (signal.aborted) return drop();
    for await (const bytes of client.stream) {
      const frame = readFrame(bytes);
      if (frame?.type === "status" && frame.status === "stopped") {
        if (frame.reason !== "closing") say("ended");
      } else if (frame?.type === "status") {
        // The messages are replaced.
        if (frame.reason !== undefined) calls.clear();
      } else if (frame?.type === "messages") {
        for (const event of frame.events) calls.add(event);
        const found = frame.events.findLast(({ kind }) => kind !== "note");
        if (!found) continue;
        const at = Date.parse(found.at ?? "");
        last = { seq: found.seq, kind: found.kind, at: Math.min(Number.isNaN(at) ? Date.now() : at, Date.now()) };
        moved();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", drop);
  }
}

async function open(kernel: Kernel, id: string) {
  try {
    const { row } = await findTarget(kernel, id);
    const seq = Math.max(0, row.length - LOOK_BACK);
    return await kernel.inject("live").follow(id, { seq, mark: NO_MARK, lineage: "" });
  } catch (error) {
    if (isSessarcError(error) && NOT_THERE.includes(error.code)) return undefined;
    throw error;
  }
}
