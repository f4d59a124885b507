/** Answers in memory that cost something to compute. */
import { BoundedMap } from "./bounded.ts";

/** Computed answers by key, the newest `limit` of them (`createCache`). */
export interface Cache<T> {
  /**
   * The answer to `key`, else what `make` computes; concurrent callers share one computation, and a failure is not cached. An answer with
   * another `stamp` is recomputed.
   */
  get(key: string, make: () => Promise<T>, stamp?: string | number): Promise<T>;
  delete(key: string): void;
  clear(): void;
}

/** Holds the `limit` answers that were asked for last. */
export function createCache<T>(limit: number): Cache<T> {
  const entries = new BoundedMap<string, { stamp: string | number; answer: Promise<T> }>(limit);
  return {
    get(key, make, stamp = "") {
      const known = entries.use(key);
      if (known?.stamp === stamp) return known.answer;
      const answer = make();
      entries.set(key, { stamp, answer });
      answer.catch(() => {
        if (entries.get(key)?.answer === answer) entries.delete(key);
      });
      return answer;
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
