/** One name for a file that calls named in two ways: relative to the session's folder, and absolute. */
import { posix, win32 } from "node:path";

const ABSOLUTE = /^(?:[/\\~]|[A-Za-z]:[/\\])/;

/** `path` as an absolute one where the session's folder is known; by text alone, in the folder's own style. */
export function placedIn(path: string, cwd: string | null): string {
  if (cwd === null || ABSOLUTE.test(path)) return path;
  return /^[A-Za-z]:[/\\]|^\\\\/.test(cwd) ? win32.join(cwd, path) : posix.join(cwd, path);
}
