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

/** When the running round of the loop began, as far as a piece of work was there to see it: all of a round share its slice. */
let began = 0;
let isSeen = false;

function see(): void {
  if (isSeen) return;
  isSeen = true;
  began = performance.now();
  setImmediate(() => {
    isSeen = false;
  });
}

/** One piece of work: `if (slices.due) await slices.turn()` after each step of it. */
export class Slices {
  constructor() {
    see();
  }

  /** The slice is used up, by this or by what ran before it in this round: many short pieces of work hold others up as a long one does. */
  get due(): boolean {
    see();
    return performance.now() - began >= SLICE_MS;
  }

  /** Lets others in; what follows is the next slice. */
  async turn(): Promise<void> {
    await nextSlice();
    see();
    began = performance.now();
  }
}
