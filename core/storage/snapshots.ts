/** When a snapshot of the catalogue is written. */
import { messageOf } from "../utils/async.ts";
import type { Recovered, Snapshot } from "./recover.ts";
import { type FilePlace, type Moment, replaceSnapshot } from "./replace.ts";

/** A journal of less than this fraction of a large snapshot is short. */
const LITTLE = 100;

export interface Snapshots {
  /** The one on disk; undefined: none is. */
  last: Snapshot | undefined;
  /** Writes one unless nothing changed since the last. Writers wait for one fsync and go on; what is written is the image as it was then. */
  write(): Promise<void>;
  /** Starts one in the background when the journal is long, or is not short and nothing is written for a while. */
  look(): void;
  /** The same after an opening. */
  opened(recovered: Pick<Recovered, "repeatMs">): void;
  /** Whether closing writes one: repeating a short journal is faster than writing all of a large catalogue. */
  isWorthIt(): boolean;
  /** No further one starts in the background. */
  end(): void;
}

export function createSnapshots(options: {
  place(): FilePlace;
  /** Bytes of journal after which one is written, unless a quarter of the last is more. */
  journalLimit: number;
  /** ms without a write after which a shorter one is worth it. */
  restMs: number;
  /** The image as it is to be written; undefined: nothing changed since the last. */
  freeze(): Promise<Moment | undefined>;
  /** `write`, after those asked for before. */
  flush(): Promise<void>;
  /** Bytes from which a snapshot is large. */
  largeFrom: number;
  /** ms of repeating the journal that are long: one statement may change all rows, and each opening would repeat it. */
  slowMs: number;
  notice(message: string): void;
  onFlushed?: ((info: { bytes: number; ms: number }) => void) | undefined;
}): Snapshots {
  let flushing = false;
  let nextTry = 0;
  let resting: NodeJS.Timeout | undefined;
  let ended = false;
  const snapshots: Snapshots = {
    last: undefined,
    async write() {
      const started = performance.now();
      const moment = await options.freeze();
      if (!moment) return;
      snapshots.last = await replaceSnapshot(options.place(), moment);
      nextTry = 0;
      options.onFlushed?.({ bytes: snapshots.last.bytes, ms: performance.now() - started });
    },
    look() {
      const { journal } = options.place();
      const quarter = (snapshots.last?.bytes ?? 0) / 4;
      if (journal.bytes > Math.max(options.journalLimit, nextTry, quarter)) inBackground();
      else whenAtRest();
    },
    opened({ repeatMs }) {
      if (repeatMs >= options.slowMs) inBackground();
      else whenAtRest();
    },
    isWorthIt() {
      const bytes = snapshots.last?.bytes ?? 0;
      return bytes < options.largeFrom || options.place().journal.bytes > bytes / LITTLE;
    },
    end() {
      ended = true;
      clearTimeout(resting);
    },
  };
  return snapshots;

  /** Not between two writes: a large one takes seconds. */
  function whenAtRest(): void {
    const { journal } = options.place();
    const least = Math.max(options.journalLimit / 2, (snapshots.last?.bytes ?? 0) / LITTLE);
    if (ended || journal.bytes <= Math.max(least, nextTry)) return;
    resting ??= setTimeout(inBackground, options.restMs).unref();
    resting.refresh();
  }

  function inBackground(): void {
    if (flushing || ended) return;
    flushing = true;
    const failed = (error: unknown) => {
      if (ended) return;
      // The journal has everything. Trying at every batch would not make room; the next try is after as much again.
      nextTry = options.place().journal.bytes * 2;
      options.notice(`the snapshot could not be written and is tried again later: ${messageOf(error)}`);
    };
    options
      .flush()
      .catch(failed)
      .finally(() => {
        flushing = false;
      });
  }
}
