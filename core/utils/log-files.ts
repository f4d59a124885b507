/** Looking at other programs' log folders: read-only, bounded, and quiet about what is gone or closed to us. */
import { closeSync, type Dirent, opendirSync, readdirSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { sep } from "node:path";
import { codeOf, isGone } from "./gone.ts";
import { openRegularSync } from "./regular.ts";
import { sortInSlices } from "./sort.ts";
import { mustYield, yieldNow } from "./yield.ts";

const PROBE = 64 * 1024;
const CLOSED = new Set(["EACCES", "EPERM", "ELOOP", "EISDIR", "EFTYPE"]);

/** Folders that were closed to us when they were last listed, the newest thousand. */
const closed = new Set<string>();
const CLOSED_KEPT = 1_000;

/** Folders below `root` that could not be listed since the last call: what they hold was left out. */
export function takeClosed(root: string): string[] {
  const below = [...closed].filter((dir) => dir === root || dir.startsWith(root.endsWith(sep) ? root : root + sep));
  for (const dir of below) closed.delete(dir);
  return below;
}

function nothing(dir: string, error: unknown): Dirent[] {
  if (!isUnreadable(error)) throw error;
  if (!isGone(error)) {
    closed.add(dir);
    for (const oldest of closed) {
      if (closed.size <= CLOSED_KEPT) break;
      closed.delete(oldest);
    }
  }
  return [];
}

/** Entries sorted by name, so that two scans agree. A missing folder is empty. So is one that may not be read: `takeClosed` reports those. */
export function readFolder(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    return nothing(dir, error);
  }
}

/** Entries asked of the system at once. */
const AT_ONCE = 512;

/** Entries as `readFolder` gives them, in slices: a folder may hold any number of logs. */
export async function readFolderInSlices(dir: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    // At once and not by another thread: most folders are small, and there are many.
    const folder = opendirSync(dir, { bufferSize: AT_ONCE });
    try {
      for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
        entries.push(entry);
        if (entries.length % AT_ONCE === 0 && mustYield()) await yieldNow();
      }
    } finally {
      folder.closeSync();
    }
  } catch (error) {
    return nothing(dir, error);
  }
  return sortInSlices(entries, (a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of a folder's entries, to ask what lies beside a log; in slices. */
export async function namesInSlices(entries: readonly Dirent[]): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { name } of entries) {
    names.add(name);
    if (names.size % AT_ONCE === 0 && mustYield()) await yieldNow();
  }
  return names;
}

/** Entries of a folder in the order of the system; empty where `readFolder` is. Holds nothing else up. */
export async function listFolder(dir: string): Promise<Dirent[]> {
  return readdir(dir, { withFileTypes: true }).catch((error: unknown) => nothing(dir, error));
}

/** Up to `length` bytes from `position`; fewer at the end, none when the file is gone. */
export function bytesAt(path: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    const fd = openRegularSync(path);
    try {
      return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isUnreadable(error)) return bytes.subarray(0, 0);
    throw error;
  }
}

/** Is the shorter file a copy or the start of the longer one? Compares the first and last 64 KB of the shorter. */
function isStartOf(shorter: { path: string; size: number }, longer: { path: string; size: number }): boolean {
  if (shorter.size > longer.size) return false;
  const length = Math.min(shorter.size, PROBE);
  const parts = length === 0 ? [] : [0, shorter.size - length];
  return parts.every((at) => bytesAt(shorter.path, at, length).equals(bytesAt(longer.path, at, length)));
}

/** The files of `group` that are not a copy or the start of a longer one, sorted by path. Of copies the newest stays, of equally old ones the first by path. */
export function withoutCopies<T extends { path: string; size?: number | undefined; mtime?: number | undefined }>(
  group: readonly T[],
): T[] {
  const kept: T[] = [];
  const sized = ({ path, size = 0 }: T) => ({ path, size });
  const byPath = (a: T, b: T) => (a.path < b.path ? -1 : 1);
  for (const found of [...group].sort(
    (a, b) => (b.size ?? 0) - (a.size ?? 0) || (b.mtime ?? 0) - (a.mtime ?? 0) || byPath(a, b),
  ))
    if (!kept.some((longer) => isStartOf(sized(found), sized(longer)))) kept.push(found);
  return kept.sort(byPath);
}

/** Whether an error says that a file is not there or may not be read. */
export const isUnreadable = (error: unknown): boolean => isGone(error) || CLOSED.has(codeOf(error));
