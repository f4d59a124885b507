/**
 * The clock of `performance.now()` under a test's control. It moves when it is read, so that what is done between two moments is counted in work,
 * whatever the machine's speed. It never goes back: who has seen a time, and goes on behind an answer, would wait until it comes again.
 */
import { afterAll, beforeAll, vi } from "vitest";

export interface Clock {
  /** While `work` runs each read finds it `step` ms later; with 0 it is constant. Afterwards it runs normally, from where it is. */
  during<T>(step: number, work: () => Promise<T>): Promise<T>;
}

/** For all of a file, or of a `describe`. Before the hooks that open what reads it: those that close it then come first. */
export function createClock(): Clock {
  const real = performance.now.bind(performance);
  let ahead = 0;
  let moved: number | undefined;
  let by = 0;
  const now = () => {
    if (moved === undefined) return real() + ahead;
    moved += by;
    return moved;
  };
  beforeAll(() => {
    vi.spyOn(performance, "now").mockImplementation(now);
  });
  afterAll(() => {
    vi.mocked(performance.now).mockRestore();
  });
  return {
    async during(step, work) {
      by = step;
      moved = now();
      try {
        return await work();
      } finally {
        ahead = moved - real();
        moved = undefined;
      }
    },
  };
}
