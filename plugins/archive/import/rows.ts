/** From an imported session to statements: whole replacement, keeping what the user set. */
import { type SqlValue, type Statement, versionNumbers } from "sessarc";
import { countsAt } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { NEVER, packParts, type SessionRow, toParts } from "../catalogue/types.ts";
import { type FoundLog, toVersion } from "../places/scan.ts";
import { toLogged } from "./logged.ts";
import { COMPARE, FORK_ENDED, LINK, LINKED, OPEN, ORIGIN_ENDED, UNKNOWN } from "./origin.ts";
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
  "logged",
  "remembered",
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
  "transcript_bytes",
  "assistant_version",
  "imported_at",
  "format",
  "copied",
  "lineage",
  "left_out",
] as const satisfies readonly (keyof SessionRow)[];

function valueFor(column: (typeof COLUMNS)[number], index: number): string {
  if (column !== "project_id") return `?${index + 1}`;
  // Looked up as it is stored: the project may have been associated since the log was read.
  const origin = COLUMNS.indexOf("origin_id") + 1;
  return `coalesce((select project_id from association where virtual_id = ?${origin}), ?${index + 1})`;
}

/** `name` is not among the columns: a rename survives. */
const UPSERT = `insert into session (${COLUMNS.join(", ")}) values (${COLUMNS.map(valueFor).join(", ")})
  on conflict (id) do update set ${COLUMNS.filter((c) => c !== "id")
    .map((c) => `${c} = excluded.${c}${c === "lineage" ? ` | (session.lineage & ${OPEN})` : ""}`)
    .join(", ")}`;

/** Where the session goes and what is there already. */
interface RowPlace {
  found: FoundLog;
  originId: string;
  generation: number;
  /** The stored session, when this one was appended to it. */
  past: SessionRow | null;
  /** The stored session, when some of what it says stays beside what was read. */
  before: SessionRow | null;
  /** Others have replies of it, too. */
  shares: boolean;
}

/** Of what is remembered, as JSON. */
const REMEMBERED_CHARS = 32_768;

/** Grows when sessions are counted another way: then each log is read once more. */
export const COUNTED = 4;

/** A row to store. */
type NewRow = Record<(typeof COLUMNS)[number], SqlValue> &
  Pick<SessionRow, "id" | "parent_id" | "usage" | "evidence" | "message_count" | "error_count" | "sort_at">;

export function toRow(
  session: ImportedSession,
  { found, originId, generation, past, before, shares }: RowPlace,
): NewRow {
  const { ref } = found;
  const { summary, earlier } = session;
  const stored = past ?? before;
  const endedAt = latest(stored?.ended_at, session.endedAt);
  const startedAt = earliest(stored?.started_at, session.startedAt);
  const parentId = findId(ref.tool, summary.parent ?? ref.parent) ?? stored?.parent_id ?? null;
  const forkedFrom = findId(ref.tool, summary.forkedFrom) ?? stored?.forked_from ?? null;
  const inherited = jsonOrNull(summary.inheritedUsage);
  const linked = summary.forkedFrom === undefined && forkedFrom !== null ? (stored?.lineage ?? 0) & LINKED : 0;
  const again =
    past &&
    past.copied >= 0 &&
    ((past.lineage & FORK_ENDED) !== 0 || (past.copied > 0 && forkedFrom !== past.forked_from));
  const parts = [
    ...(past ? toParts(past).slice(0, toParts(past).length - session.folded) : []),
    ...(session.part ? [session.part] : []),
  ];
  const sortAt = Date.parse(endedAt ?? startedAt ?? "");
  return {
    id: session.id,
    tool: ref.tool,
    key: ref.key,
    origin_id: originId,
    project_id: originId,
    parent_id: parentId,
    forked_from: forkedFrom,
    title: summary.title ?? stored?.title ?? null,
    first_prompt: stored?.first_prompt ?? session.firstPrompt,
    cwd: summary.cwd ?? stored?.cwd ?? null,
    git_branch: summary.gitBranch ?? stored?.git_branch ?? null,
    started_at: startedAt,
    ended_at: endedAt,
    sort_at: Math.round(Number.isNaN(sortAt) ? (ref.mtime ?? 0) : sortAt),
    active_ms: (past?.active_ms ?? 0) + session.activeMs,
    message_count: earlier.reduce((sum, text) => sum + text.count, (past?.message_count ?? 0) + session.messageCount),
    error_count: earlier.reduce((sum, text) => sum + text.errorCount, (past?.error_count ?? 0) + session.errorCount),
    usage: JSON.stringify(summary.usage),
    inherited,
    evidence: jsonOrNull(summary.evidence),
    logged: jsonOrNull(toLogged(summary)),
    remembered: toRemembered(summary),
    skipped: findSkipped(session),
    source_path: ref.path,
    source_version: toVersion(ref),
    source_bytes: ref.size ?? 0,
    source_mtime: Math.round(ref.mtime ?? 0),
    source_born: session.born,
    exclusive: ref.exclusive ? 1 : 0,
    companions: ref.companions?.length ? JSON.stringify(ref.companions) : null,
    missing: 0,
    generation,
    parts: packParts(parts),
    transcript_bytes: bytesIn(parts),
    assistant_version: versionNumbers(summary.assistantVersion ?? "")
      ? (summary.assistantVersion ?? null)
      : (stored?.assistant_version ?? null),
    imported_at: new Date().toISOString(),
    format: COUNTED,
    copied: past && (past.forked_from !== null || past.copied > 0) ? past.copied : forkedFrom !== null ? UNKNOWN : 0,
    left_out: findDue(summary),
    lineage:
      linked | (past ? past.lineage & (FORK_ENDED | ORIGIN_ENDED) : 0) | (again ? COMPARE : 0) | (shares ? LINK : 0),
  };
}

/** When more of the log counts, or belongs to it; `NEVER` where something is left out for good, null where nothing is. */
function findDue({ leftOut, refused, restsAt }: ImportedSession["summary"]): number | null {
  const due = leftOut ? (countsAt(leftOut) ?? NEVER) : refused === undefined ? null : NEVER;
  return restsAt === undefined ? due : Math.min(due ?? NEVER, restsAt);
}

export const upsert = (row: NewRow): Statement => [UPSERT, COLUMNS.map((column) => row[column])];

/** The earlier texts as they are from now on, and those stored until now gone. */
export function replaceEarlier({ id, earlier }: ImportedSession, keptAt: ReadonlyMap<number, string>): Statement[] {
  const now = new Date().toISOString();
  return [
    ["delete from earlier where session_id = ?", [id]],
    ...earlier.map(
      ({ version, parts, own, names, count }): Statement => [
        "insert into earlier (session_id, version, parts, transcript_bytes, own, names, own_count, kept_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
          id,
          version,
          packParts(parts),
          bytesIn(parts),
          JSON.stringify(own),
          toBytes(names),
          count,
          keptAt.get(version) ?? now,
        ],
      ],
    ),
  ];
}

export const bytesIn = (parts: readonly TranscriptPart[]) => parts.reduce((sum, { bytes }) => sum + bytes, 0);
function toRemembered({ remembered }: ImportedSession["summary"]): string | null {
  const json = remembered === undefined ? null : JSON.stringify(remembered);
  return json !== null && json.length <= REMEMBERED_CHARS ? json : null;
}

const toBytes = ({ buffer, byteOffset, byteLength }: Float64Array) => new Uint8Array(buffer, byteOffset, byteLength);

function findSkipped({ summary: { skipped } }: ImportedSession): string | null {
  if (!skipped) return null;
  const clean = skipped.lines === 0 && !skipped.pending && Object.keys(skipped.unknown).length === 0;
  return clean ? null : JSON.stringify(skipped);
}

const earliest = (a: string | null | undefined, b: string | null) => (a && b ? (a < b ? a : b) : (a ?? b));
const latest = (a: string | null | undefined, b: string | null) => (a && b ? (a > b ? a : b) : (a ?? b));

const findId = (tool: string, key: string | undefined) => (key === undefined ? null : `${tool}:${key}`);
export const jsonOrNull = (value: object | undefined) =>
  value && Object.keys(value).length > 0 ? JSON.stringify(value) : null;
