/** What the indexer remembers of a session. */

export type FindingKind =
  | "loop"
  | "retry"
  | "reread"
  | "undone"
  | "unread"
  | "unanswered"
  | "failedLast"
  | "compaction"
  | "nearLimit"
  | "wait";

/** Characters a token, roughly. */
export const CHARS = 4;

/** How a session ended that its user may want to go on with. */
export const ENDINGS = ["unread", "unanswered", "failedLast"] as const satisfies readonly FindingKind[];

/** Something in a session, with the messages that show it. */
export interface Finding {
  kind: FindingKind;
  /** First and last message of it. */
  seq: number;
  last: number;
  /** How often: calls, reads, changes. */
  count: number;
  /** Name of the tool; empty: no tool. */
  tool: string;
  /** File, command or pattern; empty: none is named. */
  subject: string;
  /** Tokens that were sent for nothing (text read again; calls and results of repeated failures), estimated from the length of the text. */
  tokens: number;
  ms: number;
}

export interface OpenCall {
  seq: number;
  at: string | null;
  tool: string;
  /** Hash of tool and arguments. */
  key: string;
  /** What it reads; empty where it reads no file. */
  path: string;
  /** What it runs, where it is a command. */
  command: string | null;
  /** Characters of its arguments. */
  chars: number;
}
/** A call that was made again with the same arguments while nothing was changed. */
export interface Repeat {
  seq: number;
  last: number;
  count: number;
  failed: number;
  /** Characters of arguments and results of the failures after the first one. */
  chars: number;
  tool: string;
  subject: string;
  /** Repeated reads are counted by file. */
  isRead: boolean;
}
export interface ReadFile {
  reads: number;
  /** Reads of what had been read and not been changed since, with their characters. */
  again: number;
  chars: number;
  seq: number;
  last: number;
  /** Its content is as it was read last, as far as the session changed it. */
  fresh: boolean;
  /** Characters of the longest read. */
  size: number;
}
export interface ToolUse {
  calls: number;
  failed: number;
  /** Its first call failed. */
  first: boolean;
  /** The calls that failed, with the characters of their arguments and results. */
  errors: [seq: number, chars: number][];
}

/** How a session ended, as far as it was read. */
export interface Ending {
  /** A failed call after which the assistant said and did nothing. */
  failure: { seq: number; tool: string } | null;
  /** The newest message, notes and reasoning left out. */
  last: { seq: number; answered: boolean } | null;
  /** The newest command, where it failed. */
  failedCommand: { seq: number; tool: string; subject: string } | null;
}
