/**
 * Shares the event loop between long pieces of work: `if (mustYield()) await yieldNow()` after each step of a loop over thousands of rows or
 * files. All that yielded wait in one line, one a round of the loop, so that requests, timers and files come in between however many are at
 * work.
 */

/** ms of work between two turns. */
const SLICE_MS = 8;

const line: (() => void)[] = [];

function next(): void {
  line.shift()?.();
  if (line.length > 0) setImmediate(next);
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

/** Whether the slice is used up, by this or by what ran before it in this round: many short pieces of work hold others up as a long one does. */
export function mustYield(): boolean {
  see();
  return performance.now() - began >= SLICE_MS;
}

/** Resolves in a later round of the event loop, after those who asked before; what follows is the next slice. */
export async function yieldNow(): Promise<void> {
  await new Promise<void>((resolve) => {
    if (line.push(resolve) === 1) setImmediate(next);
  });
  see();
  began = performance.now();
}
