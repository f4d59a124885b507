/**
 * The database: which sessions it holds. Version 2 keeps its sessions in `session_v2` and `session_message` and leaves the tables of
 * version 1 as they were, where an older client may go on with a session. Only these tables, `message`, `part`, `project` and
 * `model_usage` are ever read; account, control_account, credential and session_share hold secrets.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseRecord, type SqlValue, toNumber, toText } from "sessarc";
import { type DatabaseSession, presentColumns, type SqliteFile } from "sessarc/adapter";
import type { SessionRow } from "./types.ts";

type Raw = Record<string, unknown>;

/** Rows of one read: about 10 ms for a table with long contents. */
const SLICE_ROWS = 15_000;

/** Where a session's rows are. */
export interface Tables {
  session: "session" | "session_v2";
  /** Each with a session's id and a time of its last change. */
  rows: readonly RowTable[];
}
type RowTable = "message" | "part" | "session_message" | "model_usage";

const VERSION_1: Tables = { session: "session", rows: ["message", "part"] };
/** ZCode's: a row for each request. */
const REQUESTS: Tables = { session: "session", rows: ["message", "part", "model_usage"] };
export const VERSION_2: Tables = { session: "session_v2", rows: ["session_message"] };

/** Of one database, the tables of each version that it has, the newest first. */
export function toTables(db: SqliteFile): Tables[] {
  const names = new Set(db.tables());
  return [VERSION_2, names.has("model_usage") ? REQUESTS : VERSION_1].filter(
    ({ session, rows: [messages] }) => names.has(session) && names.has(messages ?? ""),
  );
}

/** Every session with its change token. One pass over the rows' times, in batches, none over their contents. */
export async function listSessions(db: SqliteFile): Promise<DatabaseSession[]> {
  const found = new Map<string, DatabaseSession>();
  const foreign = importedSessions(db);
  let moved = new Map<string, Activity>();
  for (const tables of toTables(db)) {
    const all: Map<string, Activity>[] = [];
    for (const table of tables.rows) all.push(await activities(db, table));
    for (const row of sessionRows(db, tables)) {
      const id = toText(row.id);
      if (id === undefined || foreign.has(id)) continue;
      const rows = all.map((one) => one.get(id));
      const known = found.get(id);
      // Its messages were moved, and its own row was not.
      const stray = known ? undefined : moved.get(id);
      found.set(id, withCopy(known, toListed(toSession(row, id), tables, stray ? [...rows, stray] : rows)));
    }
    if (tables === VERSION_2) moved = all[0] ?? moved;
  }
  return [...found.values()];
}

/** One session as `listSessions` lists it; empty when there is no such session. */
export function listSession(db: SqliteFile, id: string): DatabaseSession[] {
  let found: DatabaseSession | undefined;
  let stray: Activity | undefined;
  for (const tables of toTables(db)) {
    const [row] = sessionRows(db, tables, id);
    const own = (table: RowTable) => activity(db, table, "session_id = ?", [id]).get(id);
    const rows = tables.rows.map(own);
    if (row) found = withCopy(found, toListed(toSession(row, id), tables, found || !stray ? rows : [...rows, stray]));
    else if (tables === VERSION_2) stray = rows[0];
  }
  return found ? [found] : [];
}

/** A session that is held twice changes when either copy does. */
export function withCopy<T extends { version?: string | undefined; mtime?: number | undefined }>(
  one: T | undefined,
  other: T,
): T {
  if (!one) return other;
  return {
    ...one,
    version: `${one.version}+${other.version}`,
    mtime: Math.max(one.mtime ?? 0, other.mtime ?? 0) || undefined,
  };
}

function toListed(session: SessionRow, tables: Tables, rows: readonly (Activity | undefined)[]): DatabaseSession {
  const figures = rows.map((one) => (one ? `${one.count}.${one.latest}.${one.sum}` : "0"));
  return {
    key: session.id,
    title: session.title,
    cwd: session.directory,
    parent: session.parent,
    mtime: Math.max(session.updatedAt ?? 0, ...rows.map((one) => one?.latest ?? 0)) || undefined,
    version: [tables === VERSION_2 ? "db2" : "db", session.updatedAt ?? 0, session.revertedFrom ?? "", ...figures].join(
      "-",
    ),
  };
}

/** Sessions that MiMo imported from other assistants: those are read from their own logs. */
function importedSessions(db: SqliteFile): Set<string> {
  const ids = new Set<string>();
  for (const table of ["external_import", "claude_import"]) {
    if (presentColumns(db, table, ["session_id"]).length === 0) continue;
    for (const { id } of db.all<Raw>(`select session_id as id from ${table}`)) ids.add(toText(id) ?? "");
  }
  return ids;
}

export const toColumns = (db: SqliteFile, table: string) => new Set(db.columns(table));

const SESSION_COLUMNS = [
  "id",
  "project_id",
  "parent_id",
  "directory",
  "title",
  "version",
  "revert",
  "time_created",
  "time_updated",
  "fork_session_id",
  "tokens_input",
  "tokens_output",
  "tokens_reasoning",
  "tokens_cache_read",
  "tokens_cache_write",
];

/** Older databases lack columns: only those present are named. */
export function sessionRows(db: SqliteFile, { session: table }: Tables, id?: string): Raw[] {
  const present = toColumns(db, table);
  if (!present.has("id")) return [];
  const columns = SESSION_COLUMNS.filter((name) => present.has(name)).join(", ");
  if (id !== undefined) return db.all<Raw>(`select ${columns} from ${table} where id = ?`, [id]);
  return db.all<Raw>(
    `select ${columns} from ${table} order by ${present.has("time_created") ? "time_created, " : ""}id`,
  );
}

export function toSession(row: Raw, id: string): SessionRow {
  return {
    id,
    parent: toText(row.parent_id),
    title: toText(row.title),
    directory: toText(row.directory),
    version: toText(row.version),
    createdAt: toNumber(row.time_created),
    updatedAt: toNumber(row.time_updated),
    revertedFrom: toText(parseRecord(row.revert)?.messageID),
    forkedFrom: toText(row.fork_session_id),
  };
}

interface Activity {
  count: number;
  latest: number;
  sum: number;
}

/**
 * Rows and their times of edit, per session. A deletion does not move the maximum: hence the count; an edit behind a clock set
 * back moves only the sum. Its parts are small, so that the sum is exact (below 2^53) in whatever order they are added.
 */
function activity(db: SqliteFile, table: RowTable, where: string, params: readonly SqlValue[]): Map<string, Activity> {
  const found = new Map<string, Activity>();
  const columns = toColumns(db, table);
  if (!columns.has("session_id")) return found;
  const time = ["time_updated", "time_created", "completed_at"].find((name) => columns.has(name)) ?? "0";
  const rows = db.all<Raw>(
    `select session_id as id, count(*) as n, max(${time}) as latest, total(${time} % 4294967296) as sum from ${table} where ${where} group by session_id`,
    params,
  );
  for (const row of rows) {
    const key = toText(row.id);
    if (key === undefined) continue;
    found.set(key, { count: toNumber(row.n) ?? 0, latest: toNumber(row.latest) ?? 0, sum: toNumber(row.sum) ?? 0 });
  }
  return found;
}

/** Of all sessions, a slice of the table at a time. */
async function activities(db: SqliteFile, table: RowTable): Promise<Map<string, Activity>> {
  const [made] = db.all<{ sql: unknown }>("select sql from sqlite_master where name = ?", [table]);
  if (typeof made?.sql !== "string" || !made.sql.startsWith("CREATE TABLE") || /without\s+rowid/i.test(made.sql))
    return activity(db, table, "true", []);
  const all = new Map<string, Activity>();
  const end = `select max(rowid) as last from (select rowid from ${table} where rowid > ? order by rowid limit ${SLICE_ROWS})`;
  for (let after = -Number.MAX_SAFE_INTEGER; ; ) {
    const [row] = db.all<{ last: number | null }>(end, [after]);
    if (row?.last == null) return all;
    for (const [id, one] of activity(db, table, "rowid > ? and rowid <= ?", [after, row.last])) {
      const sum = all.get(id);
      if (!sum) all.set(id, one);
      else {
        sum.count += one.count;
        sum.latest = Math.max(sum.latest, one.latest);
        sum.sum += one.sum;
      }
    }
    after = row.last;
    await nextTurn();
  }
}
