/** One task after the other, each when the page has nothing better to do: colours never hold up scrolling. */
const waiting: (() => Promise<void>)[] = [];
let running = false;
/** Rows scrolled past long ago need no colours. */
const KEPT = 60;
/** After the last sign of scrolling, in ms: a row in passing is not coloured, most never are. */
const REST = 150;
let restAt = 0;

/** Something moves on the page: tasks wait until it has come to rest. */
export function stir(): void {
  restAt = performance.now() + REST;
}

const idle = (run: () => void): unknown =>
  "requestIdleCallback" in window ? window.requestIdleCallback(run, { timeout: 2_000 }) : setTimeout(run, 60);

/** Never resolves for a task whose signal was aborted, or that was dropped or failed: nothing waits for colours. */
export function whenIdle<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve) => {
    waiting.push(async () => {
      if (!signal?.aborted) resolve(await task());
    });
    if (waiting.length > KEPT) waiting.shift();
    if (running) return;
    running = true;
    idle(next);
  });
}

async function next(): Promise<void> {
  const wait = restAt - performance.now();
  if (wait > 0) {
    setTimeout(idle, wait, next);
    return;
  }
  const task = waiting.pop();
  if (task) await task().catch((error: unknown) => console.error(error));
  if (waiting.length > 0) idle(next);
  else running = false;
}
