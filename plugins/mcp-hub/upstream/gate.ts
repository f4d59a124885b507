/**
 * How many services are started at once: a list of a hundred must not start a hundred processes in the same moment, least of all on a
 * machine that is busy already and takes seconds for each.
 */

const MOST = 8;
/** Where nothing gets done for so long, the one that is at it for longest no longer keeps the others waiting: it may hang. */
const PATIENCE_MS = 2_000;

type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(): Gate {
  /** In the order in which they came. */
  const inside = new Set<object>();
  const waiting: (() => void)[] = [];
  let patience: NodeJS.Timeout | undefined;

  function leave(one: object): void {
    if (!inside.delete(one)) return;
    waiting.shift()?.();
    watch();
  }

  function watch(): void {
    clearTimeout(patience);
    const [oldest] = inside;
    if (waiting.length > 0 && oldest) patience = setTimeout(leave, PATIENCE_MS, oldest);
  }

  return async (work) => {
    const one = {};
    if (inside.size < MOST) inside.add(one);
    else {
      const entered = new Promise<void>((resolve) => waiting.push(() => resolve(void inside.add(one))));
      if (waiting.length === 1) watch();
      await entered;
    }
    try {
      return await work();
    } finally {
      leave(one);
    }
  };
}
