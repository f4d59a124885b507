/**
 * Opening files that others may have changed: regular ones only, and never waiting. A log that became a named pipe or a device would hold its
 * reader for good, and with it one of the few threads that all reading shares.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { codeOf } from "./gone.ts";

const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Opens `path` for reading. Throws the system's error, EFTYPE for anything but a regular file. */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await open(path, READ);
  const isFile = await handle.stat().then(
    (found) => found.isFile(),
    () => false,
  );
  if (isFile) return handle;
  await handle.close();
  throw notRegular(path);
}

/** The same as a descriptor. */
export function openRegularSync(path: string): number {
  const fd = openSync(path, READ);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notRegular(path);
}

/** The whole file as text. */
export async function readRegular(path: string): Promise<string> {
  return (await readRegularBytes(path)).toString("utf8");
}

/** The whole file. */
export async function readRegularBytes(path: string): Promise<Buffer> {
  const handle = await openRegular(path);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The whole file as text. */
export function readRegularSync(path: string): string {
  const fd = openRegularSync(path);
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Whether opening one said that the path leads to something else: a folder, a pipe, a link to itself. */
export const isNoFile = (error: unknown): boolean => NO_FILE.has(codeOf(error));
const NO_FILE = new Set(["EFTYPE", "EISDIR", "ELOOP", "ENXIO"]);

const notRegular = (path: string) =>
  Object.assign(new Error(`${path} is no regular file`), { code: "EFTYPE", path, syscall: "open" });
