/** A private, consistent copy of another program's database: main file and log, read without disturbing either. */
import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { SessarcError } from "../errors/error.ts";
import { ifThere, isGone } from "../utils/gone.ts";
import { openRegular } from "../utils/regular.ts";
import { markWithoutWal, overlayWal, parseWal, WAL_HEADER } from "./wal.ts";

const ATTEMPTS = 7;
/** A file changed less than this ago may change again under the same timestamp. */
const FRESH_MS = 20;
const HEADER = "SQLite format 3\0";
const ROLLBACK_MAGIC = "d9d505f920a163d7";

/** File and log as one consistent image, or SOURCE_BUSY. */
export async function copyDatabase(path: string): Promise<Uint8Array> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await setTimeout(FRESH_MS * attempt);
    const image = await tryCopy(path, attempt === ATTEMPTS - 1);
    if (image) return image;
  }
  throw new SessarcError("SOURCE_BUSY", { id: path });
}

/**
 * One attempt. The main file is read before the log: whatever a checkpoint moves into the main file meanwhile is in the log as well,
 * so the overlay is right as long as the log was not restarted, which its header shows. Without a log the main file itself must
 * not have moved.
 */
async function tryCopy(path: string, last: boolean): Promise<Uint8Array | undefined> {
  const handle = await openRegular(path).catch(missing(path));
  try {
    const before = await handle.stat({ bigint: true });
    const logBefore = await readLog(path, WAL_HEADER);
    const main = await readAt(handle, 0, Number(before.size));
    const wal = await readLog(path);
    const after = await stat(path, { bigint: true }).catch(missing(path));

    if (after.ino !== before.ino || !sameHeader(logBefore, wal)) return undefined;
    const log = wal && parseWal(wal);
    if (!log) {
      if (main.length !== Number(before.size) || after.size !== before.size || after.mtimeNs !== before.mtimeNs)
        return undefined;
      if (!last && Math.abs(Date.now() - Number(before.mtimeNs / 1_000_000n)) < FRESH_MS) return undefined;
      if (await hasHotJournal(path)) return undefined;
    }
    if (main.length > 0 && Buffer.from(main.subarray(0, 16)).toString("latin1") !== HEADER) {
      throw new SessarcError("SOURCE_DAMAGED", { id: path, reason: "the file is not an SQLite database" });
    }
    const image = wal && log ? overlayWal(main, wal, log) : main;
    markWithoutWal(image);
    return image;
  } finally {
    await handle.close();
  }
}

const sameHeader = (before: Uint8Array | undefined, after: Uint8Array | undefined) =>
  Buffer.compare(before ?? new Uint8Array(), after?.subarray(0, WAL_HEADER) ?? new Uint8Array()) === 0;

/** A rollback journal with its magic number: a transaction is half in the main file. */
async function hasHotJournal(path: string): Promise<boolean> {
  const handle = await openRegular(`${path}-journal`).catch(() => undefined);
  if (!handle) return false;
  try {
    return Buffer.from(await readAt(handle, 0, 8)).toString("hex") === ROLLBACK_MAGIC;
  } finally {
    await handle.close();
  }
}

/** The log, or its first bytes; undefined when there is none. */
async function readLog(path: string, length?: number): Promise<Uint8Array | undefined> {
  const handle = await ifThere(openRegular(`${path}-wal`));
  if (!handle) return undefined;
  try {
    return await readAt(handle, 0, length ?? (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

/** Up to `length` bytes from `offset`; fewer at the end of the file. */
export async function readAt(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** For `.catch`: a file that is not there is SOURCE_MISSING. */
export const missing = (path: string) => (cause: NodeJS.ErrnoException) => {
  if (isGone(cause)) throw new SessarcError("SOURCE_MISSING", { id: path }, { cause });
  throw cause;
};
