/** When a snapshot of the catalogue is written. */
import { messageOf } from "../utils/async.ts";
import type { Recovered, Snapshot } from "./recover.ts";
import { type FilePlace, type Moment, replaceSnapshot } from "./replace.ts";
import { LARGE } from "./snapshot.ts";

/** This part of a large snapshot is little journal. */
const LITTLE = 100;
/** Blocks that a journal changes, short as it may be, are read, changed and kept in memory at each start: so many are some 100 ms and 16 MB. */
const MANY = 1_024;
/** Bytes of journal that repeating takes as long as one row that a few words changed. */
const ROW = 96;

export interface Snapshots {
  /** The one on disk; undefined: none is. */
  last: Snapshot | undefined;
  /** Writes one unless nothing changed since the last. Writers wait for one fsync and go on; what is written is the image as it was then. */
  write(): Promise<void>;
  /** Has one written in the background once the journal is long, or would take long to repeat and nothing more comes for a while. */
  look(): void;
  /** The same after an opening, where each one would do again what this one did. */
  opened(recovered: Pick<Recovered, "image" | "isLong">): void;
  /** A batch that is long to repeat was written. */
  wroteLong(): void;
  /** Whether closing writes one: of a large catalogue a little journal is read sooner than all of it is written. */
  isWorthIt(): boolean;
  /** None is begun any more by itself. */
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
  /** Rows that were changed since the last one (`Image.rows`). */
  rows(): number;
  notice(message: string): void;
  onFlushed?: ((info: { bytes: number; ms: number }) => void) | undefined;
}): Snapshots {
  let flushing = false;
  let nextTry = 0;
  let isLong = false;
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
      isLong = false;
      options.onFlushed?.({ bytes: snapshots.last.bytes, ms: performance.now() - started });
    },
    look() {
      const { journal } = options.place();
      const quarter = (snapshots.last?.bytes ?? 0) / 4;
      if (journal.bytes > Math.max(options.journalLimit, nextTry, quarter)) inBackground();
      else whenAtRest();
    },
    opened({ image, isLong: long }) {
      const { last } = snapshots;
      // Of a version that had it all in memory: from the next start on it is read as it is needed. And few words may change much (an index
      // that an update adds, a table that is emptied) or look at all rows.
      if (last && (!last.sliced || long || image.changed > MANY)) inBackground();
      else if (last) whenAtRest();
    },
    wroteLong() {
      isLong = true;
      whenAtRest();
    },
    isWorthIt() {
      const { blocks } = options.place();
      const { sliced = false, bytes = 0 } = snapshots.last ?? {};
      return !sliced || bytes < (blocks?.from ?? LARGE) || weight() > bytes / LITTLE;
    },
    end() {
      ended = true;
      clearTimeout(resting);
    },
  };
  return snapshots;

  /** What repeating the journal takes, in bytes of a usual one. */
  function weight(): number {
    return isLong ? Number.POSITIVE_INFINITY : options.place().journal.bytes + options.rows() * ROW;
  }

  /** Not while somebody writes: a large one is some seconds of work. */
  function whenAtRest(): void {
    const least = Math.max(options.journalLimit / 2, (snapshots.last?.bytes ?? 0) / LITTLE);
    if (ended || options.place().journal.bytes < nextTry || weight() <= least) return;
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
