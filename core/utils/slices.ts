/**
 * Shares the event loop between long pieces of work: each does its work in slices and waits for its turn between them. All slices of a
 * process wait in one line, one a round of the loop, so that requests, timers and files come in between however many are at work.
 */

/** ms of work between two turns. */
const SLICE_MS = 8;

const line: (() => void)[] = [];

function next(): void {
  line.shift()?.();
  if (line.length > 0) setImmediate(next);
}

/** Resolves in a later round of the event loop, after those who asked before. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (line.push(resolve) === 1) setImmediate(next);
  });
}

/** One piece of work: `if (slices.due) await slices.turn()` after each step of it. */
export class Slices {
  #since = performance.now();

  /** The slice is used up. Some 50 ns. */
  get due(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Lets others in; what follows is the next slice. */
  async turn(): Promise<void> {
    await nextSlice();
    this.#since = performance.now();
  }
}
