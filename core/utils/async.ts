/** Promises and what they throw. */

/** Waits for `run` at most `ms`; then throws what `late` makes. `run` continues: a promise cannot be stopped. */
export async function withLimit(ms: number, late: () => Error, run: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    await Promise.race([Promise.resolve().then(run), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** What was thrown, in words: it may be anything. */
export const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;
