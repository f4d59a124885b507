/** OpenClaw's database of transcripts: pi's entries as rows. Its tables of tasks, secrets and debugging are never read. */

import { parseRecord, type SessionRef, type SessionSummary, toText } from "sessarc";
import {
  lastWritten,
  type NewEvent,
  type OpenLog,
  openSqliteFile,
  presentColumns,
  type SqliteFile,
  sqliteVersion,
  unzstd,
} from "sessarc/adapter";
import { createParser } from "./parse.ts";

type NewRef = Omit<SessionRef, "tool">;

export const DATABASE = "openclaw-agent.sqlite";

interface Row {
  id: string;
  count: number;
  last: number;
  written: number;
  size: number;
}

const COLUMNS =
  "session_id as id, count(*) as count, max(seq) as last, max(created_at) as written, sum(length(event_json)) as size";

/** What the tables say of a session beside its entries. */
type Links = Pick<SessionSummary, "parent" | "forkedFrom">;

/** The sessions of each database as they were listed last; one that did not change is not opened. */
const listed = new Map<string, { token: string; refs: NewRef[] }>();

export async function listSessions(path: string): Promise<NewRef[]> {
  const token = await sqliteVersion(path);
  const known = listed.get(path);
  if (known?.token === token) return known.refs;
  const db = await openSqliteFile(path);
  try {
    const rows = hasTranscripts(db)
      ? db.all<Row>(`select ${COLUMNS} from transcript_events group by session_id order by session_id`)
      : [];
    const links = toLinks(db);
    const written = await lastWritten(path);
    const refs = rows.map(
      (row): NewRef => ({
        key: row.id,
        path,
        parent: links.get(row.id)?.parent,
        size: row.size ?? undefined,
        mtime: Math.min(row.written, written),
        version: toVersion(row),
        exclusive: false,
      }),
    );
    listed.set(path, { token, refs });
    return refs;
  } finally {
    db.close();
  }
}

export async function openDatabase(path: string): Promise<OpenLog> {
  const db = await openSqliteFile(path);
  return {
    version({ key }) {
      if (!hasTranscripts(db)) return undefined;
      const [row] = db.all<Row>(`select ${COLUMNS} from transcript_events where session_id = ? group by session_id`, [
        key,
      ]);
      return row && toVersion(row);
    },
    read: (ref, onBytes) => readSession(db, ref.key, onBytes),
    close: () => db.close(),
  };
}

async function* readSession(
  db: SqliteFile,
  key: string,
  onBytes: (count: number) => void,
): AsyncGenerator<NewEvent, SessionSummary | undefined> {
  if (!hasTranscripts(db)) return undefined;
  const parser = createParser();
  const { parent, forkedFrom } = toLinks(db).get(key) ?? {};
  let [rows, unreadable] = [0, 0];
  const columns = presentColumns(db, "transcript_events", ["seq", "event_json", "event_zstd"]).join(", ");
  const sql = `select ${columns} from transcript_events where session_id = ? order by seq`;
  for (const { seq, event_json, event_zstd } of db.iterate<EntryRow>(sql, [key])) {
    rows++;
    const text = event_json ?? (event_zstd instanceof Uint8Array ? await unzstd(event_zstd) : undefined);
    const row = parseRecord(text);
    if (!row || text === undefined) {
      unreadable++;
      continue;
    }
    onBytes(text.length);
    // A fork's origin is in the table of sessions; the older logs have it in their first row.
    const entry = row.type === "session" && forkedFrom ? { parentSession: forkedFrom, ...row } : row;
    yield* [parser.row(entry, { offset: seq, length: text.length }) ?? []].flat();
  }
  if (rows === 0) return undefined;
  const summary = parser.finish();
  return { ...summary, parent, skipped: { lines: unreadable, unknown: summary.skipped?.unknown ?? {} } };
}

interface EntryRow {
  seq: number;
  event_json: string | null;
  /** The same, compressed, where the text is missing. */
  event_zstd?: unknown;
}

/** Which session started another, and which it was forked from. Sessions name each other by keys there. */
function toLinks(db: SqliteFile): Map<string, Links> {
  const wanted = ["session_key", "current_session_id", "spawned_by", "fork_source_session_id"];
  if (presentColumns(db, "session_nodes", wanted).length < wanted.length) return new Map();
  const rows = db.all<Record<string, unknown>>(`select ${wanted.join(", ")} from session_nodes`);
  const byKey = new Map(rows.map((row) => [row.session_key, toText(row.current_session_id)]));
  return new Map(
    rows.map((row) => [
      String(row.current_session_id),
      { parent: byKey.get(row.spawned_by), forkedFrom: toText(row.fork_source_session_id) },
    ]),
  );
}

const hasTranscripts = (db: SqliteFile): boolean => db.columns("transcript_events").includes("event_json");

const toVersion = ({ count, last, written, size }: Row): string => [count, last, written, size ?? 0].join("-");
