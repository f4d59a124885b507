/** From an imported session to statements: whole replacement, keeping what the user set. */
import type { Database, SessionUsage, SqlValue, Statement } from "sessarc";
import type { SessionFacts, SessionRow } from "../types.ts";
import { packParts } from "../types.ts";
import type { ImportedSession } from "./job.ts";
import { type Move, moveReplies, type PackedReplies, toPairs } from "./replies.ts";
import { type Found, versionOf } from "./scan.ts";

const COLUMNS = [
  "id",
  "tool",
  "key",
  "origin_id",
  "project_id",
  "parent_id",
  "forked_from",
  "title",
  "first_prompt",
  "cwd",
  "git_branch",
  "started_at",
  "ended_at",
  "sort_at",
  "active_ms",
  "message_count",
  "error_count",
  "usage",
  "inherited",
  "evidence",
  "facts",
  "skipped",
  "source_path",
  "source_version",
  "source_bytes",
  "source_mtime",
  "source_born",
  "exclusive",
  "companions",
  "missing",
  "generation",
  "parts",
  "has_cursor",
  "imported_at",
] as const satisfies readonly (keyof SessionRow)[];

/** `name` is not among the columns: a rename survives. */
const UPSERT = `insert into session (${COLUMNS.join(", ")}) values (${COLUMNS.map(() => "?").join(", ")})
  on conflict (id) do update set ${COLUMNS.filter((c) => c !== "id")
    .map((c) => `${c} = excluded.${c}`)
    .join(", ")}`;

export function upsert(
  session: ImportedSession,
  found: Found,
  generation: number,
  originId: string,
  projectId: string,
): Statement {
  const { ref } = found;
  const { summary } = session;
  const sortAt = Date.parse(session.endedAt ?? session.startedAt ?? "");
  const row: Record<(typeof COLUMNS)[number], SqlValue> = {
    id: session.id,
    tool: ref.tool,
    key: ref.key,
    origin_id: originId,
    project_id: projectId,
    parent_id: idOf(ref.tool, summary.parent ?? ref.parent),
    forked_from: idOf(ref.tool, summary.forkedFrom),
    title: summary.title ?? null,
    first_prompt: session.firstPrompt,
    cwd: summary.cwd ?? null,
    git_branch: summary.gitBranch ?? null,
    started_at: session.startedAt,
    ended_at: session.endedAt,
    sort_at: Math.round(Number.isNaN(sortAt) ? (ref.mtime ?? 0) : sortAt),
    active_ms: session.activeMs,
    message_count: session.messageCount,
    error_count: session.errorCount,
    usage: JSON.stringify(summary.usage),
    inherited: jsonOrNull(summary.inheritedUsage),
    evidence: jsonOrNull(summary.evidence),
    facts: JSON.stringify(session.facts),
    skipped:
      summary.skipped &&
      (summary.skipped.lines || summary.skipped.pending || Object.keys(summary.skipped.unknown).length)
        ? JSON.stringify(summary.skipped)
        : null,
    source_path: ref.path,
    source_version: versionOf(ref),
    source_bytes: ref.size ?? 0,
    source_mtime: Math.round(ref.mtime ?? 0),
    source_born: session.born,
    exclusive: ref.exclusive ? 1 : 0,
    companions: ref.companions?.length ? JSON.stringify(ref.companions) : null,
    missing: 0,
    generation,
    parts: packParts(session.part ? [session.part] : []),
    has_cursor: 0,
    imported_at: new Date().toISOString(),
  };
  return [UPSERT, COLUMNS.map((column) => row[column])];
}

const UPSERT_REPLIES =
  "insert into session_replies (session_id, tool, born, hashes) values (?, ?, ?, ?) on conflict (session_id) do update set born = excluded.born, hashes = excluded.hashes";

export function upsertReplies(id: string, tool: string, born: number, replies: PackedReplies): Statement {
  return [UPSERT_REPLIES, [id, tool, born, new Uint8Array(toPairs(replies).buffer)]];
}

/** Takes replies that belong to an older session out of a session that was just read. */
export function disown(session: ImportedSession, replies: PackedReplies, moves: readonly Move[]): void {
  if (moves.length === 0) return;
  const inherited = session.summary.inheritedUsage ?? {};
  moveReplies(replies, moves, session.summary.usage, inherited, session.facts.slots);
  session.summary.inheritedUsage = inherited;
  shift(session.summary.evidence, moves.length);
}

/** The same for a session that is already stored, when its parent arrives after it. */
export async function disownStored(
  db: Database,
  id: string,
  replies: PackedReplies,
  moves: readonly Move[],
): Promise<Statement[]> {
  const row = await db.get<Pick<SessionRow, "usage" | "inherited" | "evidence" | "facts">>(
    "select usage, inherited, evidence, facts from session where id = ?",
    [id],
  );
  if (!row) return [];
  const usage = JSON.parse(row.usage) as SessionUsage;
  const inherited = JSON.parse(row.inherited ?? "{}") as SessionUsage;
  const facts = JSON.parse(row.facts) as SessionFacts;
  const evidence = row.evidence === null ? undefined : JSON.parse(row.evidence);
  moveReplies(replies, moves, usage, inherited, facts.slots);
  shift(evidence, moves.length);
  return [
    [
      "update session set usage = ?, inherited = ?, evidence = ?, facts = ? where id = ?",
      [
        JSON.stringify(usage),
        JSON.stringify(inherited),
        evidence ? JSON.stringify(evidence) : null,
        JSON.stringify(facts),
        id,
      ],
    ],
  ];
}

function shift(evidence: { requests: number; inheritedExcluded: number } | undefined, count: number): void {
  if (!evidence) return;
  evidence.requests -= count;
  evidence.inheritedExcluded += count;
}

const idOf = (tool: string, key: string | undefined) => (key === undefined ? null : `${tool}:${key}`);
const jsonOrNull = (value: object | undefined) =>
  value && Object.keys(value).length > 0 ? JSON.stringify(value) : null;
