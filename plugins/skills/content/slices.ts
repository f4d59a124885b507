/** Long work on the main thread, done in slices so that others get their turn. */
import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 8;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `work` to its end, with a turn of the event loop between slices of 8 ms; a step of the generator is at most a few ms long. One
 * work at a time: slices of several would add up to one long one.
 */
export function inSlices<T>(work: Generator<void, T>): Promise<T> {
  const run = async (): Promise<T> => {
    let began = performance.now();
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      if (performance.now() - began < SLICE_MS) continue;
      await nextTurn();
      began = performance.now();
    }
  };
  const result = last.then(run, run);
  last = result.catch(() => {});
  return result;
}

/** Runs `work` over `items`, at most `width` at once. The first failure is thrown when all that was begun has ended. */
export async function eachOf<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: width }, worker));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
