/** Runs one task after the other, each when the page has nothing better to do: colours never hold up scrolling. */
const waiting: (() => Promise<void>)[] = [];
let running = false;
/** Rows scrolled past long ago need no colours. */
const KEPT = 60;

const idle = (run: () => void): unknown =>
  "requestIdleCallback" in window ? window.requestIdleCallback(run, { timeout: 2_000 }) : setTimeout(run, 60);

export function whenIdle(task: () => Promise<void>): void {
  waiting.push(task);
  if (waiting.length > KEPT) waiting.shift();
  if (running) return;
  running = true;
  idle(next);
}

async function next(): Promise<void> {
  const task = waiting.pop();
  if (task) await task().catch((error: unknown) => console.error(error));
  if (waiting.length > 0) idle(next);
  else running = false;
}
