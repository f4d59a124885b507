/** A moment that one at a time may hold. */
export interface Hold {
  /** Resolves when whoever holds it lets go; undefined while nobody does. */
  readonly held: Promise<void> | undefined;
  /** Runs `work` when nobody else holds it. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

export function createHold(): Hold {
  let held: Promise<void> | undefined;
  return {
    get held() {
      return held;
    },
    async hold(work) {
      while (held) await held;
      let letGo = () => {};
      held = new Promise((resolve) => {
        letGo = resolve;
      });
      try {
        return await work();
      } finally {
        held = undefined;
        letGo();
      }
    },
  };
}
