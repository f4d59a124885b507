/** What errors of the file system, and our own about other programs' files, say. */
import { access, lstat, stat } from "node:fs/promises";

/** The `code` of an error; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** What a promise of the file system brings; undefined when there is no such file or folder. */
export function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });
}

/** True when it is there, and not for us to read or to change: a volume's `lost+found`, what was made as another user. */
export const isRefused = (error: unknown): boolean => ["EACCES", "EPERM"].includes(codeOf(error));

/** True when an error says that a file or folder does not exist: an error of the file system, or SOURCE_MISSING. */
export function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "SOURCE_MISSING";
}

/** Whether anything has the name, a broken link included. Throws what keeps it from being seen (`EACCES`). */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Whether a file or folder is reached at `path`, links followed. What is closed to this user is not reached. */
export const isReachable = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Whether `path` is a folder, links followed. One that is closed to this user is not found. */
export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
