/** Lets a few tasks run at once; the others wait in line. */

/**
 * Runs `task` when a slot is free. A task that takes longer than `slowMs` waits for a disk or a network, not for a
 * core: its slot goes to the next one while it goes on.
 */
type Gate = <T>(task: () => Promise<T>) => Promise<T>;

export function createGate(slots: number, slowMs: number): Gate {
  let free = slots;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return async (task) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let held = true;
    const giveBack = () => {
      if (held) release();
      held = false;
    };
    const timer = setTimeout(giveBack, slowMs);
    try {
      return await task();
    } finally {
      clearTimeout(timer);
      giveBack();
    }
  };
}
