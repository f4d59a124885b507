/** What a catalogue is opened with, and what holds where nothing is said. */
import { statfs } from "node:fs/promises";
import type { DiskCalls } from "../utils/atomic.ts";

export interface DatabaseOptions {
  dir: string;
  /** Reads what the owner has on disk, beside it, and never writes. */
  readOnly?: boolean;
  /** Journal bytes after which a snapshot is written, unless a quarter of the snapshot is more. Default 8 MB. */
  journalLimit?: number;
  /** ms without a write after which a journal that is not short is replaced by a snapshot. Default 5 s. */
  restMs?: number;
  /** Bytes from which a snapshot is large: closing does not write one for a short journal. Default 4 MB. */
  largeFrom?: number | undefined;
  /** ms of repeating the journal after which an opening has a snapshot written. Default 100. */
  slowMs?: number | undefined;
  /** A snapshot is on disk. */
  onFlushed?: ((info: { bytes: number; ms: number }) => void) | undefined;
  /** Something the user should know and no call returns: a torn journal, a snapshot that could not be written. Default: stderr. */
  onNotice?: ((message: string) => void) | undefined;
  /** Resolves when the directory is ours still: asked before and after each write. Throws ARCHIVE_LOCKED or STORAGE_REPLACED. */
  prove?: (() => Promise<void>) | undefined;
  /** Runs last in `close`, however that went. */
  onClosed?: (() => Promise<void> | undefined) | undefined;
  calls?: DiskCalls;
  /** Bytes that are free where a folder lies. */
  room?: (dir: string) => Promise<number>;
}

export const JOURNAL_LIMIT = 8 * 2 ** 20;
export const REST_MS = 5_000;
export const LARGE = 4 << 20;
export const SLOW_MS = 100;

export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
