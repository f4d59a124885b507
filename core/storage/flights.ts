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
