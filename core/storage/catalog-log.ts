/**
 * The log `catalog.db-wal` of the owner: a commit appends the pages it changed, in SQLite's format. The log is never written over: a new one
 * takes its place by a rename, so a copy of it is one of the two, whole.
 *
 * It begins with the pages of the log before, which are carried until they are in `catalog.db`. `catalog.db` is written only with carried
 * pages, so each state of it, under any log of the same time, is the whole database.
 */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { type DiskCalls, writeFileAtomic } from "../utils/atomic.ts";
import { codeOf } from "../utils/gone.ts";
import { type ChangedPages, emptyDatabase, PAGE, readFully, type StoredPages } from "./catalog-file.ts";
import { type FoundCatalogue, findInode, findStat, readSign } from "./find-catalogue.ts";
import { LOG_FILE, MAIN_FILE } from "./present.ts";
import { FRAME_HEADER, WAL_HEADER, WalEncoder } from "./wal.ts";

/** Pages written at once. */
const AT_ONCE = 256;
/** Times that a new log is put in place while other programs take it away. */
const TRIES = 5;
const FRAME = FRAME_HEADER + PAGE;

export interface CatalogLog extends StoredPages {
  /** Bytes up to the last commit. */
  readonly bytes: number;
  /** Pages of the database after it. */
  readonly pageCount: number;
  /** The error of a failed fsync: what the disk holds is unknown. */
  readonly broken: unknown;
  /**
   * Resolves when the pages are on disk as one commit and `confirm`, called after that, has no objection. On an error the log ends where it did before; after a failed
   * fsync every later call fails with the same error. The first call makes the log, and `catalog.db` where there is none.
   */
  append(changed: ChangedPages, confirm: () => Promise<void>): Promise<void>;
  /**
   * Throws STORAGE_REPLACED when a file at our paths is no longer the one that was read or is being written. `kept`: no other owner can have come after
   * the last call. Then a log that is missing was removed by another SQLite program, which does so when it closes, and an empty one was made by such
   * a program when it opened without one; `append` and `rotate` put ours back.
   */
  checkOurs(kept: boolean): Promise<void>;
  /** Whether the log has to be put back. */
  readonly isRemoved: boolean;
  /** Whether this process has made it. */
  readonly isOurs: boolean;
  /** Whether pages are carried. */
  readonly carries: boolean;
  /** Whether a commit was appended to it. */
  readonly hasOwn: boolean;
  /** Puts a new log in the place of this one. It carries all that is in this one and not in `catalog.db`. */
  rotate(): Promise<void>;
  /** Writes the carried pages into `catalog.db`. `before` is called before each write. On an error they are still carried. */
  writeBack(before: () => Promise<void>): Promise<void>;
  /** Removes the log: `catalog.db` has everything. */
  remove(): Promise<void>;
  close(): Promise<void>;
}

/** Nothing is made before the first `append`. Calls must not overlap, except that `writeBack` may run beside `append`. */
export function createLog(dir: string, calls: DiskCalls, found: FoundCatalogue): CatalogLog {
  const [path, logPath] = [join(dir, MAIN_FILE), join(dir, LOG_FILE)];
  let main = found.main;
  let mainIno = found.mainIno;
  let handle = found.log?.handle;
  /** Inode of the log that we made; the system does not reuse it while the file is open. */
  let ino: bigint | undefined;
  let encoder = new WalEncoder(PAGE);
  let carried: ReadonlyMap<number, number> = found.log?.pages ?? new Map();
  let carriedCount = found.pageCount;
  let own = new Map<number, number>();
  let { pageCount } = found;
  let bytes = found.log?.bytes ?? 0;
  let writes = 0;
  let isRemoved = false;
  let broken: unknown;

  const replaced = () => new SessarcError("STORAGE_REPLACED", { path: dir });

  async function checkOurs(kept: boolean): Promise<void> {
    if (mainIno !== undefined && (await findInode(path)) !== mainIno) throw replaced();
    if (ino === undefined) {
      const same = (await readSign(path)) === found.sign && (await readSign(logPath)) === (found.log?.sign ?? "none");
      if (!same && !kept) throw replaced();
      return;
    }
    const there = await findStat(logPath);
    isRemoved = kept && (there === undefined || (there.ino !== ino && there.size === 0n));
    if (there?.ino !== ino && !isRemoved) throw replaced();
  }

  /** A former owner that slept still has the old log open: what it writes when it wakes must not fall into ours. */
  async function begin(): Promise<void> {
    if (main === undefined) await writeFileAtomic(path, emptyDatabase(2), { calls });
    mainIno = await findInode(path);
    await rotate();
  }

  async function rotate(): Promise<void> {
    const kept = new Map([...carried, ...own]);
    const numbers = [...kept.keys()].filter((number) => number <= pageCount).sort((a, b) => a - b);
    let next = encoder;
    const places = new Map<number, number>();
    const old = handle?.fd;
    const write = async (file: FileHandle) => {
      next = new WalEncoder(PAGE);
      await writeAll(file, next.header, 0);
      for (let done = 0; done < numbers.length; done += AT_ONCE) {
        const piece = numbers.slice(done, done + AT_ONCE);
        const pages = piece.map((number) => {
          const page = new Uint8Array(PAGE);
          if (old === undefined || readFully(old, page, kept.get(number) ?? 0) < PAGE) throw replaced();
          return [number, page] as const;
        });
        const at = WAL_HEADER + done * FRAME;
        for (const [i, number] of piece.entries()) places.set(number, at + i * FRAME + FRAME - PAGE);
        await writeAll(file, next.frames(pages, done + AT_ONCE < numbers.length ? 0 : pageCount), at);
      }
    };
    const made = WAL_HEADER + numbers.length * FRAME;
    let opened: FileHandle | undefined;
    // Again where another SQLite program closed in between and took the new one away, too. What it carries can still be read from the old one.
    for (let tries = 0; opened === undefined && tries < TRIES; tries++) opened = await replaceLog(write, made);
    if (opened === undefined) {
      broken = replaced();
      throw broken;
    }
    ({ ino } = await opened.stat({ bigint: true }));
    isRemoved = false;
    const former = handle;
    [handle, encoder, carried, carriedCount, own] = [opened, next, places, pageCount, new Map()];
    bytes = made;
    await former?.close();
  }

  /** The new log, open; nothing where another SQLite program removed it, or put an empty one in its place, before it was opened. */
  async function replaceLog(write: (file: FileHandle) => Promise<void>, size: number): Promise<FileHandle | undefined> {
    const before = await findInode(logPath);
    try {
      await writeFileAtomic(logPath, write, { calls });
    } catch (error) {
      // Replaced, but perhaps not for good: which of the two a crash would leave is unknown.
      if ((await findInode(logPath)) !== before) broken = error;
      throw error;
    }
    try {
      const file = await calls.open(logPath, constants.O_RDWR);
      if ((await file.stat()).size === size) return file;
      await file.close();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") {
        broken = error;
        throw error;
      }
    }
    return undefined;
  }

  return {
    path,
    get main() {
      return main;
    },
    get log() {
      return handle?.fd;
    },
    get bytes() {
      return bytes;
    },
    get pageCount() {
      return pageCount;
    },
    get writes() {
      return writes;
    },
    get broken() {
      return broken;
    },
    get isRemoved() {
      return isRemoved;
    },
    get isOurs() {
      return ino !== undefined;
    },
    get carries() {
      return carried.size > 0;
    },
    get hasOwn() {
      return own.size > 0;
    },
    find: (number) => own.get(number) ?? carried.get(number),
    checkOurs,
    rotate,
    async append(changed, confirm) {
      if (broken) throw broken;
      if (ino === undefined) await begin();
      else if (isRemoved) await rotate();
      const file = handle as FileHandle;
      const before = encoder.state;
      const pages = [...changed.pages];
      try {
        for (let done = 0; done < pages.length; done += AT_ONCE) {
          const commit = done + AT_ONCE < pages.length ? 0 : changed.pageCount;
          await writeAll(file, encoder.frames(pages.slice(done, done + AT_ONCE), commit), bytes + done * FRAME);
        }
      } catch (error) {
        encoder.state = before;
        await file.truncate(bytes).catch(() => {
          // The next write starts at the same place, and a reader drops a commit that is not whole.
        });
        throw error;
      }
      try {
        await file.datasync();
      } catch (error) {
        broken = error;
        throw error;
      }
      // Not cut off where it is refused: another owner may have read it by now. This owner would overwrite it, and it was never acknowledged.
      await confirm();
      for (const [i, [number]] of pages.entries()) own.set(number, bytes + i * FRAME + FRAME - PAGE);
      bytes += pages.length * FRAME;
      ({ pageCount } = changed);
      if (isRemoved) await rotate();
    },
    async writeBack(before) {
      const places = carried;
      const size = carriedCount * PAGE;
      const log = handle?.fd;
      if (places.size === 0 || log === undefined) return;
      const checked = async () => {
        await before();
        if (isRemoved) throw new Error("another program removed the log");
      };
      const file = await calls.open(path, constants.O_RDWR);
      try {
        for (const run of listRuns([...places.keys()].sort((a, b) => a - b))) {
          await checked();
          const data = new Uint8Array(run.length * PAGE);
          for (const [i, number] of run.entries())
            readFully(log, data.subarray(i * PAGE, (i + 1) * PAGE), places.get(number) ?? 0);
          await writeAll(file, data, ((run[0] ?? 1) - 1) * PAGE);
        }
        await checked();
        if ((await file.stat()).size > size) await file.truncate(size);
        await file.sync();
      } finally {
        await file.close();
      }
      main ??= found.openMain();
      carried = new Map();
      writes++;
    },
    async remove() {
      await calls.rm(logPath, { force: true });
    },
    async close() {
      await handle?.close();
      handle = undefined;
      found.close();
    },
  };
}

/** Neighbouring pages, at most so many that they are written at once. */
function* listRuns(numbers: readonly number[]): Generator<number[]> {
  let run: number[] = [];
  for (const number of numbers) {
    if (run.length > 0 && (number !== (run.at(-1) ?? 0) + 1 || run.length >= AT_ONCE)) {
      yield run;
      run = [];
    }
    run.push(number);
  }
  if (run.length > 0) yield run;
}

async function writeAll(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}
