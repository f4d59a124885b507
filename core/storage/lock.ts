/** One process owns a data directory: `lock.json` says which, and where it listens. */
import { randomBytes } from "node:crypto";
import { link, lstat, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SessarcError } from "../errors/error.ts";
import { tempName, writeFileAtomic } from "../utils/atomic.ts";
import { ifThere, isFolder, isGone } from "../utils/gone.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { isNoFile, readRegular } from "../utils/regular.ts";
import { type Identity, isRunning, ownIdentity } from "./process-identity.ts";
import { toStorageError } from "./storage-error.ts";

/** Where the owner can be reached; absent for a command that has the archive open for a moment. */
interface LockAddress {
  port?: number | undefined;
  url?: string | undefined;
  /** Of sessarc. */
  version?: string | undefined;
  /** A supervisor starts it again. */
  background?: boolean | undefined;
}

/** Content of `lock.json`. */
export interface LockInfo extends LockAddress, Identity {
  /** ISO 8601 UTC. */
  startedAt: string;
  /** Unique per acquisition. */
  token: string;
  /** Inode of the data directory: in a copy of it the file is no lock. */
  folder?: string | undefined;
}

export interface Lock {
  readonly info: LockInfo;
  /** True when the last owner did not give it back: it crashed, or the machine did. */
  readonly tookOver: boolean;
  /**
   * Resolves when the directory is ours still. A lock file that is missing or a dead one's is put back; then it resolves with false, since another
   * owner may have come and gone. Throws ARCHIVE_LOCKED when another process has taken it (this one slept, or the file was removed),
   * STORAGE_REPLACED when the directory is gone.
   */
  prove(): Promise<boolean>;
  /** Says where the service listens, once it does. */
  update(address: LockAddress): Promise<void>;
  /** Gives the directory free. May be called twice. */
  release(): Promise<void>;
}

const FILE = "lock.json";
/** A lock file without content for this long was left by a crash between making and filling it. */
const EMPTY_MS = 2_000;
/** The owner touches its lock this often, for those who cannot see its process; they take it for dead after three misses and some. */
const BEAT_MS = 20_000;
const SILENT_MS = 70_000;

/** Locks held by this process: where the system does not tell when a process started, a reused pid may be our own. */
const held = new Set<string>();

/**
 * Takes the data directory, making it when absent. A lock left by a process that is gone is taken over; when several starts find
 * it at once, exactly one gets it. Throws ARCHIVE_LOCKED with the owner's pid and url, STORAGE_READ_ONLY, STORAGE_FULL.
 */
export async function acquireLock(dataDir: string, address: LockAddress = {}): Promise<Lock> {
  const path = join(dataDir, FILE);
  const token = randomBytes(12).toString("hex");
  let info: LockInfo = { ...(await ownIdentity()), ...address, startedAt: new Date().toISOString(), token };
  let tookOver = false;
  try {
    await makeFolder(dataDir, 0o700);
    info.folder = await findFolder(path);
    tookOver = await take(path, info);
  } catch (error) {
    throw toStorageError(error, path);
  }
  held.add(token);
  const owned = () => holdsLock(dataDir, token);
  async function prove(): Promise<boolean> {
    if (await owned()) return true;
    if (!held.has(token)) throw new Error("The lock was given back");
    try {
      await take(path, info);
      return false;
    } catch (error) {
      if (isGone(error) || isNoFile(error))
        throw new SessarcError("STORAGE_REPLACED", { path: dataDir }, { cause: error });
      throw toStorageError(error, path);
    }
  }
  const touch = async () => {
    await prove();
    const now = new Date();
    await utimes(path, now, now);
  };
  const beat = setInterval(() => {
    touch().catch(() => {
      // The folder may be gone for a moment (a network disk); the next beat tries again, and every write proves the lock itself.
    });
  }, BEAT_MS).unref();
  return {
    get info() {
      return info;
    },
    tookOver,
    prove,
    async update(next) {
      if (!(await owned())) return;
      info = { ...info, ...next };
      await writeFileAtomic(path, encode(info));
    },
    async release() {
      clearInterval(beat);
      held.delete(token);
      if (await owned()) await rm(path, { force: true });
    },
  };
}

/** The live owner of the data directory; undefined when no process has it open. */
export async function readLock(dataDir: string): Promise<LockInfo | undefined> {
  const path = join(dataDir, FILE);
  const info = await readInfo(path);
  return info && (await isAlive(path, info)) ? info : undefined;
}

/** Whether the lock file in `dataDir` is that of the owner with `token`. */
export const holdsLock = async (dataDir: string, token: string): Promise<boolean> =>
  (await readInfo(join(dataDir, FILE)))?.token === token;

/**
 * Whether a file of the data directory is a claim (`take`) that is no longer needed: to a lock before the one with `token`. Only for
 * the holder of that one; a process that still has such a claim reads the lock again and finds it held.
 */
export const isClaim = (name: string, token: string): boolean =>
  /^lock\.json(\.[0-9a-f]{24})+$/.test(name) && !name.startsWith(`${FILE}.${token}`);

/**
 * Makes `path` ours. A stale file is replaced under a lock of its own, named after the stale one's token: tokens are unique, so only
 * one process at a time may replace this very file, and it looks again before it does. That lock may be stale in turn: same procedure.
 * Answers whether a stale lock was replaced.
 */
async function take(path: string, info: LockInfo): Promise<boolean> {
  for (;;) {
    const made = await create(path, encode(info)).catch(async (error: unknown) => {
      // The winner of a race sweeps what is half written: ours, too.
      if (isGone(error) && (await isFolder(dirname(path)))) return undefined;
      throw error;
    });
    if (made) return false;
    if (made === undefined) continue;
    const found = await readInfo(path);
    if (!found) {
      await clearEmpty(path);
      continue;
    }
    if (await isAlive(path, found)) throw new SessarcError("ARCHIVE_LOCKED", { pid: found.pid, url: found.url });

    const claim = `${path}.${found.token}`;
    await take(claim, info);
    try {
      if ((await readInfo(path))?.token === found.token) {
        const written = await writeFileAtomic(path, encode(info)).then(
          () => true,
          async (error: unknown) => {
            if (isGone(error) && (await isFolder(dirname(path)))) return false;
            throw error;
          },
        );
        if (written) return true;
      }
    } finally {
      await rm(claim, { force: true });
    }
  }
}

async function isAlive(path: string, info: LockInfo): Promise<boolean> {
  if (info.folder !== undefined && info.folder !== (await findFolder(path))) return false;
  if (info.pid === process.pid && info.ticks === undefined && info.boot === undefined) return held.has(info.token);
  const running = await isRunning(info);
  if (running !== undefined) return running;
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  // A time to come is no sign of life: clocks were set back, or the file comes from elsewhere.
  return Math.abs(Date.now() - mtimeMs) < SILENT_MS;
}

/** Creates the file with its content in one step; false when it exists. */
async function create(path: string, text: string): Promise<boolean> {
  const temp = join(path, "..", tempName());
  await writeFileAtomic(temp, text);
  try {
    await link(temp, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // File systems without hard links (exFAT, some network shares): created empty, then replaced by the full file.
    if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS")
      return createEmpty(path, temp);
    throw error;
  } finally {
    await rm(temp, { force: true });
  }
}

async function createEmpty(path: string, temp: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  await rename(temp, path);
  return true;
}

/** An empty or unreadable file is being filled right now, or was left by a crash; anything but a file is moved away likewise. */
async function clearEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (Date.now() - found.mtimeMs < EMPTY_MS) await delay(50);
  else {
    await rename(path, join(path, "..", tempName())).catch((error: unknown) => {
      if (!isGone(error)) throw error; // another start was quicker
    });
  }
}

/** Of the folder that holds `path`; undefined if unknown. */
const findFolder = (path: string): Promise<string | undefined> =>
  stat(dirname(path), { bigint: true }).then(
    ({ ino }) => String(ino),
    () => undefined,
  );

/** Undefined when there is no file or it holds no lock. What is no file at all is never waited for. */
async function readInfo(path: string): Promise<LockInfo | undefined> {
  const text = await ifThere(readRegular(path)).catch((error: unknown) => {
    if (isNoFile(error)) return undefined;
    throw error;
  });
  try {
    const info = JSON.parse(text ?? "") as Partial<LockInfo> | null;
    return typeof info?.pid === "number" && typeof info.token === "string" ? (info as LockInfo) : undefined;
  } catch {
    return undefined;
  }
}

const encode = (info: LockInfo) => `${JSON.stringify(info, null, 2)}\n`;
