/** What an assistant stored of files beside the messages: an optional capability of adapters. */
import type { SessionRef } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

export type StoredFile =
  /** The file as the assistant copied it before it changed it; null: there was none. `at`: ISO 8601. */
  | { kind: "copy"; path: string; at: string; stored: string | null }
  /** The text an edit found, by the id of its call. */
  | { kind: "before"; call: string; path: string; text: string }
  /** The assistant noticed that something else had changed the file. */
  | { kind: "changed"; path: string; at: string };

export interface FilesContract {
  /** A read shows the empty line after the last line end, so that it says how the file ends. */
  showsEnd?: boolean;
  /** Its edit refuses a file that something else changed since the session saw it, unless `stored` has a `changed`. */
  checksEdits?: boolean;
  /** What is stored of the files that `isWanted` (paths as the log writes them). Rejects with an error of the file system where the log is gone. */
  stored?(ref: SessionRef, env: AdapterEnv, isWanted: (path: string) => boolean): Promise<StoredFile[]>;
  /** Copies of one file that are there without a log that names them, each with the key of its session. `path`: absolute. */
  copies?(path: string, env: AdapterEnv): Promise<{ key: string; at: string; stored: string }[]>;
}
