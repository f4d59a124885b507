/** Databases that hold sessions: listed when they changed, read row by row. */
import { lstat } from "node:fs/promises";
import type { NewEvent, OpenLog } from "../contract/adapter.ts";
import type { SessionRef, SessionSummary } from "../session/session.ts";
import { lastWritten, openSqliteFile, type SqliteFile, sqliteVersion } from "../storage/sqlite-file.ts";
import type { MaybePromise } from "../utils/async.ts";
import { ifThere } from "../utils/gone.ts";
import type { JsonRecord } from "../utils/json.ts";

/** Sessions remembered per adapter; a larger database is listed again at each scan. */
const KEEP = 100_000;

/** A session as a database lists it; `version` changes whenever one of its rows does. */
export type DatabaseSession = Omit<SessionRef, "tool" | "path"> & { version: string };

/** Members of an adapter whose sessions are rows of a database (`sqliteSessions`). */
export interface SqliteSessions {
  /** The sessions of a database. Empty when there is no such file, or it is a link. One that did not change is not opened. */
  list(path: string): Promise<Omit<SessionRef, "tool">[]>;
  /** For the adapter's `open`. */
  open(path: string): Promise<OpenLog>;
}

/** How such sessions are listed and read; what `sqliteSessions` takes. */
export interface SqliteSessionsDefinition {
  /** The sessions of an opened database; `key`: that one alone is asked for, others may be listed as well. */
  list(db: SqliteFile, path: string, key?: string): MaybePromise<DatabaseSession[]>;
  /** Events of one session in order, then its summary; undefined when it is gone. `onBytes` takes the size of the text read. */
  read(
    db: SqliteFile,
    ref: SessionRef,
    onBytes: (count: number) => void,
  ): Generator<NewEvent, SessionSummary | undefined> | AsyncGenerator<NewEvent, SessionSummary | undefined>;
}

/** Members for an adapter whose sessions are rows of SQLite databases. */
export function sqliteSessions({ list, read }: SqliteSessionsDefinition): SqliteSessions {
  const known = new Map<string, { token: string; refs: Omit<SessionRef, "tool">[] }>();
  return {
    async list(path) {
      // If the folder is a file, there is no database either.
      if (!(await ifThere(lstat(path)))?.isFile()) return [];
      const token = await sqliteVersion(path);
      const last = known.get(path);
      if (last?.token === token) return last.refs.map((ref) => ({ ...ref }));
      known.delete(path);
      const db = await openSqliteFile(path);
      try {
        const written = await lastWritten(path);
        const refs = (await list(db, path)).map(({ mtime, ...ref }) => ({
          exclusive: false,
          ...ref,
          path,
          ...(mtime !== undefined && { mtime: Math.min(mtime, written) }),
        }));
        const kept = [...known.values()].reduce((sum, one) => sum + one.refs.length, 0);
        if (kept + refs.length <= KEEP) known.set(path, { token, refs });
        return refs.map((ref) => ({ ...ref }));
      } finally {
        db.close();
      }
    },
    async open(path) {
      const db = await openSqliteFile(path);
      return {
        version: async ({ key }) => (await list(db, path, key)).find((one) => one.key === key)?.version,
        read: (ref, onBytes) => read(db, ref, onBytes),
        close: () => db.close(),
      };
    },
  };
}

/** Names of the wanted columns that a table has; older and newer versions of an assistant differ. */
export function presentColumns(db: SqliteFile, table: string, wanted: readonly string[]): string[] {
  const present = new Set(db.columns(table));
  return wanted.filter((name) => present.has(name));
}

/**
 * Rows of the table of sessions, with the wanted columns that it has, in the order in which they were written. `id`: that session alone. None
 * when the table has no `id`.
 */
export function sessionRows(db: SqliteFile, table: string, wanted: readonly string[], id?: string): JsonRecord[] {
  const columns = presentColumns(db, table, ["id", ...wanted]);
  if (!columns.includes("id")) return [];
  const where = id === undefined ? "" : " where id = ?";
  const sql = `select ${columns.join(", ")} from ${table}${where} order by rowid`;
  return db.all<JsonRecord>(sql, id === undefined ? [] : [id]);
}

/**
 * For each session, how many rows of `table` are its own and the number of the last one, with the size of their `text` where they are edited
 * in place: a part of a session's version. `session`: the column with its id. Empty when the table lacks one of them.
 */
export function rowMarks(
  db: SqliteFile,
  table: string,
  { session = "session_id", text }: { session?: string; text?: string } = {},
): Map<string, string> {
  const wanted = [session, ...(text === undefined ? [] : [text])];
  if (presentColumns(db, table, wanted).length < wanted.length) return new Map();
  const size = text === undefined ? "" : ` || '.' || total(length(${text}))`;
  const sql = `select ${session} as id, count(*) || '.' || max(rowid)${size} as mark from ${table} group by ${session}`;
  return new Map(db.all<JsonRecord>(sql).map(({ id, mark }) => [String(id), String(mark)]));
}
