/** Sessions whose files can only be read whole: documents rewritten in place, logs whose later rows change earlier ones; one file, or several that belong together. */
import { lstat } from "node:fs/promises";
import type { AdapterEnv, NewEvent, OpenLog } from "../contract/adapter.ts";
import type { SessionRef, SessionSummary } from "../session/session.ts";
import { ifThere, isGone } from "../utils/gone.ts";
import { parseDocument } from "../utils/json-document.ts";
import { readRegular } from "../utils/regular.ts";

/** Where a session is: the log of `ref` and the files beside it. */
export type SessionPlace = Pick<SessionRef, "key" | "path">;

/** Fields of a ref; `version` changes whenever one of the files does. */
export type FileStamp = { size: number; mtime: number; version: string };

/** Members of an adapter whose sessions are documents that the assistant rewrites (`documentSessions`). */
export interface DocumentSessions {
  /** Size and times of a session's files, for its ref; undefined when the log is gone or is a link. */
  stamp(place: SessionPlace): Promise<FileStamp | undefined>;
  /** For the adapter's `token` and `open`. */
  token(ref: SessionRef, env: AdapterEnv): Promise<string>;
  open(path: string, env: AdapterEnv): OpenLog;
}

/** How one such session is read; what `documentSessions` takes. */
export interface DocumentSessionsDefinition {
  /** Files and folders beside the log that change a session; they need not exist. A folder counts by its own time. */
  beside?(place: SessionPlace): readonly string[];
  /** Events in order and the summary; undefined when the session is gone. */
  read(ref: SessionRef): Promise<{ events: readonly NewEvent[]; summary: SessionSummary } | undefined>;
}

/** Members for an adapter whose sessions are documents. */
export function documentSessions({ beside = () => [], read }: DocumentSessionsDefinition): DocumentSessions {
  const stamp = (place: SessionPlace) => fileStamp(place.path, beside(place));
  return {
    stamp,
    token: async (ref) => (await stamp(ref))?.version ?? "",
    open: () => ({
      version: async (ref) => (await stamp(ref))?.version,
      async *read(ref, onBytes) {
        const found = await read(ref);
        if (!found) return undefined;
        onBytes((await stamp(ref))?.size ?? 0);
        yield* found.events;
        return found.summary;
      },
    }),
  };
}

/** Size and times of a log and of the files and folders beside it; undefined when the log is gone or is a link. */
export async function fileStamp(path: string, beside: readonly string[] = []): Promise<FileStamp | undefined> {
  const log = await ifThere(lstat(path));
  if (!log?.isFile()) return undefined;
  const others = await Promise.all(beside.map((other) => ifThere(lstat(other))));
  const marks = [log, ...others].map((found) => (found ? `${found.size}.${found.mtimeMs}` : "0"));
  const mtime = Math.max(log.mtimeMs, ...others.map((found) => found?.mtimeMs ?? 0));
  return { size: log.size, mtime, version: marks.join("-") };
}

/**
 * A JSON document: its value, of which the finished part when it is being rewritten (`whole` is false). Undefined when there is no
 * such file. Throws the system's error when it cannot be read.
 */
export async function readDocument(path: string): Promise<{ value: unknown; whole: boolean } | undefined> {
  try {
    return parseDocument(await readRegular(path));
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
