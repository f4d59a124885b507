/** A session as other plugins get it. */
import type { SessionUsage } from "sessarc";
import { plainUsage } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { type Session, type StoredSession, toParts } from "./types.ts";

/** What `Session` and the session's own row both have, under the same names. */
type OwnMembers =
  | "id"
  | "tool"
  | "projectId"
  | "parentId"
  | "name"
  | "title"
  | "firstPrompt"
  | "cwd"
  | "gitBranch"
  | "startedAt"
  | "endedAt"
  | "activeMs"
  | "messageCount"
  | "errorCount"
  | "usage"
  | "copiedMessages";

/**
 * A session as the archive stores it: the members of `Session` that its own row has, and where its messages are. Costs one row of the
 * catalogue; what other tables and services add (cost, sub-agents, whether it is live) is in `Archive.session`.
 */
export interface ArchivedSession extends Pick<Session, OwnMembers> {
  /** Its id within the assistant. */
  key: string;
  /** ms: end, else start, else the log's time. Sessions are listed by it. */
  sortAt: number;
  /** Messages of its text, with those it copied: seqs are below it. */
  length: number;
  /** Another one when the text is replaced or grows: for results made of its messages. */
  revision: string;
  /** Where the messages are; for `Archive.events` and threads that read transcripts. */
  parts: readonly TranscriptPart[];
  /** `usage` by model and price class; `plainModel` and `classOfKey` read the keys. */
  classedUsage: SessionUsage;
  source: Session["source"] & {
    /** ms. */
    mtime: number;
    /** Other files of the log. */
    companions: readonly string[];
  };
}

export function toArchived(row: StoredSession): ArchivedSession {
  const classedUsage = JSON.parse(row.usage) as SessionUsage;
  return {
    id: row.id,
    tool: row.tool,
    key: row.key,
    projectId: row.project_id,
    parentId: row.parent_id,
    name: row.name,
    title: row.title,
    firstPrompt: row.first_prompt,
    cwd: row.cwd,
    gitBranch: row.git_branch,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    sortAt: row.sort_at,
    activeMs: row.active_ms,
    messageCount: row.message_count,
    errorCount: row.error_count,
    classedUsage,
    usage: plainUsage(classedUsage),
    copiedMessages: Math.max(0, row.copied),
    length: row.length,
    revision: `${row.generation} ${row.parts}`,
    parts: toParts(row),
    source: {
      path: row.source_path,
      exclusive: row.exclusive === 1,
      missing: row.missing === 1,
      bytes: row.source_bytes,
      mtime: row.source_mtime,
      companions: row.companions === null ? [] : (JSON.parse(row.companions) as string[]),
    },
  };
}
