/** Files that are either whole and on disk, or as they were: temp file beside the target, fsync, rename, fsync of the folder. */
import { randomBytes } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import * as disk from "node:fs/promises";
import { dirname, join } from "node:path";

/** The file system calls used; tests hand in ones that fail. */
export type DiskCalls = Pick<typeof disk, "open" | "rename" | "rm">;

interface AtomicOptions {
  /** Permission bits of the new file, exactly (no umask). Default 0600. */
  mode?: number;
  calls?: DiskCalls;
}

/**
 * Writes `data`, or what it writes, to `path`; readers see the old content or the new, never a part, also after a crash. Replaces a symbolic link rather
 * than following it. The folder must exist. Cost: two fsyncs. On failure the target is untouched, the temp file gone, the error the
 * system's own (`ENOSPC`, `EROFS`, …).
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array | ((file: FileHandle) => Promise<void>),
  options: AtomicOptions = {},
): Promise<void> {
  const { mode = 0o600, calls = disk } = options;
  const temp = join(dirname(path), tempName());
  try {
    const handle = await calls.open(temp, "wx", mode);
    try {
      if (typeof data === "function") await data(handle);
      else await handle.writeFile(data);
      // The umask has taken its part of the mode by now.
      if (mode !== 0o600) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await calls.rename(temp, path);
  } catch (error) {
    await calls.rm(temp, { force: true }).catch(() => {
      // The first error is the informative one; the temporary file is removed at the next start.
    });
    throw error;
  }
  await syncFolder(dirname(path), calls);
}

/** Makes a rename or removal in `folder` survive a power cut. Windows cannot and need not. */
export async function syncFolder(folder: string, calls: Pick<DiskCalls, "open"> = disk): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await calls.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A name for a file in the making: short, so that a target of any length has one, and known to `isTempName`. */
export function tempName(): string {
  return `.~${randomBytes(8).toString("hex")}.tmp`;
}

/** True for names made by `tempName`: leftovers of a crash, safe to remove when no process writes. */
export function isTempName(name: string): boolean {
  return /^\.~[0-9a-f]{16}\.tmp$/.test(name);
}
