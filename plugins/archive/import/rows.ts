/** From an imported session to statements: whole replacement, keeping what the user set. */
import type { Database, SessionUsage, SqlValue, Statement, UsageEvidence } from "sessarc";
import { packParts, partsOf, type SessionFacts, type SessionRow } from "../catalogue/types.ts";
import { type Found, versionOf } from "../places/scan.ts";
import { applyMoved, type Move, moveReplies, type PackedReplies, toPairs } from "./replies.ts";
import type { ImportedSession } from "./types.ts";

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

function valueFor(column: (typeof COLUMNS)[number], index: number): string {
  if (column === "facts") return `cast(?${index + 1} as text)`;
  if (column !== "project_id") return `?${index + 1}`;
  // Looked up as it is stored: the project may have been associated since the log was read.
  const origin = COLUMNS.indexOf("origin_id") + 1;
  return `coalesce((select project_id from association where virtual_id = ?${origin}), ?${index + 1})`;
}

/** `name` is not among the columns: a rename survives. */
const UPSERT = `insert into session (${COLUMNS.join(", ")}) values (${COLUMNS.map(valueFor).join(", ")})
  on conflict (id) do update set ${COLUMNS.filter((c) => c !== "id")
    .map((c) => `${c} = excluded.${c}`)
    .join(", ")}`;

/** Where the session goes and what is there already. */
export interface Place {
  found: Found;
  originId: string;
  generation: number;
  /** The stored session, when this one was appended to it. */
  past: SessionRow | null;
}

export function upsert(session: ImportedSession, { found, originId, generation, past }: Place): Statement {
  const { ref } = found;
  const { summary } = session;
  const endedAt = latest(past?.ended_at, session.endedAt);
  const startedAt = earliest(past?.started_at, session.startedAt);
  const sortAt = Date.parse(endedAt ?? startedAt ?? "");
  const row: Record<(typeof COLUMNS)[number], SqlValue> = {
    id: session.id,
    tool: ref.tool,
    key: ref.key,
    origin_id: originId,
    project_id: originId,
    parent_id: idOf(ref.tool, summary.parent ?? ref.parent),
    forked_from: idOf(ref.tool, summary.forkedFrom),
    title: summary.title ?? null,
    first_prompt: past?.first_prompt ?? session.firstPrompt,
    cwd: summary.cwd ?? null,
    git_branch: summary.gitBranch ?? null,
    started_at: startedAt,
    ended_at: endedAt,
    sort_at: Math.round(Number.isNaN(sortAt) ? (ref.mtime ?? 0) : sortAt),
    active_ms: (past?.active_ms ?? 0) + session.activeMs,
    message_count: (past?.message_count ?? 0) + session.messageCount,
    error_count: (past?.error_count ?? 0) + session.errorCount,
    usage: JSON.stringify(summary.usage),
    inherited: jsonOrNull(summary.inheritedUsage),
    evidence: jsonOrNull(summary.evidence),
    // Bytes: a long text costs sql.js thirty times as much to bind.
    facts: Buffer.from(JSON.stringify(session.facts)),
    skipped: skippedOf(session),
    source_path: ref.path,
    source_version: versionOf(ref),
    source_bytes: ref.size ?? 0,
    source_mtime: Math.round(ref.mtime ?? 0),
    source_born: session.born,
    exclusive: ref.exclusive ? 1 : 0,
    companions: ref.companions?.length ? JSON.stringify(ref.companions) : null,
    missing: 0,
    generation,
    parts: packParts([
      ...(past ? partsOf(past).slice(0, partsOf(past).length - session.folded) : []),
      ...(session.part ? [session.part] : []),
    ]),
    has_cursor: session.hasCursor ? generation : 0,
    imported_at: new Date().toISOString(),
  };
  return [UPSERT, COLUMNS.map((column) => row[column])];
}

function skippedOf({ summary: { skipped } }: ImportedSession): string | null {
  if (!skipped) return null;
  const clean = skipped.lines === 0 && !skipped.pending && Object.keys(skipped.unknown).length === 0;
  return clean ? null : JSON.stringify(skipped);
}

const earliest = (a: string | null | undefined, b: string | null) => (a && b ? (a < b ? a : b) : (a ?? b));
const latest = (a: string | null | undefined, b: string | null) => (a && b ? (a > b ? a : b) : (a ?? b));

const UPSERT_REPLIES =
  "insert into session_replies (session_id, tool, born, hashes) values (?, ?, ?, ?) on conflict (session_id) do update set born = excluded.born, hashes = excluded.hashes";

/** `past`: pairs stored before, kept in front of those of an appended part. */
export function upsertReplies(
  id: string,
  tool: string,
  born: number,
  replies: PackedReplies,
  past?: Float64Array,
): Statement {
  const pairs = toPairs(replies);
  const all = new Float64Array((past?.length ?? 0) + pairs.length);
  if (past) all.set(past);
  all.set(pairs, past?.length ?? 0);
  return [UPSERT_REPLIES, [id, tool, born, new Uint8Array(all.buffer)]];
}

/** Takes replies that belong to another session out of a session that was just read. */
export function disown(session: ImportedSession, replies: PackedReplies, moves: readonly Move[]): void {
  const { summary, facts } = session;
  summary.inheritedUsage ??= {};
  moveReplies(replies, moves, {
    usage: summary.usage,
    inherited: summary.inheritedUsage,
    evidence: summary.evidence,
    facts,
  });
}

/** What was moved out of an appended session before: its log's sums, counted anew, hold it again. */
export function disownAgain({ summary, facts }: ImportedSession): void {
  if (!facts.moved) return;
  summary.inheritedUsage ??= {};
  applyMoved(facts.moved, {
    usage: summary.usage,
    inherited: summary.inheritedUsage,
    evidence: summary.evidence,
    facts,
  });
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
  const evidence = row.evidence === null ? undefined : (JSON.parse(row.evidence) as UsageEvidence);
  moveReplies(replies, moves, { usage, inherited, evidence, facts });
  return [
    [
      "update session set usage = ?, inherited = ?, evidence = ?, facts = ? where id = ?",
      [JSON.stringify(usage), JSON.stringify(inherited), jsonOrNull(evidence), JSON.stringify(facts), id],
    ],
  ];
}

const idOf = (tool: string, key: string | undefined) => (key === undefined ? null : `${tool}:${key}`);
const jsonOrNull = (value: object | undefined) =>
  value && Object.keys(value).length > 0 ? JSON.stringify(value) : null;
