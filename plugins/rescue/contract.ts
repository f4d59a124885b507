/** What an adapter declares so that its assistant's sessions can be put back: the member `rescue`. */

import type { SessionRef } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

/**
 * Why an assistant's own list leaves out a session whose log is there. `headless`: started without its screen (`-p`, `exec`, an SDK).
 * `background`: started by its own background service. `archived`: the user archived it.
 */
export const HIDDEN = ["headless", "background", "archived"] as const;
export type Hidden = (typeof HIDDEN)[number];

/** A session as it is put back. */
export interface RescuedSession {
  key: string;
  /** Of its log. */
  path: string;
  cwd: string | null;
}

/** What the assistant's index needs beside the log. */
export type IndexEntry =
  /** A small separate file; an existing one is never replaced. */
  | { kind: "file"; path: string; text: string }
  /** A value in a JSON file of the assistant; a value that is there is never replaced. */
  | { kind: "value"; path: string; keys: readonly string[]; key: string; value: string };

/** A copy of a session for another folder. */
export interface SessionCopy {
  /** Where the copy's log is. */
  path: string;
  /** One row of the log as the copy has it; undefined: the copy leaves it out. Must not throw. */
  row(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined;
  /** One line of another file of the session, such as a header beside the log. Without it, other files are not copied. */
  file?(name: string, text: string): { path: string; text: string } | undefined;
  index: readonly IndexEntry[];
}

/** Sessions that are rows of a database. */
export interface RescueDatabase {
  hidden(key: string): Hidden | undefined;
  /** The session's rows as the assistant's own import reads them; undefined when it is not there. */
  rows(key: string): Uint8Array | undefined;
  close(): void;
}

export interface RescueContract {
  /** Folders that belong to the assistant: nothing is written outside. */
  folders(env: AdapterEnv): readonly string[];
  /** Reads at most the head of the log. */
  hidden?(ref: SessionRef, env: AdapterEnv): Promise<Hidden | undefined>;
  /** Where sessions are rows of a database. Undefined for any other path. */
  database?(path: string, env: AdapterEnv): Promise<RescueDatabase | undefined>;
  /** The command that reads what `rows` returned, and the one that deletes the session again. */
  commands?: { load(file: string): readonly string[]; remove(key: string): readonly string[] };
  /** What is needed beside the log. */
  index?(session: RescuedSession, env: AdapterEnv): Promise<readonly IndexEntry[]>;
  /** Files that make the assistant delete or overlook a log that is put back, such as an empty second log of the same session. */
  inTheWay?(session: RescuedSession, env: AdapterEnv): Promise<readonly string[]>;
  copy?(session: RescuedSession, to: { key: string; cwd: string }, env: AdapterEnv): Promise<SessionCopy>;
  /**
   * Whether the assistant, by its own rules, finds a copy that was written under this id in this folder. Reads what is on the disk.
   * Required with `copy`.
   */
  finds?(copy: { key: string; path: string; cwd: string }, env: AdapterEnv): Promise<boolean>;
  /** The command that starts the assistant with a prompt. */
  start?(prompt: string): readonly string[];
  /** Keys of the sessions that the user pinned in the assistant: their logs are not removed. Throws where they cannot be read. */
  pinned?(env: AdapterEnv): Promise<ReadonlySet<string>>;
  /** What cannot come back, as a sentence. */
  lost?: string;
  /** The setting that decides how long logs are retained: the edit for `days`. */
  retention?(
    days: number,
    env: AdapterEnv,
  ): { path: string; keys: readonly string[]; key: string; value: string | number };
}
