/** Sessions as lists answer them: their columns, and the resource made of a row. */
import type { SessionLink, SessionUsage } from "sessarc";
import { plainUsage } from "sessarc/adapter";
import type { Cost, LinkedFact, LoggedFacts, Session, SessionRow } from "./types.ts";

/** Written less than this ago, a log counts as live. */
export const LIVE_MS = 120_000;

/** And the session itself must have moved this lately. */
export const RECENT_MS = 900_000;

/**
 * A log that is written to now, and the session in it: a shared store is written for any of its sessions. Where the session's time is its file's,
 * a log that was copied in looks as new as one that is written: that one is live once the archive has seen it grow.
 */
function isLive({ missing, source_mtime, sort_at, ended_at, generation }: Pick<SessionRow, LiveColumn>): boolean {
  const now = Date.now();
  const isWritten = missing === 0 && now - source_mtime < LIVE_MS && now - sort_at < RECENT_MS;
  return isWritten && (generation > 1 || (ended_at !== null && Math.abs(sort_at - source_mtime) > SAME_MS));
}
type LiveColumn = "missing" | "source_mtime" | "sort_at" | "ended_at" | "generation";

/** A time that some adapters take from the file, after rounding. */
const SAME_MS = 1;

/** The same as a condition of SQL: `?` is the earliest time of a write, then that of a session. */
export const IS_LIVE = `source_mtime > ? and sort_at > ? and missing = 0
  and (generation > 1 or (ended_at is not null and abs(sort_at - source_mtime) > ${SAME_MS}))`;

/** Columns of a session in a listing. */
export const LISTED =
  "id, tool, key, origin_id, project_id, parent_id, forked_from, name, title, first_prompt, cwd, git_branch, started_at, ended_at, sort_at, " +
  "active_ms, message_count, error_count, usage, inherited, evidence, logged, skipped, source_path, source_bytes, source_mtime, exclusive, missing, generation, " +
  "imported_at, copied, (select count(*) from session c where c.parent_id = session.id) as subagents, " +
  "(select count(*) from earlier e where e.session_id = session.id) as earlier";

export type ListedRow = Omit<SessionRow, "source_version" | "source_born" | "companions" | "parts" | "format"> & {
  subagents: number;
  earlier: number;
};

/** The resource made of a row. */
export function toSession(row: ListedRow, cost: Cost | null): Session {
  const usage = plainUsage(JSON.parse(row.usage) as SessionUsage);
  const skipped = row.skipped === null ? null : (JSON.parse(row.skipped) as Skipped);
  const logged = row.logged === null ? {} : (JSON.parse(row.logged) as LoggedFacts);
  return {
    id: row.id,
    tool: row.tool,
    projectId: row.project_id,
    parentId: row.parent_id,
    // A sub-agent that goes on with its parent's talk is no fork of it.
    forkedFrom: row.forked_from === row.parent_id ? null : row.forked_from,
    name: row.name,
    title: row.title,
    firstPrompt: row.first_prompt,
    cwd: row.cwd,
    gitBranch: row.git_branch,
    models: Object.keys(usage),
    startedAt: row.started_at,
    endedAt: row.ended_at,
    activeMs: row.active_ms,
    messageCount: row.message_count,
    subagentCount: row.subagents,
    errorCount: row.error_count,
    usage,
    inheritedUsage: row.inherited === null ? null : plainUsage(JSON.parse(row.inherited) as SessionUsage),
    evidence: row.evidence === null ? null : (JSON.parse(row.evidence) as Session["evidence"]),
    cost,
    loggedCost: logged.costUSD === undefined ? null : Math.round(logged.costUSD * 1_000_000),
    unlogged: logged.unlogged ?? null,
    figuresLeftOut: logged.leftOut ?? null,
    figuresRefused: logged.refused ?? null,
    links: (logged.links ?? []).map((link) => toLinked(row.tool, link)),
    logTags: logged.tags ?? [],
    source: {
      path: row.source_path,
      exclusive: row.exclusive === 1,
      missing: row.missing === 1,
      bytes: row.source_bytes,
    },
    live: isLive(row),
    copiedMessages: Math.max(0, row.copied),
    earlierTexts: row.earlier,
    partial: {
      skippedLines: skipped?.lines ?? 0,
      pending: skipped?.pending ?? 0,
      unknownTypes: skipped?.unknown ?? {},
    },
    importedAt: row.imported_at,
  };
}

function toLinked(tool: string, link: SessionLink): LinkedFact {
  return "key" in link ? { kind: link.kind, sessionId: `${tool}:${link.key}` } : link;
}

interface Skipped {
  lines: number;
  pending?: number;
  unknown: Record<string, number>;
}
