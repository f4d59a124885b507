/** How many requests are being answered right now; closing waits for them. */
export interface Traffic {
  /** Runs `work` and counts it until it settles. A stream counts until its head is sent: its body ends on the kernel's signal. */
  count<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs, or after `ms`. */
  settled(ms: number): Promise<void>;
}

export function createTraffic(): Traffic {
  let running = 0;
  let waiting: (() => void)[] = [];
  return {
    async count(work) {
      running++;
      try {
        return await work();
      } finally {
        running--;
        if (running === 0) {
          for (const wake of waiting) wake();
          waiting = [];
        }
      }
    },
    settled(ms) {
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}
