/** OpenCode's rows as far as they are read, the same for its database and its JSON files. */
import type { JsonRecord } from "sessarc";

/** Times are ms since the epoch. */
export interface SessionRow {
  id: string;
  parent?: string | undefined;
  title?: string | undefined;
  directory?: string | undefined;
  /** Of the assistant that made the session. */
  version?: string | undefined;
  /** Root of the project's repository; `/` outside one. */
  worktree?: string | undefined;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  /** Id of the message from which on the conversation was taken back. */
  revertedFrom?: string | undefined;
  forkedFrom?: string | undefined;
  /** The row is older than the first prompt: the session starts with that. */
  isEarly?: boolean | undefined;
  /** The input of its messages includes cached and written tokens. */
  isGross?: boolean | undefined;
  /** Messages are ordered by a number of their own: their ids say nothing about it. */
  isNumbered?: boolean | undefined;
}

/** `data` is undefined where the row could not be parsed. */
export interface Row {
  id: string;
  createdAt?: number | undefined;
  data: JsonRecord | undefined;
}
