/** Work that waits: one at a time (`createQueue`), a few at once (`createLimit`), or a list of items in a few lanes (`eachInLanes`). */
import type { MaybePromise } from "./async.ts";

/** Work that runs one piece at a time (`createQueue`). */
export interface Queue {
  /** Runs `work` after all that was queued before has ended, whether it succeeded or failed. */
  <T>(work: () => MaybePromise<T>): Promise<T>;
  /** Resolves when what is queued now has ended. Never rejects. */
  idle(): Promise<void>;
}

/** A queue: a failure is the failure of its own piece, and the next one runs. */
export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  const queue = <T>(work: () => MaybePromise<T>): Promise<T> => {
    const result = last.then(() => work());
    last = result.then(ended, ended);
    return result;
  };
  return Object.assign(queue, {
    async idle() {
      await last;
    },
  });
}

const ended = () => {};

/** Work of which a number of pieces runs at a time (`createLimit`). */
export interface Limit {
  /** Runs `work` when a place is free, in the order of the calls. */
  <T>(work: () => MaybePromise<T>): Promise<T>;
  /** Resolves with the function that frees the place; calling it again does nothing. Rejects with the reason of `signal` if it is aborted while waiting. */
  enter(signal?: AbortSignal): Promise<() => void>;
}

/** `slowMs`: work that takes longer waits for a disk or a network, not for a processor; it frees its place and continues. */
export function createLimit(places: number, { slowMs }: { slowMs?: number } = {}): Limit {
  let free = places;
  const waiting: (() => void)[] = [];

  const take = () => {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = waiting.shift();
      if (next) next();
      else free++;
    };
  };

  async function enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (free > 0) free--;
    else
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        const leave = () => {
          waiting.splice(waiting.indexOf(begin), 1);
          reject(signal?.reason);
        };
        waiting.push(begin);
        signal?.addEventListener("abort", leave, { once: true });
      });
    return take();
  }

  const limit = async <T>(work: () => MaybePromise<T>): Promise<T> => {
    const release = await enter();
    const timer = slowMs === undefined ? undefined : setTimeout(release, slowMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      release();
    }
  };
  return Object.assign(limit, { enter });
}

/** Calls `work` for each item, in order, in `lanes` lanes. Throws the first failure when all that was begun has ended; the other lanes go on to the end. */
export async function eachInLanes<T>(
  items: Iterable<T>,
  lanes: number,
  work: (item: T) => MaybePromise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
