/** The inbox of leaked secrets on the wire. */
import type { EventKind } from "sessarc";
import type { Confidence } from "../engine.ts";
import type { Provider } from "./providers.ts";

/** `open`: not marked yet. `rotated`: revoked where it was valid. `harmless`: it never was a secret. `ignored`: it is one, and nothing will be done. */
export type LeakState = "open" | "rotated" | "harmless" | "ignored";

export interface LeakPlace {
  sessionId: string;
  /** Name of the session, masked; null: it has none. */
  title: string | null;
  /** The session's project. */
  projectId: string | null;
  /** Message that holds it first. */
  seq: number;
  field: string;
  kind: EventKind;
  /** Tool, file and command of the call; null: none. The command is masked and cut. */
  tool: string | null;
  path: string | null;
  command: string | null;
  count: number;
  /** ISO 8601 UTC; null: the log has no times. */
  firstAt: string | null;
  lastAt: string | null;
}

/** A line of a file that holds a secret now. */
export interface LeakLine {
  path: string;
  /** From 1; where the secret begins first. */
  line: number;
}

export interface Leak {
  /** Names the secret without showing it; the same in all sessions. */
  id: string;
  ruleId: string;
  rule: string;
  confidence: Confidence;
  masked: string;
  /** Null: the kind does not show who issued it. */
  provider: Provider | null;
  state: LeakState;
  sessions: number;
  /** Times it was met. */
  count: number;
  firstAt: string | null;
  lastAt: string | null;
  /** The newest place. */
  place: LeakPlace;
  /** Projects of its sessions, by name. */
  projects: { id: string; name: string }[];
  /** Files of the projects that hold it now. */
  files: string[];
  /** The same files, with the line. */
  lines: LeakLine[];
}

export interface LeakTotals {
  /** Secrets by state. */
  open: number;
  rotated: number;
  harmless: number;
  ignored: number;
  /** Sessions with an open one. */
  sessions: number;
  /** Open ones that a file of a project holds now. */
  inFiles: number;
  /** Open values that may be ids or samples: in the list only when asked for, and in no other figure. */
  possible: number;
}

/** What the figures of an answer leave out. */
export interface LeakGaps {
  /** Sessions that are not searched yet. */
  pending: number;
  /** Sessions with messages that could not be checked in time, or with more secrets than are kept. */
  unchecked: number;
}

export interface LeakPage extends LeakGaps {
  leaks: Leak[];
  totals: LeakTotals;
  /** Null on the last page. */
  nextCursor: string | null;
}

export interface LeakGroup {
  /** Rule or project. */
  id: string;
  name: string;
  /** Of a kind; null: unknown, or the group is a project. */
  provider: Provider | null;
  /** Secrets of the state asked for. A secret of two projects is in both groups. */
  secrets: number;
  /** Sessions that hold one of them. */
  sessions: number;
  /** Secrets of it that a file of a project holds now. */
  inFiles: number;
  /** Names of the projects that its secrets are in. */
  projects: string[];
  /** Names of the providers of its secrets, where they are known. */
  providers: string[];
  firstAt: string | null;
  lastAt: string | null;
}

export interface LeakGroups extends LeakGaps {
  /** Those with a secret that a file holds now first, then those with the most secrets. */
  groups: LeakGroup[];
  totals: LeakTotals;
}

export interface LeakCount {
  /** Open secrets, as `totals.open` of the list. */
  open: number;
  /** Sessions with an open one. */
  sessions: number;
  /** Sessions that are not searched yet. */
  pending: number;
}

export interface LeakCommits {
  /** Newest first. */
  commits: { projectId: string; hash: string; at: string; path: string }[];
  /** A history was too long to be searched as a whole, or a repository could not be read. */
  partial: boolean;
}

/** Which secrets. */
export interface LeakFilter {
  id?: string | undefined;
  state?: LeakState | "all" | undefined;
  session?: string | undefined;
  /** Id of the rule that found it. */
  kind?: string | undefined;
  project?: string | undefined;
  /** Also values that may be ids or samples. */
  possible?: boolean | undefined;
}

export interface LeakMarking {
  state: LeakState;
  ids: readonly string[];
  /** All open secrets of these rules and of these projects. */
  kinds: readonly string[];
  projects: readonly string[];
  /** Of `kinds` and `projects`: also values that may be ids or samples. */
  possible?: boolean | undefined;
}

export interface LeakMarks {
  /** The secrets whose state changed, with the one they had. */
  marked: { id: string; from: LeakState }[];
}
