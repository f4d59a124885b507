/**
 * unstorage driver over a folder. Each value is a file, written whole (temp file, fsync, rename), files 0600, folders 0700.
 * `a:b:c` is the file `a/b/c`; no key leads out of the folder, not even through a symbolic link inside it.
 */
import { closeSync, constants, fsync, lstatSync, openSync, readSync, writeSync } from "node:fs";
import * as disk from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { type DiskCalls, isTempName, syncFolder, writeFileAtomic } from "../utils/atomic.ts";
import { isGone, isRefused } from "../utils/gone.ts";
import { mustYield, yieldNow } from "../utils/yield.ts";
import { toStorageError } from "./storage-error.ts";

interface DurableFsOptions {
  /** The folder; made when first written to. */
  base: string;
  readOnly?: boolean;
  calls?: DiskCalls;
}

/** Fits unstorage's `Driver`; the last two members are ours. Absent values are null. */
interface DurableFs {
  name: "durable-fs";
  options: DurableFsOptions;
  hasItem(key: string): Promise<boolean>;
  getItem(key: string): Promise<string | null>;
  getItemRaw(key: string): Promise<Buffer | null>;
  getMeta(key: string): Promise<{ size: number; mtime: Date } | null>;
  /** Resolves when the value is on disk. Errors: STORAGE_FULL, STORAGE_READ_ONLY, PATH_OUTSIDE. */
  setItem(key: string, value: string): Promise<void>;
  setItemRaw(key: string, value: string | Uint8Array): Promise<void>;
  removeItem(key: string): Promise<void>;
  /** Those in folders that may not be read are left out. */
  getKeys(base?: string): Promise<string[]>;
  clear(base?: string): Promise<void>;
  /** `length` bytes from `offset`, fewer at the end of the file; null when there is none. Reads nothing else. */
  readRange(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  /**
   * Writes a value under a key that has no reader yet: straight into its file, no rename. A crash leaves a torn file that nothing points
   * at. Durable once `settle` has resolved; the caller names the key to others only then.
   */
  create(key: string, value: Uint8Array): Promise<void>;
  /** Removes a value that nothing points at; a power cut may bring the file back. */
  drop(key: string): Promise<void>;
  /** Brings all created values to the disk, their fsyncs at once. */
  settle(): Promise<void>;
  /** Removes what an interrupted write left, where that may be. Only for the owner of the folder, before it writes. Answers how many. */
  sweep(): Promise<number>;
}

export function durableFs(options: DurableFsOptions): DurableFs {
  const base = resolve(options.base);
  /** Folders seen to be real ones; none of them becomes a link while we own the data directory. */
  const real = new Set<string>();
  const unsettled: { path: string; fd: number }[] = [];

  /** The file of `key`, when each folder on the way to it is a real one below the base. */
  async function locate(key: string): Promise<string> {
    const parts = toParts(key);
    let folder = base;
    for (const part of parts.slice(0, -1)) {
      folder = join(folder, part);
      if (real.has(folder)) continue;
      const stat = lstatSync(folder, { throwIfNoEntry: false });
      if (!stat) break;
      if (!stat.isDirectory()) throw new SessarcError("PATH_OUTSIDE", { path: key });
      real.add(folder);
    }
    return join(base, ...parts);
  }

  async function read<T>(key: string, use: (handle: disk.FileHandle) => Promise<T>): Promise<T | null> {
    const path = await locate(key);
    const handle = await absent(disk.open(path, READ)).catch((error) => {
      if (error.code === "ELOOP") throw new SessarcError("PATH_OUTSIDE", { path: key }, { cause: error });
      throw error;
    });
    if (!handle) return null;
    try {
      return await use(handle);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EISDIR") return null;
      throw error;
    } finally {
      await handle.close();
    }
  }

  async function write(key: string, value: string | Uint8Array): Promise<void> {
    const path = await writable(key);
    try {
      await makeFolders(dirname(path));
      await writeFileAtomic(path, value, options.calls && { calls: options.calls });
    } catch (error) {
      throw toStorageError(error, path);
    }
  }

  async function writable(key: string): Promise<string> {
    const path = await locate(key);
    if (options.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path });
    return path;
  }

  async function remove(key: string, forGood = true): Promise<void> {
    const path = await writable(key);
    try {
      await disk.unlink(path);
      if (forGood) await syncFolder(dirname(path));
    } catch (error) {
      // A folder in its place is not a stored value: there is nothing to remove.
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
      if (!isGone(error) && !isFolder) throw toStorageError(error, path);
    }
  }

  const keys = async (prefix = "") => {
    const found: string[] = [];
    for await (const path of walk(base)) {
      const key = toKey(path);
      if (key.startsWith(prefix)) found.push(key);
    }
    return found;
  };
  const toKey = (path: string) => path.slice(base.length + 1).replaceAll(sep, ":");

  return {
    name: "durable-fs",
    options,
    hasItem: async (key) => (await read(key, async (handle) => (await handle.stat()).isFile())) ?? false,
    getItem: (key) => read(key, (handle) => handle.readFile("utf8")),
    getItemRaw: (key) => read(key, (handle) => handle.readFile()),
    getMeta: (key) =>
      read(key, async (handle) => {
        const { size, mtime } = await handle.stat();
        return { size, mtime };
      }),
    setItem: write,
    setItemRaw: write,
    removeItem: (key) => remove(key),
    drop: (key) => remove(key, false),
    getKeys: keys,
    async clear(prefix) {
      for (const key of await keys(prefix)) await remove(key);
    },
    async create(key, value) {
      const path = await writable(key);
      try {
        unsettled.push({ path, fd: await openNew(path) });
        writeAll(unsettled.at(-1)?.fd ?? -1, value);
      } catch (error) {
        throw toStorageError(error, path);
      }
    },
    async settle() {
      const files = unsettled.splice(0);
      const outcomes = await Promise.allSettled(files.map(({ fd }) => flush(fd)));
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") throw toStorageError(outcome.reason, files[i]?.path ?? base);
      }
    },
    async readRange(key, offset, length) {
      if (length <= SMALL) return readSmall(await locate(key), key, offset, length);
      return read(key, async (handle) => {
        const bytes = Buffer.allocUnsafe(length);
        let filled = 0;
        while (filled < length) {
          const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      });
    },
    async sweep() {
      let leftovers = 0;
      for await (const path of walk(base, isTempName)) {
        leftovers += await disk.rm(path, { force: true }).then(
          () => 1,
          (error: unknown) => {
            if (isRefused(error)) return 0;
            throw error;
          },
        );
      }
      return leftovers;
    },
  };
}

/** Up to here a range is read at once: it takes less time than handing it to another thread. */
const SMALL = 256 * 1024;
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** A pipe in a file's place is not waited for: it reads as empty. */
const READ = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NO_FOLLOW;

function readSmall(path: string, key: string, offset: number, length: number): Uint8Array | null {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    if (isGone(error)) return null;
    if ((error as NodeJS.ErrnoException).code === "ELOOP")
      throw new SessarcError("PATH_OUTSIDE", { path: key }, { cause: error });
    throw error;
  }
  try {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(fd, bytes, filled, length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

/** Opens a new file. Its folder is made when it is missing, and on disk before anything in it is. */
async function openNew(path: string): Promise<number> {
  try {
    return openSync(path, NEW, 0o600);
  } catch (error) {
    if (!isGone(error)) throw error;
    await makeFolders(dirname(path));
    return openSync(path, NEW, 0o600);
  }
}

function writeAll(fd: number, value: Uint8Array): void {
  for (let from = 0; from < value.length; ) from += writeSync(fd, value, from);
}

/**
 * The fsync of a new file takes its name to the disk with it (ext4, XFS, Btrfs, APFS), so its folder needs none. Many at once share the
 * file system's journal commits.
 */
function flush(fd: number): Promise<void> {
  return new Promise((done, fail) => {
    fsync(fd, (error) => {
      closeSync(fd);
      if (error) fail(error);
      else done();
    });
  });
}

/** Folder and file names of a key. Refuses what could lead elsewhere or means something else on another system. */
function toParts(key: string): string[] {
  const parts = key.split(":");
  const bad = (part: string) =>
    part === "" || part === "." || part === ".." || /[\0/\\]/.test(part) || isTempName(part);
  if (parts.some(bad)) throw new SessarcError("PATH_OUTSIDE", { path: key });
  return parts;
}

/** Makes `folder` and what is missing above it, each 0700 and on disk before its content is. */
async function makeFolders(folder: string): Promise<void> {
  const first = await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  if (!first) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/**
 * Paths of all regular files below `folder` for which `pick` answers true, in slices; links are not followed, and folders that may not
 * be read passed over: one of them is no reason to leave out all others.
 */
async function* walk(folder: string, pick = (name: string) => !isTempName(name)): AsyncGenerator<string> {
  const entries = await absent(disk.readdir(folder, { withFileTypes: true })).catch((error: unknown) => {
    if (isRefused(error)) return undefined;
    throw error;
  });
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, pick);
    else if (entry.isFile() && pick(entry.name)) yield path;
    if (mustYield()) await yieldNow();
  }
}

const absent = <T>(promise: Promise<T>): Promise<T | undefined> =>
  promise.catch((error) => {
    if (isGone(error)) return undefined;
    throw error;
  });
