/**
 * The catalogue: SQLite in memory (`image.ts`), every batch in a journal before it is acknowledged (`journal.ts`), a snapshot now and
 * then (`snapshot.ts`). One process owns the directory; it holds the lock.
 */
import * as disk from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { checkCatalogue } from "./check.ts";
import { createCommits } from "./commits.ts";
import { compactCatalogue } from "./compact.ts";
import { type DatabaseOptions, freeBytes, JOURNAL_LIMIT, LARGE, REST_MS, SLOW_MS } from "./database-options.ts";
import { createFlights, createHold } from "./hold.ts";
import { checkParams, type Image } from "./image.ts";
import { createJournal, type Journal } from "./journal.ts";
import { encodeBatch, encodeGroup } from "./journal-format.ts";
import { createOwnership } from "./ownership.ts";
import { JOURNAL_FILE } from "./present.ts";
import { createQueue } from "./queue.ts";
import type { Recovered } from "./recover.ts";
import { catchUp, dropBefore, keepTorn, recover } from "./recover.ts";
import type { Moment } from "./replace.ts";
import { addObjects, type TakeRows } from "./rows.ts";
import { createSnapshots } from "./snapshots.ts";
import { storageFailed, toStorageError } from "./storage-error.ts";
import type { Compacted, Database, SqlValue, Statement } from "./types.ts";

/** A catalogue in this thread. */
export interface OpenDatabase extends Database {
  /** `all` in parts: passes the rows to `take` as they are read, at most `most` at a time. */
  read(sql: string, params: readonly SqlValue[], most: number, take: TakeRows): Promise<void>;
}

/**
 * Opens the catalogue in `dir`, making it when there is none. Returns at once; `ready` and every call wait until it is open, and
 * reject with what went wrong when it cannot be (CATALOG_DAMAGED, STORAGE_READ_ONLY, …).
 *
 * Cost: about 60 ms once per process for SQLite itself, then 1 ms per 3 MB of snapshot and 10 ms per 1,000 batches of journal.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { dir, readOnly = false, calls = disk, room = freeBytes } = options;
  const notice = options.onNotice ?? ((message: string) => process.stderr.write(`sessarc: ${message}\n`));
  const queue = createQueue();
  /** Snapshots run sequentially. */
  const snapshotQueue = createQueue();
  const flights = createFlights();
  let journal: Journal;
  /** Number of the last batch in the image, and of the last one on disk. */
  let applied = 0;
  let durable = 0;
  let generation = 0;
  let undone = 0;
  let closing: Promise<void> | undefined;
  /** Of what takes long and may be given up: at once, and a snapshot when it takes too long. */
  const ending = new AbortController();
  const hurry = new AbortController();
  /** Held while the image must not change. */
  const gate = createHold();
  const commits = createCommits({ append, appended: () => snapshots.look(), failed: undo });
  let before: Image | undefined;
  /** The last undo failed: the image holds what is not on disk, and is rebuilt at the next call. */
  let stale = false;
  /** What another owner wrote is read, once the directory is no longer ours. */
  const ownership = createOwnership(async () => {
    await options.prove?.();
    await journal.checkOurs();
  }, notice);
  const snapshots = createSnapshots({
    place: () => ({ dir, calls, journal, queue, prove: ownership.prove, signal: hurry.signal }),
    journalLimit: options.journalLimit ?? JOURNAL_LIMIT,
    restMs: options.restMs ?? REST_MS,
    freeze,
    flush,
    largeFrom: options.largeFrom ?? LARGE,
    slowMs: options.slowMs ?? SLOW_MS,
    notice,
    onFlushed: options.onFlushed,
  });
  let opened = open();
  // Calls reject with the error. Without a call the rejection would be unhandled, and Node would end the process.
  const ready = opened.then(() => undefined);
  ready.catch(() => undefined);

  async function open(): Promise<Recovered> {
    const recovered = await recover(dir);
    if (!readOnly) await makeFolder(dir, 0o700).catch(storageFailed(dir));
    if (!readOnly && recovered.tornBytes > 0) {
      const kept = await keepTorn(dir, recovered).catch(storageFailed(dir));
      notice(`${recovered.tornBytes} bytes at the end of ${JOURNAL_FILE} were cut short by a crash; moved to ${kept}`);
    }
    adopt(recovered);
    const { batch: base = 0, checksum = 0 } = snapshots.last ?? {};
    journal = createJournal({
      path: join(dir, JOURNAL_FILE),
      calls,
      bytes: recovered.journalBytes,
      head: { base, checksum },
      sign: recovered.sign,
    });
    if (!readOnly) snapshots.opened(recovered);
    return recovered;
  }

  function adopt(recovered: Recovered): void {
    before?.close();
    before = recovered.image;
    snapshots.last = recovered.snapshot ?? snapshots.last;
    applied = durable = recovered.batch;
    generation++;
  }

  /** Runs `work` on the open catalogue at a moment when nothing holds it; an `await` in between would release it. */
  async function settled<T>(work: (image: Image) => T): Promise<T> {
    for (;;) {
      if (stale) reopen();
      const current = opened;
      const { image } = await current;
      if (gate.held) await gate.held;
      else if (current === opened) return work(image);
    }
  }

  function call<T>(work: () => Promise<T>): Promise<T> {
    return closing ? Promise.reject(new Error("The catalogue is closed")) : flights.add(work());
  }

  async function write(statements: readonly Statement[]): Promise<number> {
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    let written: Promise<void> | undefined;
    const changes = await settled((image) => {
      checkWrite(statements);
      const text = encodeBatch(statements);
      const changed = image.apply(statements);
      applied++;
      generation++;
      written = commits.add(text);
      return changed;
    });
    await written;
    return changes;
  }

  function checkWrite(statements: readonly Statement[]): void {
    if (ownership.lost) throw ownership.lost;
    if (journal.broken) throw toStorageError(journal.broken, join(dir, JOURNAL_FILE));
    for (const [sql, params] of statements) checkParams(sql, params);
  }

  async function append(texts: string[]): Promise<void> {
    await queue(async () => {
      await ownership.prove();
      await journal.append(encodeGroup(durable + 1, texts), ownership.prove);
    });
    durable += texts.length;
  }

  /** Restores the image from the disk. Returns the error for the callers whose batch is not on disk. */
  async function undo(error: unknown): Promise<unknown> {
    undone++;
    await reopen().catch(() => {
      // Every call rejects until one succeeds.
    });
    return toStorageError(error, join(dir, JOURNAL_FILE));
  }

  function reopen(): Promise<Recovered> {
    stale = false;
    opened = queue(async () => {
      const recovered = await recover(dir, ownership.lost ? undefined : durable);
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

  function flush(): Promise<void> {
    return snapshotQueue(() => snapshots.write());
  }

  /** The image as of its last batch, once that is on disk, and where the journal stood then. */
  function freeze(): Promise<Moment | undefined> {
    return hold(async (image) => {
      const { last } = snapshots;
      if (readOnly || ownership.lost) return undefined;
      if (last ? last.batch === applied : applied === 0) return undefined;
      return { frozen: image.freeze(), batch: applied, from: journal.bytes };
    });
  }

  /** Runs `work` while nothing changes: all that was applied is on disk, and who calls meanwhile waits. */
  async function hold<T>(work: (image: Image) => Promise<T>): Promise<T> {
    await opened;
    return gate.hold(async () => {
      await commits.running;
      return work((await opened).image);
    });
  }

  async function compact(): Promise<Compacted> {
    await opened;
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    return compactCatalogue({ dir, room, snapshots, take, signal: ending.signal });
  }

  /** Puts `copy`, which holds all up to batch `have`, in the image's place, with what was written since; closes it when that fails. */
  async function take(copy: Image, have: number): Promise<void> {
    let taken = false;
    try {
      // The new snapshot has a number of its own: one that a journal names holds the same bytes for ever.
      await write([]);
      await hold(async () => {
        if (ownership.lost) throw ownership.lost;
        await catchUp(dir, copy, have, durable);
        const recovered = { ...(await opened), image: copy, batch: durable, snapshot: snapshots.last };
        adopt(recovered);
        taken = true;
        opened = Promise.resolve(recovered);
      });
    } finally {
      if (!taken) copy.close();
    }
  }

  async function close(): Promise<void> {
    await flights.landed();
    const recovered = await opened.catch(() => undefined);
    if (!recovered) {
      before?.close(); // the image that could not be rebuilt
      return journal?.close();
    }
    // One that is being written is waited for in any case.
    await snapshotQueue(async () => {
      // A torn end is still in the journal, and would be reported at every start.
      if (recovered.tornBytes > 0 || snapshots.isWorthIt()) await snapshots.write();
    }).catch((error: unknown) => {
      if (!hurry.signal.aborted)
        notice(`the snapshot could not be written; the journal has everything: ${messageOf(error)}`);
    });
    await journal.close();
    if (!readOnly && !ownership.lost) await dropBefore(dir);
    (await opened).image.close();
  }

  const read: OpenDatabase["read"] = (sql, params, most, take) =>
    call(() => settled((image) => image.read(sql, params, most, take)));

  async function all<T>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    const objects: object[] = [];
    await read(sql, params, Number.POSITIVE_INFINITY, (columns, rows) => addObjects(objects, columns, rows));
    return objects as T[];
  }

  return {
    ready,
    all,
    get: async <T>(sql: string, params?: readonly SqlValue[]) => (await all<T>(sql, params))[0],
    read,
    run: (sql, params) => call(async () => ({ changes: await write([[sql, params]]) })),
    batch: (statements) => call(async () => void (statements.length > 0 && (await write(statements)))),
    flush: () => call(flush),
    compact: () => call(() => snapshotQueue(compact)),
    check: (signal) =>
      call(() => checkCatalogue(openDatabase({ dir, readOnly: true, onNotice() {} }), ending.signal, signal)),
    close(withinMs) {
      ending.abort(new SessarcError("SHUTTING_DOWN", {}));
      snapshots.end();
      if (withinMs === 0) hurry.abort();
      if (withinMs) setTimeout(() => hurry.abort(), withinMs).unref();
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
      return { snapshotBytes: snapshots.last?.bytes ?? 0, journalBytes: journal?.bytes ?? 0 };
    },
  };
}
