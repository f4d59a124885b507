/** The journal as a file that is being written: append with fsync, start anew after a snapshot. */
import type { FileHandle } from "node:fs/promises";
import { readFile, stat } from "node:fs/promises";
import { type DiskCalls, writeFileAtomic } from "../utils/atomic.ts";
import { encodeHead, HEAD, type JournalHead } from "./journal-format.ts";

export interface Journal {
  /** Bytes of the file up to the last whole group. */
  readonly bytes: number;
  /**
   * Resolves when `group` is on disk. On an error the file ends where it did before; after a failed fsync nothing can be said
   * about the disk any more, and every later call fails with the same error.
   */
  append(group: Buffer): Promise<void>;
  /** Replaces the file by one that continues the snapshot `head` names and holds what stood after byte `from`. */
  restart(head: JournalHead, from: number): Promise<void>;
  /** The error of a failed fsync. */
  readonly broken: unknown;
  close(): Promise<void>;
}

export interface JournalOptions {
  path: string;
  calls: DiskCalls;
  /** Whole bytes of the existing file; 0 when there is none. What follows them is cut off. */
  bytes: number;
  /** For a file that is made. */
  head: JournalHead;
}

/** Nothing is opened or made before the first write. Calls must not overlap: the caller queues them. */
export function createJournal({ path, calls, head: initial, ...options }: JournalOptions): Journal {
  let handle: FileHandle | undefined;
  let bytes = options.bytes;
  let broken: unknown;

  async function open(): Promise<FileHandle> {
    if (bytes === 0) {
      await writeFileAtomic(path, encodeHead(initial), { calls });
      bytes = HEAD;
    }
    handle = await calls.open(path, "r+");
    if ((await handle.stat()).size > bytes) await handle.truncate(bytes);
    return handle;
  }

  return {
    get bytes() {
      return bytes;
    },
    get broken() {
      return broken;
    },
    async append(group) {
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
      bytes += group.length;
    },
    async restart(head, from) {
      if (broken) throw broken;
      const rest = from < bytes ? (await readFile(path)).subarray(from, bytes) : Buffer.alloc(0);
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
      bytes = HEAD + rest.length;
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

const inode = (path: string) =>
  stat(path, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined,
  );
