/** SQL of stored logs, one function per question. */
import type { Database, SqlValue, Statement } from "sessarc";
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

interface RemovableRow {
  id: string;
  mtime: number;
  /** JSON of what is stored. */
  files: string;
  stored: number;
}

export interface LogShares {
  /** Bytes of stored logs that may be removed because their assistants still have them. */
  removable: number;
  /** Sessions whose log is not stored because there is no room. */
  leftOut: number;
  /** Of them, those whose assistant deletes the log within seven days. */
  leftOutDying: number;
  tools: { tool: string; bytes: number }[];
}

/**
 * The first words of a stored version: another mode than that of the setting makes a session behind. `keep`: its log is stored. `none`: by the setting. `full`: there was no room in the budget.
 */
export type Mode = "keep" | "none" | "full";

/** Part of a question about rows of `session`. */
interface Condition {
  sql: string;
  params: readonly SqlValue[];
}

const FROM = "from session left join rescue_log r on r.session = session.id";
/** With `room`, logs for which there was none are behind, too. */
const BEHIND = `session.missing = 0 and (r.session is null or r.path <> session.source_path
  or (r.version <> ? || ' ' || session.source_version and (? or r.version <> 'full ' || session.source_version)))`;
const COLUMNS = `session.id, session.tool, session.key, session.source_path, session.source_version, session.source_bytes, session.source_mtime,
  session.exclusive, session.companions, r.files`;

export function createLogStore(db: Database) {
  return {
    /** Ids of all sessions that are behind: those first whose assistant deletes them soon (`dying`), then the newest. */
    behind: async (mode: Mode, room: boolean, dying: Condition) =>
      (
        await db.all<{ id: string }>(
          `select session.id ${FROM} where ${BEHIND} or (? <> 'none' and r.version = 'full ' || session.source_version and ${dying.sql})
           order by (${dying.sql}) desc, session.source_mtime desc, session.id`,
          [mode, room ? 1 : 0, mode, ...dying.params, ...dying.params],
        )
      ).map(({ id }) => id),
    /** Of these, what is needed to store them, in this order. */
    rowsOf: async (ids: readonly string[]) => {
      const rows = await db.all<BehindRow>(
        `select ${COLUMNS} ${FROM} where session.missing = 0 and session.id in (select value from json_each(?))`,
        [JSON.stringify(ids)],
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
    /** Of these, the ids of those that are behind. */
    behindOf: async (mode: Mode, room: boolean, ids: readonly string[]) =>
      (
        await db.all<{ id: string }>(
          `select session.id ${FROM} where (${BEHIND}) and session.id in (select value from json_each(?))`,
          [mode, room ? 1 : 0, JSON.stringify(ids)],
        )
      ).map(({ id }) => id),
    /** Stored logs that their assistants still have and do not delete soon, the oldest first. */
    removable: (dying: Condition, limit: number) =>
      db.all<RemovableRow>(
        `select session.id, session.source_mtime as mtime, r.files, r.stored ${FROM}
         where r.files is not null and session.missing = 0 and not (${dying.sql})
         order by session.source_mtime, session.id limit ?`,
        [...dying.params, limit],
      ),
    /** Forgets a stored log for which there is no room; a log that changes since is behind again. */
    giveUp: (ids: readonly string[]): Statement => [
      `update rescue_log set files = null, bytes = 0, stored = 0,
         version = coalesce((select 'full ' || source_version from session where id = rescue_log.session), version)
       where session in (select value from json_each(?))`,
      [JSON.stringify(ids)],
    ],
    /** What the budget is about: of stored logs those that may be removed, and of logs without room those that are deleted soon. */
    async shares(dying: Condition): Promise<LogShares> {
      const row = await db.get<Omit<LogShares, "tools">>(
        `select coalesce(sum(case when session.missing = 0 and not (${dying.sql}) then r.stored else 0 end), 0) as removable,
           coalesce(sum(r.files is null and r.version like 'full %'), 0) as leftOut,
           coalesce(sum(r.files is null and r.version like 'full %' and session.missing = 0 and (${dying.sql})), 0) as leftOutDying
         from session join rescue_log r on r.session = session.id`,
        [...dying.params, ...dying.params],
      );
      const tools = await db.all<{ tool: string; bytes: number }>(
        "select session.tool, sum(r.stored) as bytes from rescue_log r join session on session.id = r.session where r.files is not null group by session.tool",
      );
      return {
        removable: row?.removable ?? 0,
        leftOut: row?.leftOut ?? 0,
        leftOutDying: row?.leftOutDying ?? 0,
        tools,
      };
    },
    /** Logs of a session's sub-agents. */
    pathsBelow: async (id: string) =>
      (await db.all<{ path: string }>("select source_path as path from session where parent_id = ?", [id])).map(
        ({ path }) => path,
      ),
    async files(id: string): Promise<KeptFile[] | undefined> {
      const row = await db.get<{ files: string | null }>("select files from rescue_log where session = ?", [id]);
      return row?.files ? (JSON.parse(row.files) as KeptFile[]) : undefined;
    },
    write: (mode: Mode, row: BehindRow, { hidden, files }: KeepResult): Statement => [
      `insert into rescue_log (session, version, path, hidden, files, bytes, stored) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (session) do update set version = excluded.version, path = excluded.path, hidden = excluded.hidden,
         files = excluded.files, bytes = excluded.bytes, stored = excluded.stored`,
      [
        row.id,
        `${mode} ${row.source_version}`,
        row.source_path,
        hidden,
        files && JSON.stringify(files),
        (files ?? []).reduce((sum, file) => sum + file.size, 0),
        (files ?? []).reduce((sum, file) => sum + toStored(file), 0),
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

const toStored = (file: KeptFile) => file.parts.reduce((sum, part) => sum + part.stored, 0);
