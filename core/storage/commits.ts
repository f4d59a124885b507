/** Batches on their way to the disk: those that come in during one fsync share the next. */

/** A batch that is in the image and not yet on disk. */
interface Pending {
  resolve(): void;
  reject(error: unknown): void;
}

interface Commits {
  /** Call when a batch was applied. Resolves when it is on disk. */
  add(): Promise<void>;
  /** What the last batch that was added resolves with; undefined while none is on its way. */
  readonly last: Promise<void> | undefined;
  /** Resolves when nothing is on its way any more; undefined while nothing is. */
  readonly running: Promise<void> | undefined;
}

export function createCommits<Pages>(options: {
  /** The pages that the batches changed which were added since the last call. */
  take(): Pages;
  /** Puts them on disk, all or none. */
  append(pages: Pages): Promise<void>;
  /** They are on disk; the waiting callers resolve. */
  appended(): void;
  /** They are not on disk. All waiting callers, those that arrived meanwhile too, reject with the returned error. */
  failed(error: unknown): Promise<unknown>;
}): Commits {
  let pending: Pending[] = [];
  let running: Promise<void> | undefined;
  let last: Promise<void> | undefined;

  async function commit(): Promise<void> {
    await Promise.resolve();
    while (pending.length > 0) {
      const group = pending;
      pending = [];
      try {
        await options.append(options.take());
      } catch (error) {
        const lost = [...group, ...pending];
        pending = [];
        const told = await options.failed(error);
        for (const { reject } of lost) reject(told);
        continue;
      }
      for (const { resolve } of group) resolve();
      options.appended();
    }
    // In the same step as the last read of `pending`: a later batch starts its own commit.
    running = last = undefined;
  }

  return {
    add() {
      const written = new Promise<void>((resolve, reject) => pending.push({ resolve, reject }));
      last = written;
      running ??= commit();
      return written;
    },
    get last() {
      return last;
    },
    get running() {
      return running;
    },
  };
}
