/** SQL of stored logs, one function per question. */
import type { Database, Statement } from "sessarc";
import type { KeptFile } from "./files.ts";
import type { KeepResult } from "./job.ts";

/** A session whose log is not stored as it is now. */
export interface BehindRow {
  id: string;
  tool: string;
  key: string;
  source_path: string;
  source_version: string;
  source_bytes: number;
  source_mtime: number;
  exclusive: number;
  companions: string | null;
  /** JSON of what is stored. */
  files: string | null;
}

const BEHIND = `select s.id, s.tool, s.key, s.source_path, s.source_version, s.source_bytes, s.source_mtime, s.exclusive, s.companions,
    r.files from session s left join rescue_log r on r.session = s.id
  where s.missing = 0 and (r.session is null or r.version <> ? || s.source_version or r.path <> s.source_path)`;

/** `mode` goes into the stored version: another setting makes every session behind. */
export function createLogStore(db: Database) {
  return {
    /** In order of ids, after `after`. */
    behind: (mode: string, after: string, limit: number) =>
      db.all<BehindRow>(`${BEHIND} and s.id > ? order by s.id limit ?`, [mode, after, limit]),
    behindOf: (mode: string, ids: readonly string[]) =>
      db.all<BehindRow>(`${BEHIND} and s.id in (select value from json_each(?))`, [mode, JSON.stringify(ids)]),
    /** Logs of a session's sub-agents. */
    pathsBelow: async (id: string) =>
      (await db.all<{ path: string }>("select source_path as path from session where parent_id = ?", [id])).map(
        ({ path }) => path,
      ),
    async files(id: string): Promise<KeptFile[] | undefined> {
      const row = await db.get<{ files: string | null }>("select files from rescue_log where session = ?", [id]);
      return row?.files ? (JSON.parse(row.files) as KeptFile[]) : undefined;
    },
    write: (mode: string, row: BehindRow, { hidden, files }: KeepResult): Statement => [
      `insert into rescue_log (session, version, path, hidden, files, bytes, stored) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (session) do update set version = excluded.version, path = excluded.path, hidden = excluded.hidden,
         files = excluded.files, bytes = excluded.bytes, stored = excluded.stored`,
      [
        row.id,
        mode + row.source_version,
        row.source_path,
        hidden,
        files && JSON.stringify(files),
        (files ?? []).reduce((sum, file) => sum + file.size, 0),
        (files ?? []).reduce((sum, file) => sum + storedOf(file), 0),
      ],
    ],
    erase: (ids: readonly string[]): Statement[] => [
      ["delete from rescue_log where session in (select value from json_each(?))", [JSON.stringify(ids)]],
      ["delete from rescue_written where session in (select value from json_each(?))", [JSON.stringify(ids)]],
    ],
    totals: async () =>
      (await db.get<{ sessions: number; bytes: number; stored: number }>(
        "select count(files) as sessions, coalesce(sum(bytes), 0) as bytes, coalesce(sum(stored), 0) as stored from rescue_log",
      )) ?? { sessions: 0, bytes: 0, stored: 0 },
    /** JSON of all files, a page in order of sessions. */
    page: (after: string, limit: number) =>
      db.all<{ session: string; files: string }>(
        "select session, files from rescue_log where session > ? and files is not null order by session limit ?",
        [after, limit],
      ),
    forgetFiles: () => db.run("update rescue_log set files = null, bytes = 0, stored = 0 where files is not null"),
  };
}

const storedOf = (file: KeptFile) => file.parts.reduce((sum, part) => sum + part.stored, 0);
