/** Shapes of the archive: rows of the catalogue and the wire resources made of them. */

import type { LeftOut, SessionLink, SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import type { TranscriptPart } from "sessarc/storage";

/** What happened in one UTC quarter-hour of a session. */
export interface SlotFacts {
  /** Messages. */
  m: number;
  /** Active time in ms: gaps between messages, those over ten minutes left out. */
  a: number;
  /** Failed tool calls. */
  e: number;
  /** Own tokens by model. */
  u?: SessionUsage;
}

/** Aggregates of a session, kept at import so that no view reads transcripts for them. */
export interface SessionFacts {
  kinds: Record<string, number>;
  /** Calls and failures by tool name. */
  tools: Record<string, [calls: number, errors: number]>;
  /** Reads and edits by path, as the calls named it; an edit that failed is none. At most 2,000 paths. */
  files: Record<string, [reads: number, edits: number]>;
  /** By UTC quarter-hour `2026-11-20T20:15`. */
  slots: Record<string, SlotFacts>;
  /** ms of the last message with a time, to go on from when the log grows. */
  last: number | null;
  /** Of the newest reply: its model and the tokens of its prompt; and the largest prompt of each model. Only where the log has single replies. */
  context?: { model: string; tokens: number; most: [model: string, tokens: number][] };
  /** Tokens of the log outside of replies that have a key, by quarter-hour ("": without a time). */
  loose?: Record<string, SessionUsage>;
  /** The same of earlier texts: the larger one counts. */
  looseBefore?: Record<string, SessionUsage>;
  /** Names of calls whose result is still out, by call id; only while a log is being appended to. */
  open?: Record<string, string>;
  /** Files those calls would change, by call id. */
  changing?: Record<string, string[]>;
  /** Uses and failures by skill, and ms of the last one. A leading slash: it may have been a command of the tool. */
  skills?: Record<string, [calls: number, failures: number, last: number | null]>;
  /** Skills of calls whose result is still out, by call id. */
  asked?: Record<string, string>;
}

export interface SessionRow {
  id: string;
  tool: string;
  key: string;
  origin_id: string;
  project_id: string;
  parent_id: string | null;
  forked_from: string | null;
  name: string | null;
  title: string | null;
  first_prompt: string | null;
  cwd: string | null;
  git_branch: string | null;
  started_at: string | null;
  ended_at: string | null;
  /** ms: end, else start, else the file's time. Sessions are listed by it. */
  sort_at: number;
  active_ms: number;
  /** Messages that count here: of the text without those it copied, and of earlier texts. The text's own length: `lengthOf`. */
  message_count: number;
  error_count: number;
  usage: string;
  inherited: string | null;
  evidence: string | null;
  /** JSON of `LoggedFacts`. */
  logged: string | null;
  /** JSON of what the adapter gets when it reads the whole log again. */
  remembered: string | null;
  skipped: string | null;
  source_path: string;
  source_version: string;
  source_bytes: number;
  source_mtime: number;
  source_born: number;
  exclusive: number;
  companions: string | null;
  missing: number;
  generation: number;
  parts: string;
  /** Of `parts`. */
  transcript_bytes: number;
  /** Of the assistant that wrote the log, where the log has a version. */
  assistant_version: string | null;
  imported_at: string;
  /** How the row was counted: a log is read again once when a newer version counts differently. */
  format: number;
  /** Messages at the start of the text that another session counts; −1: not compared yet. */
  copied: number;
  /** Flags: what is known of where it came from, see `import/lineage.ts`. */
  lineage: number;
  /** ms from which on replies count that are in no figure yet, `NEVER` for those that never do; null: all count. */
  left_out: number | null;
}

/** The last time that a date can have. */
export const NEVER = 8.64e15;

/** What a session did, with each token counted once: what the rows of its figures are made of. */
export interface SessionFigures {
  id: string;
  usage: SessionUsage;
  evidence: UsageEvidence | null;
  facts: SessionFacts;
  messages: number;
  errors: number;
  /** ms of the end, else of the start, else of the log. */
  sortAt: number;
}

/** A row with the length of its text. */
export interface StoredSession extends SessionRow {
  length: number;
}

/** A text that a session's log had before, kept because later ones lack some of it. */
export interface EarlierRow {
  session_id: string;
  /** Generation of the session while this was its text. */
  version: number;
  parts: string;
  transcript_bytes: number;
  /** seqs of the messages that no later text has, as a list of [from, to). */
  own: string;
  /** Names of those messages: 53-bit hashes as doubles. */
  names: Uint8Array;
  own_count: number;
  kept_at: string;
}

export interface ProjectRow {
  id: string;
  kind: "repository" | "folder" | "virtual";
  key: string;
  path: string | null;
  root_commit: string | null;
  derived_name: string;
  name: string | null;
  created_at: string;
}

/** What a log states of its session beside messages and replies. */
export interface LoggedFacts {
  costUSD?: number;
  unlogged?: TokenUsage;
  links?: SessionLink[];
  tags?: string[];
  refused?: string;
  leftOut?: LeftOut;
}

/** Cost in millionths of a US dollar; null where no price service runs. */
export interface Cost {
  microdollars: number;
  pricedAt: string;
  unpriced: string[];
  /** Models with a speed or service tier that has no known price: counted at the standard price. */
  atStandard?: string[];
}

export interface Session {
  id: string;
  tool: string;
  projectId: string;
  parentId: string | null;
  forkedFrom: string | null;
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  cwd: string | null;
  gitBranch: string | null;
  models: string[];
  startedAt: string | null;
  endedAt: string | null;
  activeMs: number;
  messageCount: number;
  subagentCount: number;
  errorCount: number;
  usage: SessionUsage;
  inheritedUsage: SessionUsage | null;
  evidence: UsageEvidence | null;
  cost: Cost | null;
  /** What the assistant itself states as the cost, in millionths of a US dollar. In no total. */
  loggedCost: number | null;
  /** Tokens that the assistant counts for the session while no record of its log holds them. In no total. */
  unlogged: TokenUsage | null;
  /** Replies that are in none of the figures, since a row has a time or a count that cannot be; null: all count. */
  figuresLeftOut: LeftOut | null;
  /** Why the adapter's figures were refused; null when they were not. The session has no tokens then. */
  figuresRefused: string | null;
  /** Other sessions, pull requests and folders that the log names. */
  links: LinkedFact[];
  /** Tags that the user gave the session in the assistant. */
  logTags: string[];
  source: { path: string; exclusive: boolean; missing: boolean; bytes: number };
  live: boolean;
  /** Name of the person whose it is: on a team's server. */
  owner?: string | undefined;
  /** Messages at the start of the text that another session counts: `messageCount` is without them. */
  copiedMessages: number;
  /** Earlier texts that are kept; `messageCount` is with what they alone have. */
  earlierTexts: number;
  partial: { skippedLines: number; pending: number; unknownTypes: Record<string, number> };
  importedAt: string;
}

/** A link of a log with the id of the session it leads to. */
export type LinkedFact =
  | { kind: "continued-in" | "derived-from"; sessionId: string }
  | Exclude<SessionLink, { kind: "continued-in" | "derived-from" }>;

/** A text that a session's log had before, of which something is missing in later ones. */
export interface EarlierText {
  /** For `version` of the messages. */
  version: number;
  messages: number;
  /** Those that no later text has. */
  ownMessages: number;
  /** When a later text took its place, as far as the archive saw it. */
  replacedAt: string;
}

interface GitState {
  branch: string | null;
  detached: boolean;
  head: string | null;
  /** Null while a long history is still being counted. */
  commitCount: number | null;
  dirty: boolean;
  ahead: number | null;
  behind: number | null;
  remote: string | null;
}

export interface Project {
  id: string;
  name: string;
  path: string | null;
  virtual: boolean;
  identity: { kind: "repository" | "folder" | "virtual"; key: string };
  aliases: string[];
  tools: string[];
  sessionCount: number;
  messageCount: number;
  subagentCount: number;
  createdAt: string;
  lastActiveAt: string | null;
  /** Ids of the virtual projects associated to this path. */
  associatedFrom: string[] | null;
  git: GitState | { timedOut: true } | null;
}

export const toParts = (row: Pick<SessionRow, "parts">): TranscriptPart[] =>
  (JSON.parse(row.parts) as [number, number, number, number, number][]).map(
    ([generation, bytes, tail, firstSeq, count]) => ({
      generation,
      bytes,
      tail,
      firstSeq,
      count,
    }),
  );

/** Messages of a transcript. */
export function lengthOf(parts: readonly TranscriptPart[]): number {
  const last = parts.at(-1);
  return last ? last.firstSeq + last.count : 0;
}

export const packParts = (parts: readonly TranscriptPart[]): string =>
  JSON.stringify(parts.map((p) => [p.generation, p.bytes, p.tail, p.firstSeq, p.count]));
