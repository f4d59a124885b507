/** Paths of logs as text: a session may come from another machine, and nothing on the disk is touched to read them. */
import { posix } from "node:path";

/** With forward slashes, without `.` and `..`; undefined for a relative path of a session without a folder. */
export function toFull(written: string, cwd: string | null): string | undefined {
  const path = slashed(written.replace(/^file:\/\//, ""));
  if (isAbsolute(path)) return posix.normalize(path);
  return cwd === null ? undefined : posix.normalize(`${slashed(cwd)}/${path}`);
}

export const slashed = (path: string): string =>
  /^[A-Za-z]:[\\/]|^\\\\/.test(path) ? path.replaceAll("\\", "/") : path;

const isAbsolute = (path: string): boolean => path.startsWith("/") || /^[A-Za-z]:\//.test(path);

/** Whether `path` is the folder or below it. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, "") : path);
