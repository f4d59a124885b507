/** OpenClaw's database of transcripts: pi's entries as rows. Its tables of tasks, secrets and debugging are never read. */
import {
  type NewEvent,
  type OpenLog,
  openSqliteFile,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  type SqliteFile,
  sqliteVersion,
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
    const refs = rows.map(
      (row): NewRef => ({
        key: row.id,
        path,
        size: row.size ?? undefined,
        mtime: row.written,
        version: versionOf(row),
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
      return row && versionOf(row);
    },
    read: (ref, onBytes) => readSession(db, ref.key, onBytes),
    close: () => db.close(),
  };
}

function* readSession(
  db: SqliteFile,
  key: string,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  if (!hasTranscripts(db)) return undefined;
  const parser = createParser();
  let [rows, unreadable] = [0, 0];
  const sql = "select seq, event_json as text from transcript_events where session_id = ? order by seq";
  for (const { seq, text } of db.iterate<{ seq: number; text: string | null }>(sql, [key])) {
    rows++;
    const row = parseRecord(text);
    if (!row || text === null) {
      unreadable++; // compressed
      continue;
    }
    onBytes(text.length);
    yield* [parser.row(row, { offset: seq, length: text.length }) ?? []].flat();
  }
  if (rows === 0) return undefined;
  const summary = parser.finish();
  return { ...summary, skipped: { lines: unreadable, unknown: summary.skipped?.unknown ?? {} } };
}

const hasTranscripts = (db: SqliteFile): boolean => db.columns("transcript_events").includes("event_json");

const versionOf = ({ count, last, written, size }: Row): string => [count, last, written, size ?? 0].join("-");
