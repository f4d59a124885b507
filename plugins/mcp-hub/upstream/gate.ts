/** How many services are started at once: a list of a hundred must not start a hundred processes in the same moment. */

const MOST = 8;
/** One that takes longer no longer keeps the others waiting: it may hang. */
const PATIENCE_MS = 2_000;

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(): Gate {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    while (inside >= MOST) await new Promise<void>((resolve) => waiting.push(resolve));
    inside++;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      inside--;
      waiting.shift()?.();
    };
    const timer = setTimeout(leave, PATIENCE_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  };
}
