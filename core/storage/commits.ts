/** Batches on their way to the disk: those that come in during one fsync share the next. */

/** A batch that is in the image and not yet on disk. */
interface Pending {
  text: string;
  resolve(): void;
  reject(error: unknown): void;
}

interface Commits {
  /** Resolves when the batch is on disk. */
  add(text: string): Promise<void>;
  /** Resolves when nothing is on its way any more; undefined while nothing is. */
  readonly running: Promise<void> | undefined;
}

export function createCommits(options: {
  /** Puts them on disk, all or none. */
  append(texts: string[]): Promise<void>;
  /** They are on disk; the waiting callers resolve. */
  appended(): void;
  /** They are not on disk. All waiting callers, those that arrived meanwhile too, reject with the returned error. */
  failed(error: unknown): Promise<unknown>;
}): Commits {
  let pending: Pending[] = [];
  let running: Promise<void> | undefined;

  async function commit(): Promise<void> {
    await Promise.resolve();
    while (pending.length > 0) {
      const group = pending;
      pending = [];
      try {
        await options.append(group.map(({ text }) => text));
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
    running = undefined;
  }

  return {
    add(text) {
      const written = new Promise<void>((resolve, reject) => pending.push({ text, resolve, reject }));
      running ??= commit();
      return written;
    },
    get running() {
      return running;
    },
  };
}
