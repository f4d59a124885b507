/** Wire types of sessions and messages: what adapters yield and what the HTTP API answers. Types and tiny constants only. */
import type { Json } from "../utils/json.ts";

/** The six kinds of a normalised message, in the order their index is stored. */
export const EVENT_KINDS = ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] as const;
/** What a message of a session is: one of `EVENT_KINDS`. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** One normalised message. `seq` counts 0…n−1 inside its session. Field names with `_` mirror the assistants' own protocol. */
export interface SessionEvent {
  seq: number;
  kind: EventKind;
  text: string;
  /** The tool's own id of the record, where it has one. */
  id?: string | undefined;
  /** ISO 8601 UTC. */
  at?: string | undefined;
  model?: string | undefined;
  tool_name?: string | undefined;
  tool_use_id?: string | undefined;
  /** Parsed arguments of a tool call; a string when the tool takes raw text. */
  tool_input?: Json | undefined;
  is_error?: boolean | undefined;
  /** True when `text` was cut at the storage cap. */
  truncated?: boolean | undefined;
}

/** Token counts, disjoint: `input` excludes cached and written tokens, `output` includes reasoning. Integers, never negative. */
export interface TokenUsage {
  input: number;
  output: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  cacheRead: number;
}
/** Tokens by model. */
export type SessionUsage = Record<string, TokenUsage>;

/** One paid reply as a log shows it: the unit that is counted once across files. */
export interface UsageEntry {
  /** Identity of the reply across files of this tool (message id + request id, response id …); absent when the log has none. */
  key?: string | undefined;
  /** The tool among whose replies the key is unique, where another tool writes the same log: in the logs of both it is one reply. */
  of?: string | undefined;
  at?: string | undefined;
  model: string;
  usage: TokenUsage;
  /** Copied from a parent by a fork or resume: shown, never added to totals. */
  inherited?: boolean | undefined;
  /** What its price depends on beside model and time: `fast`, `batch`, `>200000` (tokens of the prompt). Set by `createLedger`. */
  priceClass?: string | undefined;
}

/** Pointer to one session in a tool's logs, made by `scan` from directory entries and stat alone. */
export interface SessionRef {
  tool: string;
  /** Stable id of the session within the tool. The session's id is `<tool>:<key>`. */
  key: string;
  /** The key it would have if another log had not come or gone (two logs of one session): stored under that, it keeps it. */
  otherKey?: string | undefined;
  /** The log itself; for a shared store (a database) the store's file. */
  path: string;
  /** Bytes of the log, where one file is one session; of this session's share otherwise, when known. */
  size?: number | undefined;
  /** Modification time in ms since the epoch. */
  mtime?: number | undefined;
  /** Birth time in ms since the epoch, where the file system knows it. */
  born?: number | undefined;
  /** Opaque change token: equal means nothing to import. Default: size and mtime. */
  version?: string | undefined;
  cwd?: string | undefined;
  title?: string | undefined;
  /** Key of the session that started this one as a sub-agent. */
  parent?: string | undefined;
  /** One file (with `companions`) is one session: the source may be deleted. */
  exclusive?: boolean | undefined;
  /** Further files and folders that belong to this session alone (sub-agent folder, sidecars). */
  companions?: string[] | undefined;
  /** `remembered` of the summary of the last reading, where the log is read again from its start. */
  remembered?: Json | undefined;
}

/** What `read` returns when a session is at its end. */
export interface SessionSummary {
  title?: string | undefined;
  cwd?: string | undefined;
  gitBranch?: string | undefined;
  /** Remote URL of the repository, where the log names it (never with credentials). */
  gitRemote?: string | undefined;
  /**
   * The group of a session without a folder (a one-way hash, a window without a workspace); its key is unique within the tool, or, where it is
   * `shared`, the same for all tools.
   */
  virtualProject?: { key: string; name: string; shared?: boolean | undefined } | undefined;
  /** Version of the assistant that wrote the newest row of the log, as it is there. */
  assistantVersion?: string | undefined;
  /** Key of the session that spawned this one (sub-agent). */
  parent?: string | undefined;
  /** Key of the session this one was forked from. */
  forkedFrom?: string | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  /** This session's own tokens. */
  usage: SessionUsage;
  /** Tokens copied from a parent: shown, never added. */
  inheritedUsage?: SessionUsage | undefined;
  /** Tokens that the assistant counts for the session while no record of its log holds them: titles, deleted replies. In no total. */
  unlogged?: TokenUsage | undefined;
  /** What the assistant itself says the session cost, in US dollars. */
  costUSD?: number | undefined;
  /** Own tokens by UTC quarter-hour (`2026-11-20T20:15`), so that days of any time zone add up. */
  slots?: Record<string, SessionUsage> | undefined;
  /**
   * Of `usage` (key "") and of `slots` (their keys): the tokens that have another than the standard price, by model and price class.
   * Made by `createLedger`.
   */
  classes?: Record<string, SessionUsage> | undefined;
  /** Every counted reply; lets the archive count copies across files once. Made by `createLedger`. */
  replies?: UsageEntry[] | undefined;
  evidence?: UsageEvidence | undefined;
  /** Other sessions, pages and folders that the log names. */
  links?: SessionLink[] | undefined;
  /** Tags that the user gave the session in the assistant itself. */
  tags?: string[] | undefined;
  /** Why the figures of this summary were refused: an impossible one. The reader sets it; an adapter does not. */
  refused?: string | undefined;
  /** Replies that are in none of the figures. The reader sets it; an adapter does not. */
  leftOut?: LeftOut | undefined;
  /** When the log has rested so long (ms) that what waits at its end is a part of it; it is to be read again then. */
  restsAt?: number | undefined;
  /**
   * What a later reading of the whole log is to know though its source may be gone by then: files beside the log. Stored with the session, up to
   * 32 KB of JSON; more is not remembered.
   */
  remembered?: Json | undefined;
  /** What the provider reported about the limits of the plan, where the log has it. */
  limits?: LimitReading[] | undefined;
  /** What could not be read: bad lines, a half-written last line, unknown record types. */
  skipped?: { lines: number; pending?: number | undefined; unknown: Record<string, number> } | undefined;
}

/** What does not count, because a row of the log has a time or a count that cannot be. */
export interface LeftOut {
  /** Later than a day from now. They count when their time has come. */
  late?: { replies: number; first: string; last: string };
  /** Records with a count that is infinite, or more than any reply has: it counts as 0. */
  impossible?: number;
}

/** How much of a limit was used at a time. */
export interface LimitReading {
  /** Length of the window that the limit is for, a multiple of 15. */
  minutes: number;
  /** ISO times. */
  at: string;
  resetsAt: string;
  /** 0 to 100, more where the provider allows it. */
  usedPercent: number;
}

/** Where a session leads. `key` is the key of another session of the same assistant. */
export type SessionLink =
  | { kind: "continued-in" | "derived-from"; key: string }
  | { kind: "pull-request"; url: string; number?: number | undefined; repository?: string | undefined }
  /** The session went on in another folder. */
  | { kind: "relocated"; path: string }
  /** The session works in a worktree that the assistant made of the folder `from`. */
  | {
      kind: "worktree";
      path: string;
      name?: string | undefined;
      branch?: string | undefined;
      from?: string | undefined;
    };

/** How a session's figures came about. */
export interface UsageEvidence {
  /** Usage records seen in the log. */
  records: number;
  /** Replies counted. */
  requests: number;
  /** Records folded into a reply already counted. */
  duplicatesFolded: number;
  /** Replies that belong to another session. */
  inheritedExcluded: number;
  /** Records with a count that no reply can have: that count is 0. Absent where there is none. */
  impossible?: number;
}

/**
 * Server-sent frames of `GET /sessions/:id/live`. A `live` status with `from` says that messages from that seq on are no longer what
 * they were (`restarted`: all of them). Drop those; they are sent again.
 */
export type LiveFrame =
  | { type: "status"; status: "live" | "stopped"; sessionId: string; reason?: string; from?: number }
  | { type: "messages"; events: SessionEvent[] };

/** The message for an event of an unknown kind. */
export const unknownKind = (kind: unknown): string =>
  `the event kind ${JSON.stringify(kind)} is not one of ${EVENT_KINDS.join(", ")}`;
