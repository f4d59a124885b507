/** A moment that one at a time may hold, and what is under way. */

interface Hold {
  /** Resolves when the holder releases it; undefined while it is free. */
  readonly held: Promise<void> | undefined;
  /** Runs `work` once it is free, and holds it meanwhile. */
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

/** What is under way. */
interface Flights {
  add<T>(flight: Promise<T>): Promise<T>;
  /** Resolves when those have ended that are known at the call. */
  landed(): Promise<void>;
}

export function createFlights(): Flights {
  const flights = new Set<Promise<unknown>>();
  return {
    add(flight) {
      flights.add(flight);
      const done = () => flights.delete(flight);
      flight.then(done, done);
      return flight;
    },
    async landed() {
      await Promise.allSettled(flights);
    },
  };
}
