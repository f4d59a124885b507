/** A new snapshot in the old one's place, and the journal begun anew behind it. */
import { join } from "node:path";
import { type DiskCalls, writeFileAtomic } from "../utils/atomic.ts";
import type { Journal } from "./journal.ts";
import type { Frozen } from "./paged-file.ts";
import { leaveSource } from "./paged-file.ts";
import { SNAPSHOT_FILE } from "./present.ts";
import type { createQueue } from "./queue.ts";
import { keepBefore, type Snapshot } from "./recover.ts";
import { type Blocks, openSource, writeSnapshot } from "./snapshot.ts";
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
  blocks: Blocks | undefined;
  journal: Journal;
  /** Writes of the journal, one after the other. */
  queue: ReturnType<typeof createQueue>;
  /** Resolves when the directory is ours still. */
  prove(): Promise<void>;
  /** Aborts when nobody waits for a snapshot any more: what is written of it is removed. */
  signal: AbortSignal;
}

/** Lets go of what was frozen, however it went. Throws what `toStorageError` makes of it; the journal has everything then. */
export async function replaceSnapshot(place: FilePlace, { frozen, batch, from }: Moment): Promise<Snapshot> {
  const { dir, calls, blocks, journal, queue, prove, signal } = place;
  const path = join(dir, SNAPSHOT_FILE);
  try {
    signal.throwIfAborted();
    await prove();
    let written: Awaited<ReturnType<typeof writeSnapshot>> | undefined;
    await writeFileAtomic(
      path,
      async (file) => {
        written = await writeSnapshot(file, frozen, batch, { from: blocks?.from, signal });
      },
      { calls },
    );
    if (!written) throw new Error("the snapshot was not written");
    const { checksum, bytes, sums } = written;
    await queue(async () => {
      await prove();
      await keepBefore(dir);
      await journal.restart({ base: batch, checksum }, from);
    });
    const open = sums && openSource(path);
    if (open?.head.checksum === checksum) frozen.adopt(open.source);
    else if (open) leaveSource(open.source);
    return { batch, checksum, bytes, sliced: true };
  } catch (error) {
    throw toStorageError(error, path);
  } finally {
    frozen.release();
  }
}
