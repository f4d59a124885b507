/**
 * The database: which sessions it holds and how each is read. Version 2 keeps its sessions in `session_v2` and `session_message` and
 * leaves the tables of version 1 as they were: a session of both is read from the new ones. Only these tables, `message`, `part` and
 * `project` are ever read; account, control_account, credential and session_share hold secrets.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type DatabaseSession,
  type NewEvent,
  parseRecord,
  presentColumns,
  type SessionSummary,
  type SqliteFile,
  type SqlValue,
  type TokenUsage,
  toNumber,
  toText,
} from "sessarc/adapter";
import type { Member } from "./family.ts";
import { createMessageParser, type MessageRow, tokensOf } from "./messages.ts";
import { createParser } from "./parse.ts";
import type { Row, SessionRow } from "./types.ts";

type Raw = Record<string, unknown>;

/** Rows of one read: about 10 ms for a table with long contents. */
const SLICE_ROWS = 15_000;

/** Where a session's rows are. */
interface Tables {
  session: "session" | "session_v2";
  /** Each with a session's id and a time of its last change. */
  rows: readonly RowTable[];
}
type RowTable = "message" | "part" | "session_message";

const VERSION_1: Tables = { session: "session", rows: ["message", "part"] };
const VERSION_2: Tables = { session: "session_v2", rows: ["session_message"] };

/** Of one database, the tables of the version that wins first. */
function tablesOf(db: SqliteFile): Tables[] {
  const names = new Set(db.tables());
  return [VERSION_2, VERSION_1].filter(
    ({ session, rows: [messages] }) => names.has(session) && names.has(messages ?? ""),
  );
}

/** Every session with its change token. One pass over the rows' times, in batches, none over their contents. */
export async function listSessions(db: SqliteFile): Promise<DatabaseSession[]> {
  const found = new Map<string, DatabaseSession>();
  const foreign = importedSessions(db);
  for (const tables of tablesOf(db)) {
    const all: Map<string, Activity>[] = [];
    for (const table of tables.rows) all.push(await activities(db, table));
    for (const row of sessionRows(db, tables)) {
      const id = toText(row.id);
      if (id === undefined || found.has(id) || foreign.has(id)) continue;
      found.set(
        id,
        toListed(
          toSession(row, id),
          tables,
          all.map((one) => one.get(id)),
        ),
      );
    }
  }
  return [...found.values()];
}

/** One session as `listSessions` lists it; empty when there is no such session. */
export function listSession(db: SqliteFile, id: string): DatabaseSession[] {
  for (const tables of tablesOf(db)) {
    const [row] = sessionRows(db, tables, id);
    const own = (table: RowTable) => activity(db, table, "session_id = ?", [id]).get(id);
    if (row) return [toListed(toSession(row, id), tables, tables.rows.map(own))];
  }
  return [];
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

type Events = Generator<NewEvent, SessionSummary | undefined>;

/** Events of one session in order. `onBytes` takes the size of the text read. */
export function* readSession(
  db: SqliteFile,
  id: string,
  onBytes: (bytes: number) => void,
  { isEarly }: Pick<Member, "isEarly">,
): Events {
  for (const tables of tablesOf(db)) {
    const [row] = sessionRows(db, tables, id);
    if (!row) continue;
    const session = toSession(row, id);
    session.worktree = worktreeOf(db, row);
    session.isEarly = isEarly;
    if (tables === VERSION_2) return yield* readVersion2(db, session, row, onBytes);
    session.forkedFrom = forkOrigin(db, session, row);
    return yield* readVersion1(db, session, onBytes);
  }
  return undefined;
}

/** One row ahead, to know which message is the last. */
function* withLast<T>(rows: Iterable<T | undefined>): Generator<[row: T, last: boolean]> {
  let waiting: T | undefined;
  for (const row of rows) {
    if (row === undefined) continue;
    if (waiting !== undefined) yield [waiting, false];
    waiting = row;
  }
  if (waiting !== undefined) yield [waiting, true];
}

function* readVersion2(db: SqliteFile, session: SessionRow, row: Raw, onBytes: (bytes: number) => void): Events {
  const parser = createMessageParser(session);
  const columns = presentColumns(db, "session_message", ["id", "type", "data", "time_created"]).join(", ");
  function* messages(): Generator<MessageRow | undefined> {
    const sql = `select ${columns} from session_message where session_id = ? order by seq`;
    for (const raw of db.iterate<Raw>(sql, [session.id])) {
      if (typeof raw.data === "string") onBytes(raw.data.length);
      const [id, type] = [toText(raw.id), toText(raw.type)];
      if (id === undefined || type === undefined) parser.bad();
      else yield { id, type, createdAt: toNumber(raw.time_created), data: parseRecord(raw.data) };
    }
  }
  for (const [message, last] of withLast(messages())) yield* parser.message(message, last);
  return parser.finish(tokenColumns(row));
}

/** A session's tokens by its own columns; undefined where they are missing. */
function tokenColumns(row: Raw): TokenUsage | undefined {
  if (row.tokens_input === undefined) return undefined;
  return tokensOf({
    input: row.tokens_input,
    output: row.tokens_output,
    reasoning: row.tokens_reasoning,
    cache: { read: row.tokens_cache_read, write: row.tokens_cache_write },
  });
}

/** One message's parts in memory at a time. */
function* readVersion1(db: SqliteFile, session: SessionRow, onBytes: (bytes: number) => void): Events {
  const parser = createParser(session);
  const columns = columnsOf(db, "message");
  const order = columns.has("time_created") ? "time_created, id" : "id";
  const partColumns = columnsOf(db, "part");
  const partSql = `select id, data${partColumns.has("time_created") ? ", time_created" : ""} from part where message_id = ? order by id`;

  const toRow = (raw: Raw): Row | undefined => {
    const rowId = toText(raw.id);
    if (rowId === undefined) {
      parser.bad();
      return undefined;
    }
    if (typeof raw.data === "string") onBytes(raw.data.length);
    return { id: rowId, createdAt: toNumber(raw.time_created), data: parseRecord(raw.data) };
  };
  function* partsOf(message: Row): Generator<Row> {
    if (!partColumns.has("message_id")) return;
    for (const raw of db.iterate<Raw>(partSql, [message.id])) {
      const part = toRow(raw);
      if (part) yield part;
    }
  }
  function* messages(): Generator<Row | undefined> {
    for (const raw of db.iterate<Raw>(`${messageSql(columns)} order by ${order}`, [session.id])) yield toRow(raw);
  }
  for (const [message, last] of withLast(messages())) yield* parser.message(message, partsOf(message), last);
  return parser.finish();
}

const messageSql = (columns: ReadonlySet<string>) =>
  `select id, data${columns.has("time_created") ? ", time_created" : ""} from message where session_id = ?`;

const columnsOf = (db: SqliteFile, table: string) => new Set(db.columns(table));

const SESSION_COLUMNS = [
  "id",
  "project_id",
  "parent_id",
  "directory",
  "title",
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
function sessionRows(db: SqliteFile, { session: table }: Tables, id?: string): Raw[] {
  const present = columnsOf(db, table);
  if (!present.has("id")) return [];
  const columns = SESSION_COLUMNS.filter((name) => present.has(name)).join(", ");
  if (id !== undefined) return db.all<Raw>(`select ${columns} from ${table} where id = ?`, [id]);
  return db.all<Raw>(
    `select ${columns} from ${table} order by ${present.has("time_created") ? "time_created, " : ""}id`,
  );
}

function toSession(row: Raw, id: string): SessionRow {
  return {
    id,
    parent: toText(row.parent_id),
    title: toText(row.title),
    directory: toText(row.directory),
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
  const columns = columnsOf(db, table);
  if (!columns.has("session_id")) return found;
  const time = columns.has("time_updated") ? "time_updated" : columns.has("time_created") ? "time_created" : "0";
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

function worktreeOf(db: SqliteFile, row: Raw): string | undefined {
  const project = toText(row.project_id);
  if (!project || !columnsOf(db, "project").has("worktree")) return undefined;
  return toText(db.all<Raw>("select worktree from project where id = ?", [project])[0]?.worktree);
}

/**
 * A fork has no pointer to its origin, only copies of its messages, older than itself. The origin is the session of the same
 * project in which the last of those copies was written at that very time and for the first time.
 */
function forkOrigin(db: SqliteFile, session: SessionRow, row: Raw): string | undefined {
  const project = toText(row.project_id);
  const columns = columnsOf(db, "message");
  if (!project || session.createdAt === undefined || !columns.has("time_created")) return undefined;
  const [copy] = db.all<Raw>("select max(time_created) as at from message where session_id = ? and time_created < ?", [
    session.id,
    session.createdAt,
  ]);
  const at = toNumber(copy?.at);
  if (at === undefined) return undefined;
  const [origin] = db.all<Raw>(
    "select s.id as id from session s where s.project_id = ? and s.id <> ? and s.time_created <= ? " +
      "and exists (select 1 from message m where m.session_id = s.id and m.time_created = ?) order by s.time_created limit 1",
    [project, session.id, at, at],
  );
  return toText(origin?.id);
}
