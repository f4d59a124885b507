/** Replaces the snapshot, and restarts the journal after it. */
import { join } from "node:path";
import { type DiskCalls, writeFileAtomic } from "../utils/atomic.ts";
import type { Frozen } from "./catalog-file.ts";
import type { Journal } from "./journal.ts";
import { SNAPSHOT_FILE } from "./present.ts";
import type { createQueue } from "./queue.ts";
import { keepBefore, type Snapshot } from "./recover.ts";
import { IS_WINDOWS, openWritten, type Written, writeSnapshot } from "./snapshot.ts";
import { toStorageError } from "./storage-error.ts";

/** The image as of a batch that is on disk, and where the journal stood then. */
export interface Moment {
  frozen: Frozen;
  batch: number;
  from: number;
}

export interface FilePlace {
  dir: string;
  calls: DiskCalls;
  journal: Journal;
  /** Writes of the journal run sequentially. */
  queue: ReturnType<typeof createQueue>;
  /** Resolves when the directory is ours still. */
  prove(): Promise<void>;
  /** Aborts a snapshot that is no longer needed: its file is removed. */
  signal: AbortSignal;
}

/** Lets go of what was frozen, however it went. Throws what `toStorageError` makes of it; the journal has everything then. */
export async function replaceSnapshot(place: FilePlace, { frozen, batch, from }: Moment): Promise<Snapshot> {
  const { dir, calls, journal, queue, prove, signal } = place;
  const path = join(dir, SNAPSHOT_FILE);
  try {
    signal.throwIfAborted();
    await prove();
    let written: Written | undefined;
    await writeFileAtomic(
      path,
      async (file) => {
        written = await writeSnapshot(file, frozen, batch, signal);
      },
      { calls },
    );
    if (!written) throw new Error("the snapshot was not written");
    const { checksum, size } = written;
    await queue(async () => {
      await prove();
      await keepBefore(dir);
      await journal.restart({ base: batch, checksum }, from);
    });
    const source = IS_WINDOWS ? undefined : openWritten(path, written);
    if (source) frozen.adopt(source);
    return { batch, checksum, bytes: size };
  } catch (error) {
    throw toStorageError(error, path);
  } finally {
    frozen.release();
  }
}
