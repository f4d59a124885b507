/** The journal as a file that is being written: append with fsync, restart after a snapshot. */
import type { FileHandle } from "node:fs/promises";
import { readFile, stat } from "node:fs/promises";
import { SessarcError } from "../errors/error.ts";
import { type DiskCalls, writeFileAtomic } from "../utils/atomic.ts";
import { encodeHead, HEAD, type JournalHead } from "./journal-format.ts";

export interface Journal {
  /** Bytes of the file up to the last whole group. */
  readonly bytes: number;
  /**
   * Resolves when `group` is on disk and `confirm`, called after that, has no objection. On an error the file ends where it did before; after a failed fsync nothing can be said
   * about the disk any more, and every later call fails with the same error.
   */
  append(group: Buffer, confirm?: () => Promise<void>): Promise<void>;
  /** Throws STORAGE_REPLACED when the file at our path is no longer the one that was read or is being written. */
  checkOurs(): Promise<void>;
  /** Replaces the file by one that continues the snapshot `head` names and holds what stood after byte `from`. */
  restart(head: JournalHead, from: number): Promise<void>;
  /** The error of a failed fsync. */
  readonly broken: unknown;
  close(): Promise<void>;
}

interface JournalOptions {
  path: string;
  calls: DiskCalls;
  /** Whole bytes of the existing file; 0 when there is none. What follows them is cut off. */
  bytes: number;
  /** For a file that is made. */
  head: JournalHead;
  /** What `signOf` said before the existing file was read. */
  sign: string;
}

/** Nothing is opened or made before the first write. Calls must not overlap: the caller queues them. */
export function createJournal({ path, calls, head: initial, ...options }: JournalOptions): Journal {
  let handle: FileHandle | undefined;
  /** Inode of the open file, which the system does not reuse while it is open. */
  let ino: bigint | undefined;
  let bytes = options.bytes;
  let broken: unknown;

  /**
   * The first write recreates the file: a former owner that slept still has the old one open, and what it
   * writes when it wakes must not fall into ours.
   */
  async function open(): Promise<FileHandle> {
    await checkOurs();
    if (ino === undefined) {
      const whole = bytes === 0 ? encodeHead(initial) : (await readFile(path)).subarray(0, bytes);
      if (whole.length < bytes) throw replaced();
      await writeFileAtomic(path, whole, { calls });
      bytes = whole.length;
    }
    return hold();
  }

  async function hold(): Promise<FileHandle> {
    handle = await calls.open(path, "r+");
    ({ ino } = await handle.stat({ bigint: true }));
    return handle;
  }

  const replaced = () => new SessarcError("STORAGE_REPLACED", { path });
  async function checkOurs(): Promise<void> {
    const same = ino === undefined ? (await signOf(path)) === options.sign : (await inode(path)) === ino;
    if (!same) throw replaced();
  }

  return {
    get bytes() {
      return bytes;
    },
    get broken() {
      return broken;
    },
    checkOurs,
    async append(group, confirm) {
      if (broken) throw broken;
      const file = handle ?? (await open());
      try {
        await writeAll(file, group, bytes);
      } catch (error) {
        await file.truncate(bytes).catch(() => {
          // The next write starts at the same place, and a reader drops a group that is not whole.
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
      await confirm?.();
      bytes += group.length;
    },
    async restart(head, from) {
      if (broken) throw broken;
      // Where there was no journal yet it began at 0, before a head that is not part of the retained bytes.
      const start = Math.max(from, HEAD);
      const rest = start < bytes ? (await readFile(path)).subarray(start, bytes) : Buffer.alloc(0);
      const before = await inode(path);
      try {
        await writeFileAtomic(path, Buffer.concat([encodeHead(head), rest]), { calls });
      } catch (error) {
        // Replaced, but perhaps not for good: which of the two files a crash would leave is unknown.
        if ((await inode(path)) !== before) broken = error;
        throw error;
      }
      await handle?.close();
      handle = undefined;
      ino = await inode(path);
      bytes = HEAD + rest.length;
      await hold().catch(() => {
        // Opened at the next write.
      });
    },
    async close() {
      await handle?.close();
      handle = undefined;
    },
  };
}

async function writeAll(file: FileHandle, data: Buffer, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

/** Tells a file from another one, and from itself after it was written to. */
export const signOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
    () => "none",
  );

const inode = (path: string) =>
  stat(path, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined,
  );
