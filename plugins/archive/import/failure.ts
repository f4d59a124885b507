/** Why a session was not imported, as its result says it. */

import { debugError, isSessarcError, toMessage } from "sessarc";
import { codeOf, isGone } from "sessarc/files";
import type { JobResult } from "./types.ts";

/** Code of what was given up because the import was cancelled: not a failure. */
export const CANCELLED = "CANCELLED";

export class Stopped extends Error {}

export function checkStop(stop: Int32Array): void {
  if (Atomics.load(stop, 0) !== 0) throw new Stopped();
}

/** The reason in words for the user. A full or read-only disk is not the session's fault and ends the run: it is thrown on. */
export function failure(id: string, error: unknown): JobResult {
  if (!(error instanceof Stopped)) debugError("import", id, error);
  if (error instanceof Stopped) return { ok: false, id, code: CANCELLED, message: "The import was cancelled" };
  if (isSessarcError(error)) {
    if (error.code === "STORAGE_FULL" || error.code === "STORAGE_READ_ONLY") throw error;
    return { ok: false, id, code: error.code, message: error.message };
  }
  const code = codeOf(error);
  if (isGone(error)) return { ok: false, id, code: "SOURCE_MISSING", message: "The log is gone" };
  if (code === "EACCES" || code === "EPERM")
    return { ok: false, id, code: "SOURCE_UNREADABLE", message: "The log may not be read" };
  return { ok: false, id, code: "SOURCE_DAMAGED", message: toMessage(error) };
}
