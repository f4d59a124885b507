/** Long synchronous work on the main thread, interrupted so that others get their turn. */
import { mustYield, yieldNow } from "sessarc";

/** Runs `work` to its end. A step of the generator is at most a few ms long. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (mustYield()) await yieldNow();
  }
}
