/**
 * OpenCode's database: which sessions it holds and how each is read. Only the tables session, message, part and project are ever
 * named here; account, control_account, credential and session_share hold secrets.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type NewEvent,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  type SqliteFile,
  type SqlValue,
  toNumber,
  toText,
} from "sessarc/adapter";
import { createParser } from "./parse.ts";
import type { Row, SessionRow } from "./types.ts";

type Raw = Record<string, unknown>;

/** Rows of one look: about 10 ms of a table with long contents. */
const SLICE_ROWS = 15_000;

/** Every session of the database with its change token. One pass over the rows' times, in slices, none over their contents. */
export async function listSessions(db: SqliteFile, path: string): Promise<SessionRef[]> {
  const tables = new Set(db.tables());
  if (!tables.has("session") || !tables.has("message")) return [];
  const messages = await activities(db, "message", tables);
  const parts = await activities(db, "part", tables);
  const refs: SessionRef[] = [];
  for (const row of sessionRows(db)) {
    const id = toText(row.id);
    if (id === undefined) continue;
    const session = toSession(row, id);
    const [ofMessages, ofParts] = [messages.get(id), parts.get(id)];
    refs.push({
      tool: "opencode",
      key: id,
      path,
      title: session.title,
      cwd: session.directory,
      parent: session.parent,
      mtime: Math.max(session.updatedAt ?? 0, ofMessages?.latest ?? 0, ofParts?.latest ?? 0) || undefined,
      version: versionOf(session, ofMessages, ofParts),
      exclusive: false,
    });
  }
  return refs;
}

/** Change token of one session: the same as `listSessions` gives it. Undefined: no such session. */
export function sessionVersion(db: SqliteFile, id: string): string | undefined {
  const tables = new Set(db.tables());
  if (!tables.has("session") || !tables.has("message")) return undefined;
  const [row] = sessionRows(db, id);
  if (!row) return undefined;
  return versionOf(
    toSession(row, id),
    activity(db, "message", tables, "session_id = ?", [id]).get(id),
    activity(db, "part", tables, "session_id = ?", [id]).get(id),
  );
}

/** Events of one session in order; one message's parts in memory at a time. `onBytes` hears of the text read. */
export function* readSession(
  db: SqliteFile,
  id: string,
  onBytes: (bytes: number) => void = () => {},
): Generator<NewEvent, SessionSummary | undefined> {
  const tables = new Set(db.tables());
  const [row] = tables.has("session") && tables.has("message") ? sessionRows(db, id) : [];
  if (!row) return undefined;
  const session = toSession(row, id);
  session.worktree = worktreeOf(db, tables, row);
  session.forkedFrom = forkOrigin(db, session, row);
  const parser = createParser(session);
  const columns = columnsOf(db, "message");
  const order = columns.has("time_created") ? "time_created, id" : "id";
  const partColumns = tables.has("part") ? columnsOf(db, "part") : new Set<string>();
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

  // One row ahead, to know which message is the last.
  let waiting: Row | undefined;
  for (const raw of db.iterate<Raw>(`${messageSql(columns)} order by ${order}`, [id])) {
    const next = toRow(raw);
    if (!next) continue;
    if (waiting) yield* parser.message(waiting, partsOf(waiting), false);
    waiting = next;
  }
  if (waiting) yield* parser.message(waiting, partsOf(waiting), true);
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
];

/** Older databases lack columns: only those present are named. */
function sessionRows(db: SqliteFile, id?: string): Raw[] {
  const present = columnsOf(db, "session");
  if (!present.has("id")) return [];
  const columns = SESSION_COLUMNS.filter((name) => present.has(name)).join(", ");
  if (id !== undefined) return db.all<Raw>(`select ${columns} from session where id = ?`, [id]);
  return db.all<Raw>(
    `select ${columns} from session order by ${present.has("time_created") ? "time_created, " : ""}id`,
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
function activity(
  db: SqliteFile,
  table: "message" | "part",
  tables: ReadonlySet<string>,
  where: string,
  params: readonly SqlValue[],
): Map<string, Activity> {
  const found = new Map<string, Activity>();
  if (!tables.has(table)) return found;
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
async function activities(
  db: SqliteFile,
  table: "message" | "part",
  tables: ReadonlySet<string>,
): Promise<Map<string, Activity>> {
  const [made] = db.all<{ sql: unknown }>("select sql from sqlite_master where name = ?", [table]);
  if (typeof made?.sql !== "string" || !made.sql.startsWith("CREATE TABLE") || /without\s+rowid/i.test(made.sql))
    return activity(db, table, tables, "true", []);
  const all = new Map<string, Activity>();
  const end = `select max(rowid) as last from (select rowid from ${table} where rowid > ? order by rowid limit ${SLICE_ROWS})`;
  for (let after = -Number.MAX_SAFE_INTEGER; ; ) {
    const [row] = db.all<{ last: number | null }>(end, [after]);
    if (row?.last == null) return all;
    for (const [id, one] of activity(db, table, tables, "rowid > ? and rowid <= ?", [after, row.last])) {
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

function versionOf(session: SessionRow, messages: Activity | undefined, parts: Activity | undefined): string {
  const figures = [messages, parts].map((one) => (one ? `${one.count}.${one.latest}.${one.sum}` : "0"));
  return ["db", session.updatedAt ?? 0, session.revertedFrom ?? "", ...figures].join("-");
}

function worktreeOf(db: SqliteFile, tables: ReadonlySet<string>, row: Raw): string | undefined {
  const project = toText(row.project_id);
  if (!project || !tables.has("project") || !columnsOf(db, "project").has("worktree")) return undefined;
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
