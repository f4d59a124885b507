/**
 * The catalogue: SQLite in memory (`image.ts`), every batch in a journal before it is acknowledged (`journal.ts`), a snapshot now and
 * then (`snapshot.ts`). One process owns the directory; it holds the lock.
 */
import * as disk from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import type { DiskCalls } from "../utils/atomic.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { compactCopy } from "./compact.ts";
import { checkParams, type Image } from "./image.ts";
import { createJournal, type Journal } from "./journal.ts";
import { encodeBatch, encodeGroup } from "./journal-format.ts";
import { createOwnership } from "./ownership.ts";
import { createQueue } from "./queue.ts";
import {
  type Blocks,
  catchUp,
  dropBefore,
  JOURNAL_FILE,
  keepTorn,
  openSnapshot,
  type Recovered,
  recover,
} from "./recover.ts";
import { type Moment, replaceSnapshot } from "./replace.ts";
import { LARGE } from "./snapshot.ts";
import { toStorageError } from "./storage-error.ts";
import type { Compacted, Database, SqlValue, Statement } from "./types.ts";

export interface DatabaseOptions {
  dir: string;
  /** Reads what the owner has on disk, beside it, and never writes. */
  readOnly?: boolean;
  /** Journal bytes after which a snapshot is written, unless a quarter of the snapshot is more. Default 8 MB. */
  journalLimit?: number;
  /** A snapshot is on disk. */
  onFlushed?: ((info: { bytes: number; ms: number }) => void) | undefined;
  /** Something the user should know and no caller is told: a torn journal, a snapshot that could not be written. Default: stderr. */
  onNotice?: ((message: string) => void) | undefined;
  /** Resolves when the directory is ours still: asked before and after each write. Throws ARCHIVE_LOCKED or STORAGE_REPLACED. */
  prove?: (() => Promise<void>) | undefined;
  /** Runs last in `close`, however that went. */
  onClosed?: (() => Promise<void> | undefined) | undefined;
  calls?: DiskCalls;
  /** Bytes that are free where a folder lies. */
  room?: (dir: string) => Promise<number>;
  blocks?: Blocks | undefined;
}

const JOURNAL_LIMIT = 8 * 2 ** 20;
/** Bytes that stay free on the disk when the catalogue is made anew. */
const SPARE = 16 << 20;
/** This part of a large snapshot is little journal. */
const LITTLE = 100;

/** A batch that is in the image and not yet on disk. */
interface Pending {
  text: string;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Opens the catalogue in `dir`, making it when there is none. Returns at once; `ready` and every call wait until it is open, and
 * reject with what went wrong when it cannot be (CATALOG_DAMAGED, STORAGE_READ_ONLY, …).
 *
 * Cost: about 60 ms once per process for SQLite itself, then 1 ms per 3 MB of snapshot and 10 ms per 1,000 batches of journal.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { dir, readOnly = false, journalLimit = JOURNAL_LIMIT, calls = disk, room = freeBytes } = options;
  const notice = options.onNotice ?? ((message: string) => process.stderr.write(`sessarc: ${message}\n`));
  const queue = createQueue();
  const snapshots = createQueue();
  const flights = new Set<Promise<unknown>>();
  let journal: Journal;
  let snapshot: Recovered["snapshot"];
  /** Number of the last batch in the image, and of the last one on disk. */
  let applied = 0;
  let durable = 0;
  let generation = 0;
  let undone = 0;
  let pending: Pending[] = [];
  let committing: Promise<void> | undefined;
  let flushing = false;
  let closing: Promise<void> | undefined;
  /** Held while the image must not change. */
  let pause: Promise<void> | undefined;
  let nextTry = 0;
  let before: Image | undefined;
  /** The last undo failed: the image holds what is not on disk, and is made anew at the next call. */
  let stale = false;
  /** What another owner wrote is read, once the directory is no longer ours. */
  const ownership = createOwnership(async () => {
    await options.prove?.();
    await journal.checkOurs();
  }, notice);
  let opened = open();
  // Whoever calls is told; without a call nobody is, and Node would end the process.
  const ready = opened.then(() => undefined);
  ready.catch(() => undefined);

  async function open(): Promise<Recovered> {
    const recovered = await recover(dir, undefined, options.blocks);
    if (!readOnly) await makeFolder(dir, 0o700).catch(fail(dir));
    if (!readOnly && recovered.tornBytes > 0) {
      const kept = await keepTorn(dir, recovered).catch(fail(dir));
      notice(
        `${recovered.tornBytes} bytes at the end of ${JOURNAL_FILE} were cut short by a crash; put aside as ${kept}`,
      );
    }
    adopt(recovered);
    const { batch: base = 0, checksum = 0 } = snapshot ?? {};
    journal = createJournal({
      path: join(dir, JOURNAL_FILE),
      calls,
      bytes: recovered.journalBytes,
      head: { base, checksum },
      sign: recovered.sign,
    });
    // Of a version that had it all in memory: from the next start on it is read as it is needed.
    if (!readOnly && snapshot?.sliced === false) flushInBackground();
    return recovered;
  }

  function adopt(recovered: Recovered): void {
    before?.close();
    before = recovered.image;
    snapshot = recovered.snapshot ?? snapshot;
    applied = durable = recovered.batch;
    generation++;
  }

  /** Runs `work` on the open catalogue at a moment when nothing holds it; an `await` in between would let go of that moment. */
  async function settled<T>(work: (image: Image) => T): Promise<T> {
    for (;;) {
      if (stale) reopen();
      const current = opened;
      const { image } = await current;
      if (pause) await pause;
      else if (current === opened) return work(image);
    }
  }

  function call<T>(work: () => Promise<T>): Promise<T> {
    if (closing) return Promise.reject(new Error("The catalogue is closed"));
    const flight = work();
    flights.add(flight);
    const done = () => flights.delete(flight);
    flight.then(done, done);
    return flight;
  }

  async function write(statements: readonly Statement[]): Promise<number> {
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    let written: Promise<void> | undefined;
    const changes = await settled((image) => {
      if (ownership.lost) throw ownership.lost;
      if (journal.broken) throw toStorageError(journal.broken, join(dir, JOURNAL_FILE));
      for (const [sql, params] of statements) checkParams(sql, params);
      const text = encodeBatch(statements);
      const changed = image.apply(statements);
      applied++;
      generation++;
      written = new Promise<void>((resolve, reject) => pending.push({ text, resolve, reject }));
      committing ??= commit();
      return changed;
    });
    await written;
    return changes;
  }

  /** Writes what is pending, again and again until nothing is; what comes in during an fsync shares the next. */
  async function commit(): Promise<void> {
    await Promise.resolve();
    while (pending.length > 0) {
      const group = pending;
      pending = [];
      const texts = group.map(({ text }) => text);
      try {
        await queue(async () => {
          await ownership.prove();
          await journal.append(encodeGroup(durable + 1, texts), ownership.prove);
        });
      } catch (error) {
        await undo(group, error);
        continue;
      }
      durable += group.length;
      for (const { resolve } of group) resolve();
      if (journal.bytes > Math.max(journalLimit, nextTry, (snapshot?.bytes ?? 0) / 4)) flushInBackground();
    }
    // In the same step as the last look at `pending`: a batch that comes later starts its own.
    committing = undefined;
  }

  /** The image goes back to what is on disk, and everyone whose batch is not there is told. */
  async function undo(group: Pending[], error: unknown): Promise<void> {
    const lost = [...group, ...pending];
    pending = [];
    undone++;
    await reopen().catch(() => {
      // Every call is told until one succeeds.
    });
    for (const { reject } of lost) reject(toStorageError(error, join(dir, JOURNAL_FILE)));
  }

  function reopen(): Promise<Recovered> {
    stale = false;
    opened = queue(async () => {
      const recovered = await recover(dir, ownership.lost ? undefined : durable, options.blocks);
      if (recovered.batch < (ownership.lost ? Math.min(durable, 1) : durable)) {
        recovered.image.close();
        throw ownership.lost ?? new SessarcError("STORAGE_REPLACED", { path: dir });
      }
      adopt(recovered);
      return recovered;
    });
    opened.catch(() => {
      stale = true;
    });
    return opened;
  }

  const flush = () => snapshots(writeSnapshot);

  function flushInBackground(): void {
    if (flushing) return;
    flushing = true;
    const failed = (error: unknown) => {
      // The journal has everything. Trying at every batch would not make room; the next try is after as much again.
      nextTry = journal.bytes * 2;
      notice(`the snapshot could not be written and is tried again later: ${messageOf(error)}`);
    };
    flush()
      .catch(failed)
      .finally(() => {
        flushing = false;
      });
  }

  /** Whether closing writes a snapshot: of a large catalogue a little journal is read sooner than all of it is written. */
  function isWorthIt(): boolean {
    const { from = LARGE } = options.blocks ?? {};
    const { sliced = false, bytes = 0 } = snapshot ?? {};
    return !sliced || bytes < from || journal.bytes > bytes / LITTLE;
  }

  /** Writers wait for one fsync and go on; what is written is the image as it was then. */
  async function writeSnapshot(): Promise<void> {
    const started = performance.now();
    const moment = await freeze();
    if (!moment) return;
    snapshot = await replaceSnapshot(
      { dir, calls, blocks: options.blocks, journal, queue, prove: ownership.prove },
      moment,
    );
    nextTry = 0;
    options.onFlushed?.({ bytes: snapshot.bytes, ms: performance.now() - started });
  }

  /** The image as of its last batch, once that is on disk, and where the journal stood then. */
  const freeze = () =>
    hold(async (image): Promise<Moment | undefined> => {
      if (readOnly || ownership.lost) return undefined;
      if (snapshot ? snapshot.batch === applied && snapshot.sliced : applied === 0) return undefined;
      return { frozen: image.freeze(), batch: applied, from: journal.bytes };
    });

  /** Runs `work` while nothing changes: all that was applied is on disk, and who calls meanwhile waits. */
  async function hold<T>(work: (image: Image) => Promise<T>): Promise<T> {
    await opened;
    while (pause) await pause;
    let resume = () => {};
    pause = new Promise((resolve) => {
      resume = resolve;
    });
    try {
      await committing;
      return await work((await opened).image);
    } finally {
      pause = undefined;
      resume();
    }
  }

  /**
   * Makes the catalogue anew without the room of deleted rows. The copy is made of the snapshot, beside reading and writing; then what was
   * written meanwhile is repeated on it, and a snapshot of it replaces the old one as any snapshot does: killed at any moment, the disk
   * holds the old one with its journal, or the new one.
   */
  async function compact(): Promise<Compacted> {
    await opened;
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    await writeSnapshot();
    const before = snapshot?.bytes ?? 0;
    const needed = before + SPARE - (await room(dir));
    if (needed > 0) throw new SessarcError("STORAGE_FULL", { needed });
    const old = await openSnapshot(dir, options.blocks ?? {});
    const copy = old && (await compactCopy(old.file));
    if (!copy) return { before, after: before };
    let taken = false;
    try {
      // The new snapshot has a number of its own: one that a journal names holds the same bytes for ever.
      await write([]);
      await hold(async () => {
        if (ownership.lost) throw ownership.lost;
        await catchUp(dir, copy, old.head.batch, durable);
        adopt({ ...(await opened), image: copy, batch: durable, snapshot });
        taken = true;
        opened = Promise.resolve({ ...(await opened), image: copy });
      });
    } finally {
      if (!taken) copy.close();
    }
    await writeSnapshot();
    return { before, after: snapshot?.bytes ?? before };
  }

  async function close(): Promise<void> {
    await Promise.allSettled(flights);
    const recovered = await opened.catch(() => undefined);
    if (!recovered) return journal?.close();
    // One that is being written is waited for in any case.
    await snapshots(async () => {
      // A torn end is in the journal still, and would be told of at every start.
      if (recovered.tornBytes > 0 || isWorthIt()) await writeSnapshot();
    }).catch((error: unknown) =>
      notice(`the snapshot could not be written; the journal has everything: ${messageOf(error)}`),
    );
    await journal.close();
    if (!readOnly && !ownership.lost) await dropBefore(dir);
    (await opened).image.close();
  }

  const read = <T>(sql: string, params: readonly SqlValue[] = []) =>
    call(() => settled((image) => image.all<T>(sql, params)));

  return {
    ready,
    all: read,
    get: async <T>(sql: string, params?: readonly SqlValue[]) => (await read<T>(sql, params))[0],
    run: (sql, params) => call(async () => ({ changes: await write([[sql, params]]) })),
    batch: (statements) => call(async () => void (statements.length > 0 && (await write(statements)))),
    flush: () => call(flush),
    compact: () => call(() => snapshots(compact)),
    close() {
      closing ??= close().finally(options.onClosed);
      return closing;
    },
    get generation() {
      return generation;
    },
    get undone() {
      return undone;
    },
    get stats() {
      return { snapshotBytes: snapshot?.bytes ?? 0, journalBytes: journal?.bytes ?? 0 };
    },
  };
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await disk.statfs(dir);
  return bavail * bsize;
}

const fail = (path: string) => (error: unknown) => {
  throw toStorageError(error, path);
};
