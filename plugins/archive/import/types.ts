/** What the run and the workers hand each other: plain data, since it crosses threads. */

import type { IndexRows, SessionRef, SessionSummary } from "sessarc";
import type { AdapterEnv, AdapterFolders, ToolRole } from "sessarc/adapter";
import type { TranscriptOptions, TranscriptPart } from "sessarc/storage";
import type { SessionFacts } from "../catalogue/types.ts";
import type { PackedReplies } from "../counting/replies.ts";
import type { SessionMask } from "./masked.ts";

export interface ImportJob {
  /** Module of the adapter's factory and its options; unused when the adapter is passed directly. */
  adapter: AdapterSource | null;
  env: AdapterEnv;
  store: TranscriptOptions;
  sessions: JobSession[];
  indexers: JobIndexer[];
  /** One integer that both threads see: once it is not 0, nothing is begun and what is being read is given up. */
  stop: SharedArrayBuffer;
}

/** Stored sessions to index. */
export interface IndexJob {
  store: TranscriptOptions;
  indexers: JobIndexer[];
  /** Roles of the tools of each assistant in `sessions`. */
  roles: Readonly<Record<string, Readonly<Record<string, ToolRole>>>>;
  sessions: IndexedStored[];
}

interface IndexedStored {
  id: string;
  tool: string;
  parts: TranscriptPart[];
  /** Names of the indexers that have not read it. */
  indexers: string[];
}

export interface AdapterSource {
  specifier: string;
  options?: unknown;
  /** Places it reads beside or instead of its own. */
  folders?: AdapterFolders | undefined;
}

/** An indexer as a worker loads it. */
export interface JobIndexer {
  name: string;
  version: number;
  module: string;
  tables: readonly string[];
  /** It reads the job's sessions after the import. */
  later: boolean;
}

/** What an indexer made of a session. */
export interface Indexed {
  indexer: string;
  version: number;
  rows: IndexRows;
  /** Why there are no rows; null where it worked. */
  error: string | null;
  /** It is what the stored text has. */
  isSame: boolean;
}

export interface JobSession {
  id: string;
  ref: SessionRef;
  /** Of the part to write. */
  generation: number;
  /** What is stored already, when the log may be open. */
  past: StoredSession | null;
  /** Texts that are stored, newest first: what the log no longer says of them is kept. */
  stored: StoredText[];
  /** What was removed from it. */
  mask?: SessionMask | undefined;
}

/** A text of a session as its log had it once. */
export interface StoredText {
  /** Generation of the session while this was its text. */
  version: number;
  parts: TranscriptPart[];
}

/** One that has messages no later text has. */
export interface EarlierText extends StoredText {
  /** seqs of those messages, as [from, to). */
  own: [from: number, to: number][];
  /** Names of those messages, see identity.ts. */
  names: Float64Array;
  /** How many they are, and how many of them failed calls. */
  count: number;
  errorCount: number;
  /** Of them alone. */
  facts: SessionFacts;
}

export interface StoredSession {
  generation: number;
  /** Messages of the text. */
  length: number;
  /** Undefined where they are those of the open log. */
  facts: SessionFacts | undefined;
  /** Last parts of the transcript that go into the new part, so that there are never many. */
  fold: TranscriptPart[];
  /** Names of the messages that only earlier texts have: one that comes again is no longer theirs. */
  earlier: Float64Array;
}

export interface ImportedSession {
  id: string;
  summary: Omit<SessionSummary, "replies" | "slots">;
  facts: SessionFacts;
  firstPrompt: string | null;
  activeMs: number;
  errorCount: number;
  messageCount: number;
  startedAt: string | null;
  endedAt: string | null;
  part: TranscriptPart | null;
  /** How many of the stored session's last parts `part` holds too. */
  folded: number;
  replies: PackedReplies | null;
  /** Newest first. Empty when this was appended: then they are as they were. */
  earlier: EarlierText[];
  /** True when this is what was added to the stored session, and not all of it. */
  appended: boolean;
  /** Its log stays open. */
  isOpen: boolean;
  indexed: Indexed[];
  /** Bytes of the log that were read. */
  bytesRead: number;
  /** Birth time of the log in ms: the older of two copies owns what both hold. */
  born: number;
}

export type JobResult =
  | { ok: true; session: ImportedSession }
  | { ok: false; id: string; code: string; message: string };

/** Told after each committed group: sessions that were stored, and others whose rows changed with them. */
export type OnCommit = (stored: readonly string[], others?: readonly string[]) => void;
