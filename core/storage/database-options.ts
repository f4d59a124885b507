/** What a catalogue is opened with, and what holds where nothing is said. */
import { statfs } from "node:fs/promises";
import type { DiskCalls } from "../utils/atomic.ts";

export interface DatabaseOptions {
  dir: string;
  /** Reads what the owner has on disk, beside it, and never writes. */
  readOnly?: boolean;
  /** Bytes of commits between two steps of updating `catalog.db`. Default 8 MB. */
  logLimit?: number;
  /** ms between two checks that the log is still there: SQLite programs remove it when they close. Default 10 s. */
  watchMs?: number;
  /** Something the user should know and no call returns: `catalog.db` could not be updated. Default: stderr. */
  onNotice?: ((message: string) => void) | undefined;
  /**
   * Resolves when the directory is ours still, with whether it was so without a break since the last call: asked before and after each write. Throws
   * ARCHIVE_LOCKED or STORAGE_REPLACED.
   */
  prove?: (() => Promise<boolean>) | undefined;
  /** Runs last in `close`, however that went. */
  onClosed?: (() => Promise<void> | undefined) | undefined;
  calls?: DiskCalls;
  /** Bytes that are free where a folder lies. */
  room?: (dir: string) => Promise<number>;
}

export const LOG_LIMIT = 8 * 2 ** 20;
export const WATCH_MS = 10_000;

export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
