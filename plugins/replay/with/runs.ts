/** Runs under way: one for a session. A run may take an hour, so no request waits for its end. */
import { type Kernel, SessarcError, toMessage } from "sessarc";

export interface Progress {
  signal: AbortSignal;
  /** Called before each prompt, from 1. */
  turn(number: number): void;
}

export interface RunState {
  /** Number of the prompt that is being worked on, from 1; null when no run is under way. */
  turn: number | null;
  /** Why the last run broke off without a result; null when it has one. */
  failure: string | null;
}

export function createRuns(kernel: Kernel) {
  const running = new Map<string, { turn: number; stop: AbortController; done: Promise<void> }>();
  const failures = new Map<string, string>();
  kernel.onClose(() => Promise.all([...running.values()].map(({ done }) => done)).then(() => undefined));

  return {
    state: (id: string): RunState => ({ turn: running.get(id)?.turn ?? null, failure: failures.get(id) ?? null }),
    /** Throws REPLAY_WITH_RUNNING. */
    async start(id: string, task: (progress: Progress) => Promise<void>): Promise<{ started: true }> {
      if (running.has(id)) throw new SessarcError("REPLAY_WITH_RUNNING", { id });
      failures.delete(id);
      const stop = new AbortController();
      const run = { turn: 1, stop, done: Promise.resolve() };
      running.set(id, run);
      const progress = {
        signal: AbortSignal.any([kernel.closing, stop.signal]),
        turn: (number: number) => {
          run.turn = number;
        },
      };
      run.done = task(progress)
        .catch(async (error: unknown) => {
          failures.set(id, toMessage(error));
          // A SessarcError is for the user alone; anything else is a bug in sessarc.
          if (!(error instanceof SessarcError)) await kernel.notify("listener:failed", error, { hook: "replay" });
        })
        .finally(() => running.delete(id));
      return { started: true };
    },
    async stop(id: string): Promise<{ stopped: boolean }> {
      const run = running.get(id);
      run?.stop.abort("it was stopped");
      await run?.done;
      return { stopped: run !== undefined };
    },
  };
}
