/**
 * The catalogue: SQLite in memory (`image.ts`), which works on pages of `catalog.db` and its log (`catalog-file.ts`); each batch is in the log
 * before it is acknowledged (`catalog-log.ts`). One process owns the directory; it holds the lock.
 */
import { existsSync } from "node:fs";
import * as disk from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { createQueue } from "../utils/queue.ts";
import { CatalogFile, type ChangedPages, PAGE } from "./catalog-file.ts";
import { type CatalogLog, createLog } from "./catalog-log.ts";
import { checkCatalogue } from "./check.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createCommits } from "./commits.ts";
import { type DatabaseOptions, freeBytes, LOG_LIMIT, WATCH_MS } from "./database-options.ts";
import { type FoundCatalogue, findCatalogue } from "./find-catalogue.ts";
import { createFlights } from "./flights.ts";
import { checkParams, createImage, type Image } from "./image.ts";
import { createOwnership } from "./ownership.ts";
import { LOG_FILE, SHARED_FILE } from "./present.ts";
import { addObjects, type TakeRows } from "./rows.ts";
import { loadSqlJs, type SqlJsStatic } from "./sqljs.ts";
import { storageFailed, toStorageError } from "./storage-error.ts";
import type { Compacted, Database, SqlValue, Statement } from "./types.ts";

/** A catalogue in this thread. */
export interface OpenDatabase extends Database {
  /** `all` in parts: passes the rows to `take` as they are read, at most `most` at a time. */
  read(sql: string, params: readonly SqlValue[], most: number, take: TakeRows): Promise<void>;
}

/** What is open. */
interface Opened {
  sql: SqlJsStatic;
  found: FoundCatalogue;
  log: CatalogLog;
  file: CatalogFile;
  image: Image;
}

/** Bytes that stay free on the disk. */
const SPARE = 16 << 20;

/**
 * Opens the catalogue in `dir`, making it when there is none. Returns at once; `ready` and every call wait until it is open, and
 * reject with what went wrong when it cannot be (CATALOG_DAMAGED, STORAGE_READ_ONLY, …).
 *
 * Cost: about 60 ms once per process for SQLite itself, then 1 ms per MB of log.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { dir, readOnly = false, calls = disk, room = freeBytes } = options;
  const notice = options.onNotice ?? ((message: string) => process.stderr.write(`sessarc: ${message}\n`));
  const path = join(dir, LOG_FILE);
  const queue = createQueue();
  const flights = createFlights();
  let generation = 0;
  let closing: Promise<void> | undefined;
  const hurry = new AbortController();
  const ending = new AbortController();
  let opened = open();
  /** The last that was open. */
  let now: Opened | undefined;
  const ownership = createOwnership(async () => {
    const kept = (await options.prove?.()) ?? true;
    await now?.log.checkOurs(kept);
  }, notice);
  const checkpoints = opened.then(({ log }) =>
    createCheckpoints({
      log,
      queue,
      prove: ownership.prove,
      isOpenElsewhere: () => existsSync(join(dir, SHARED_FILE)),
      limit: options.logLimit ?? LOG_LIMIT,
      signal: hurry.signal,
      notice,
    }),
  );
  let look = () => {};
  const commits = createCommits<ChangedPages | undefined>({
    take: () => now?.file.take(),
    append,
    appended: () => look(),
    failed: undo,
  });
  // Calls reject with the error. Without a call the rejection would be unhandled, and Node would end the process.
  const ready = checkpoints.then((made) => {
    if (!readOnly) look = made.look;
  });
  ready.catch(() => {});
  const watch = readOnly
    ? undefined
    : setInterval(() => void queue(putBack).catch(() => {}), options.watchMs ?? WATCH_MS).unref();

  /** Until then what is in a log that was removed would be lost with the process. Errors are those of the next write. */
  async function putBack(): Promise<void> {
    const log = now?.log;
    if (!log?.isOurs || log.broken || ownership.lost) return;
    await ownership.prove();
    if (log.isRemoved) await log.rotate();
  }

  async function open(): Promise<Opened> {
    const loading = loadSqlJs();
    loading.catch(() => {});
    const found = await findCatalogue(dir);
    const log = createLog(dir, calls, found);
    try {
      if (!readOnly) await makeFolder(dir, 0o700).catch(storageFailed(dir));
      const sql = await loading;
      const file = new CatalogFile(log, found.pageCount);
      now = { sql, found, log, file, image: createImage(sql, file) };
      generation++;
      return now;
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  /** The directory is another owner's: what that one writes is read, as a reader does. */
  const isReader = () => readOnly || ownership.lost !== undefined;

  /** Opens what is on disk by now. */
  function reopen(): void {
    const before = now;
    now = undefined;
    opened = (async () => {
      before?.image.close();
      await before?.log.close();
      const opening = await open().catch((error: unknown) => {
        throw ownership.lost ?? error;
      });
      if (!ownership.lost || opening.log.main !== undefined) return opening;
      // The directory is another one.
      opening.image.close();
      await opening.log.close();
      throw ownership.lost;
    })();
    opened.catch(() => {});
  }

  /** Another connection on the same pages. */
  function renew(current: Opened): void {
    current.image.close();
    current.image = createImage(current.sql, current.file);
    generation++;
  }

  /** Runs `work` on what is open; an `await` in between would let it be replaced. */
  async function settled<T>(work: (current: Opened) => T): Promise<T> {
    await ready.catch(() => {});
    for (;;) {
      const current = await opened.catch((error: unknown) => {
        if (isReader()) reopen(); // for the next call
        throw error;
      });
      if (current === now) return work(current);
    }
  }

  function call<T>(work: () => Promise<T>): Promise<T> {
    return closing ? Promise.reject(new Error("The catalogue is closed")) : flights.add(work());
  }

  /** Resolves when all that was read is on disk: no caller sees what is taken back later. */
  async function read(sql: string, params: readonly SqlValue[], most: number, take: TakeRows): Promise<void> {
    if (isReader() && now?.found.hasGrown()) reopen();
    for (;;) {
      const parts: Parameters<TakeRows>[] = [];
      const { last, isCurrent } = await settled(({ image, found }) => {
        const { last } = commits;
        const direct = !last && !isReader();
        try {
          image.read(sql, params, most, direct ? take : (...part) => void parts.push(part));
        } catch (error) {
          if (!isReader() || found.isCurrent()) throw error;
        }
        return { last, isCurrent: !isReader() || found.isCurrent() };
      });
      const isStored = last === undefined || (await last.then(() => true).catch(() => false));
      if (!isCurrent) reopen();
      else if (isStored) {
        for (const part of parts) take(...part);
        return;
      }
    }
  }

  async function write(work: (image: Image) => number): Promise<number> {
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    let written: Promise<void> | undefined;
    const changes = await settled(({ image, log }) => {
      if (ownership.lost) throw ownership.lost;
      if (log.broken) throw toStorageError(log.broken, path);
      const changed = work(image);
      generation++;
      written = commits.add();
      return changed;
    });
    await written;
    return changes;
  }

  const apply = (statements: readonly Statement[]) =>
    write((image) => {
      for (const [sql, params] of statements) checkParams(sql, params);
      return image.apply(statements);
    });

  async function append(changed: ChangedPages | undefined): Promise<void> {
    const current = now;
    if (!current || !changed) return;
    await queue(async () => {
      await ownership.prove();
      if (changed.pages.size > 0) await current.log.append(changed, ownership.prove);
    });
    current.file.taken(changed.pageCount);
  }

  /** Takes back what is not on disk. Returns the error for its callers. */
  async function undo(error: unknown): Promise<unknown> {
    if (ownership.lost) reopen();
    else if (now) {
      now.file.undo();
      renew(now);
    }
    return toStorageError(error, path);
  }

  async function compact(): Promise<Compacted> {
    if (readOnly) throw new SessarcError("STORAGE_READ_ONLY", {});
    const made = await checkpoints;
    const before = (await opened).log.pageCount * PAGE;
    // The log has all pages once more, and its successor, too.
    const needed = 2 * before + SPARE - (await room(dir));
    if (needed > 0) throw new SessarcError("STORAGE_FULL", { needed });
    ending.signal.throwIfAborted();
    await alone();
    await made.shorten();
    return { before, after: (await opened).log.pageCount * PAGE };
  }

  /** VACUUM, at a moment when no batch is on its way: one that fails takes none with it. */
  async function alone(): Promise<void> {
    for (;;) {
      await commits.running;
      const written = await settled((current) => {
        if (commits.running) return undefined;
        if (ownership.lost) throw ownership.lost;
        if (current.log.broken) throw toStorageError(current.log.broken, path);
        try {
          current.image.vacuum();
        } catch (error) {
          current.file.undo();
          throw error;
        } finally {
          renew(current);
        }
        return { stored: commits.add() };
      });
      if (written) return written.stored;
    }
  }

  async function close(): Promise<void> {
    clearInterval(watch);
    await flights.landed();
    const current = await opened.catch(() => undefined);
    if (!current) return now?.log.close();
    const made = await checkpoints.catch(() => undefined);
    if (made && !isReader() && !current.log.broken) {
      await made.finish().catch((error: unknown) => {
        if (!hurry.signal.aborted)
          notice(`catalog.db could not be updated; the log has everything: ${toMessage(error)}`);
      });
    }
    current.image.close();
    await current.log.close();
  }

  async function hold(): Promise<() => void> {
    const made = await checkpoints;
    return made.hold();
  }

  async function check(signal: AbortSignal | undefined): Promise<string | undefined> {
    const release = await hold();
    const copy = openDatabase({ dir, readOnly: true, onNotice() {} });
    return checkCatalogue(copy, ending.signal, signal).finally(release);
  }

  async function all<T>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    const objects: object[] = [];
    await call(() =>
      read(sql, params, Number.POSITIVE_INFINITY, (columns, rows) => addObjects(objects, columns, rows)),
    );
    return objects as T[];
  }

  return {
    ready,
    all,
    get: async <T>(sql: string, params?: readonly SqlValue[]) => (await all<T>(sql, params))[0],
    read: (...args) => call(() => read(...args)),
    run: (sql, params) => call(async () => ({ changes: await apply([[sql, params]]) })),
    batch: (statements) => call(async () => void (statements.length > 0 && (await apply(statements)))),
    compact: () => call(compact),
    hold: () => call(hold),
    check: (signal) => call(() => check(signal)),
    close(withinMs) {
      ending.abort(new SessarcError("SHUTTING_DOWN", {}));
      if (withinMs === 0) hurry.abort();
      if (withinMs) setTimeout(() => hurry.abort(), withinMs).unref();
      closing ??= close().finally(options.onClosed);
      return closing;
    },
    get generation() {
      return generation;
    },
    get stats() {
      const { log } = now ?? {};
      return { fileBytes: (log?.pageCount ?? 0) * PAGE, logBytes: log?.bytes ?? 0 };
    },
  };
}
