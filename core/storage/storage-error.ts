/** What the operating system says about writing, as the errors a user can act on. */
import { SessarcError } from "../errors/error.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const READ_ONLY = new Set(["EROFS", "EACCES", "EPERM", "EIO"]);

/** For `.catch`: throws what `toStorageError` makes of the error. */
export const storageFailed =
  (path: string) =>
  (error: unknown): never => {
    throw toStorageError(error, path);
  };

/** STORAGE_FULL or STORAGE_READ_ONLY naming `path`, with the cause; any other error as it is. */
export function toStorageError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (FULL.has(code)) return new SessarcError("STORAGE_FULL", {}, { cause: error });
  if (READ_ONLY.has(code)) return new SessarcError("STORAGE_READ_ONLY", { path }, { cause: error });
  return error;
}
