/** When a snapshot of the catalogue is written. */
import { messageOf } from "../utils/async.ts";
import type { Recovered, Snapshot } from "./recover.ts";
import { type Moment, type Place, replaceSnapshot } from "./replace.ts";
import { LARGE } from "./snapshot.ts";

/** This part of a large snapshot is little journal. */
const LITTLE = 100;
/** Blocks that a journal changes, short as it may be, are read, changed and kept in memory at each start: so many are some 100 ms and 16 MB. */
const MANY = 1_024;

export interface Snapshots {
  /** The one on disk; undefined: none is. */
  last: Snapshot | undefined;
  /** Writes one unless nothing changed since the last. Writers wait for one fsync and go on; what is written is the image as it was then. */
  write(): Promise<void>;
  /** Has one written in the background once the journal is long. */
  look(): void;
  /** The same after an opening, where each one would do again what this one did. */
  opened(recovered: Pick<Recovered, "image" | "isLong">): void;
  /** Whether closing writes one: of a large catalogue a little journal is read sooner than all of it is written. */
  isWorthIt(): boolean;
}

export function createSnapshots(options: {
  place(): Place;
  /** Bytes of journal after which one is written, unless a quarter of the last is more. */
  journalLimit: number;
  /** The image as it is to be written; undefined: nothing changed since the last. */
  freeze(): Promise<Moment | undefined>;
  /** `write`, after those asked for before. */
  flush(): Promise<void>;
  notice(message: string): void;
  onFlushed?: ((info: { bytes: number; ms: number }) => void) | undefined;
}): Snapshots {
  let flushing = false;
  let nextTry = 0;
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
    },
    opened({ image, isLong }) {
      const { last } = snapshots;
      // Of a version that had it all in memory: from the next start on it is read as it is needed. And few words may change much (an index
      // that an update adds, a table that is emptied) or look at all rows.
      if (last && (!last.sliced || isLong || image.changed > MANY)) inBackground();
    },
    isWorthIt() {
      const { journal, blocks } = options.place();
      const { sliced = false, bytes = 0 } = snapshots.last ?? {};
      return !sliced || bytes < (blocks?.from ?? LARGE) || journal.bytes > bytes / LITTLE;
    },
  };
  return snapshots;

  function inBackground(): void {
    if (flushing) return;
    flushing = true;
    const failed = (error: unknown) => {
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
