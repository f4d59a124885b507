/**
 * When pages of the log go into `catalog.db`. Two steps alternate, with a good many commits between them: the carried pages are written into
 * `catalog.db`, and a new log takes the place of the one that is long. A copy of the folder that takes one of them in is whole, in
 * whichever order it reads the two files: see decision 0009.
 */
import { toMessage } from "../utils/async.ts";
import { createQueue, type Queue } from "../utils/queue.ts";
import type { CatalogLog } from "./catalog-log.ts";

interface Checkpoints {
  /** Call after commits. Takes the next step in the background when the log has grown. */
  look(): void;
  /** Puts everything that is in the log into `catalog.db`, and an empty log in its place. Does nothing while `catalog.db` is held. */
  shorten(): Promise<void>;
  /** The same for the last time: the log is removed. No further step starts in the background. */
  finish(): Promise<void>;
  /** Resolves when nothing writes into `catalog.db`, and nothing will until the function it brings is called. */
  hold(): Promise<() => void>;
}

/** Times `limit` after which the log is shortened though another program seems to have it open: one that was killed leaves its file, too. */
const MUCH = 16;

export function createCheckpoints(options: {
  log: CatalogLog;
  /** Changes of the log run sequentially. */
  queue: Queue;
  /** Resolves when the directory is ours still. */
  prove(): Promise<void>;
  /** Whether another SQLite program has the database open: it may write what it finds in its log into `catalog.db` when it closes. */
  isOpenElsewhere(): boolean;
  /** Bytes of commits between two steps. */
  limit: number;
  /** Aborts a step that takes too long. */
  signal: AbortSignal;
  notice(message: string): void;
}): Checkpoints {
  const { log, queue, prove, limit, signal } = options;
  const steps = createQueue();
  /** Bytes of the log after the last step. */
  let from = log.bytes;
  let stepping = false;
  let ended = false;
  let holders = 0;

  const rotate = () =>
    queue(async () => {
      signal.throwIfAborted();
      await prove();
      await log.rotate();
    });
  const writeBack = () =>
    log.writeBack(async () => {
      signal.throwIfAborted();
      await prove();
    });

  /** One of the two. */
  async function step(): Promise<void> {
    if (holders > 0 || ended || (log.bytes < MUCH * limit && options.isOpenElsewhere())) return;
    await prove();
    await (log.carries && !log.isRemoved ? writeBack() : rotate());
  }

  /** False: the log is not ours to empty, or not now. */
  async function empty(): Promise<boolean> {
    // Finds out whether the log is there.
    if (log.isOurs) await prove();
    if (!log.isOurs) return false;
    if (log.isRemoved) await rotate();
    if (holders > 0 || options.isOpenElsewhere()) return false;
    // In a new log even where all of it follows: a reader beside us notices by the log that its pages may change.
    if (log.hasOwn) await rotate();
    await writeBack();
    return true;
  }

  return {
    look() {
      // A new log begins at the first commit of this process.
      from = Math.min(from, log.bytes);
      if (stepping || ended || log.bytes - from < limit) return;
      stepping = true;
      const failed = (error: unknown) => {
        if (!ended && !signal.aborted)
          options.notice(
            `catalog.db could not be updated and is tried again later; the log has everything: ${toMessage(error)}`,
          );
      };
      steps(step)
        .catch(failed)
        .finally(() => {
          stepping = false;
          from = log.bytes;
        });
    },
    shorten: () =>
      steps(async () => {
        if (await empty()) await rotate();
        from = log.bytes;
      }),
    finish() {
      ended = true;
      return steps(async () => {
        if (await empty()) await log.remove();
      });
    },
    async hold() {
      holders++;
      await steps(async () => {});
      let held = true;
      return () => {
        if (held) holders--;
        held = false;
      };
    },
  };
}
