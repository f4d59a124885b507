/** How much room a file system has, and how much of it sessarc leaves to others. */
import { statfs } from "node:fs/promises";

/** Room on a disk, in bytes. */
export interface Space {
  /** Bytes this user may still write. Infinity where the system does not report it. */
  free: number;
  /** Bytes of `free` that nothing large is written into: other programs, and the catalogue's own small writes, need them. */
  reserve: number;
}

const MOST_RESERVE = 256 * 2 ** 20;
const SHARE = 100;

/** Of the file system of an existing folder. The reserve is a hundredth of it, 256 MiB at most. One system call. */
export async function readSpace(folder: string): Promise<Space> {
  const info = await statfs(folder).catch(() => undefined);
  // Some file systems in user space report no blocks at all.
  if (!info || info.blocks === 0) return { free: Number.POSITIVE_INFINITY, reserve: 0 };
  const { bavail, blocks, bsize } = info;
  return { free: bavail * bsize, reserve: Math.min(MOST_RESERVE, Math.floor((blocks * bsize) / SHARE)) };
}
