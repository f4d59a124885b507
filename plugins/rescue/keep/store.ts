/** SQL of stored logs, one function per question. */
import type { Database, SqlValue, Statement } from "sessarc";
import type { Hidden } from "../contract.ts";
import type { KeptFile } from "./files.ts";
import type { Pack, WrittenPack } from "./packs.ts";

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
  /** Its share of what is stored: of a chunk that several sessions name, a part. */
  stored: number;
}

/** Where a chunk is. */
export interface ChunkRow {
  hash: string;
  pack: string;
  at: number;
  bytes: number;
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
        `select session.id, session.source_mtime as mtime, r.stored ${FROM}
         where r.files is not null and session.missing = 0 and not (${dying.sql})
         order by session.source_mtime, session.id limit ?`,
        [...dying.params, limit],
      ),
    /** Forgets stored logs for which there is no room; a log that changes since is behind again. */
    giveUp: (ids: readonly string[]): Statement[] => [
      ...release(ids),
      [
        `update rescue_log set files = null, bytes = 0, stored = 0,
           version = coalesce((select 'full ' || source_version from session where id = rescue_log.session), version)
         where session in (select value from json_each(?))`,
        [JSON.stringify(ids)],
      ],
    ],
    /** What the budget is about: of stored logs those that may be removed, and of logs without room those that are deleted soon. */
    async shares(dying: Condition, stored: number): Promise<LogShares> {
      const row = await db.get<Omit<LogShares, "tools"> & { shares: number }>(
        `select coalesce(sum(r.stored), 0) as shares,
           coalesce(sum(case when session.missing = 0 and not (${dying.sql}) then r.stored else 0 end), 0) as removable,
           coalesce(sum(r.files is null and r.version like 'full %'), 0) as leftOut,
           coalesce(sum(r.files is null and r.version like 'full %' and session.missing = 0 and (${dying.sql})), 0) as leftOutDying
         from session join rescue_log r on r.session = session.id`,
        [...dying.params, ...dying.params],
      );
      const tools = await db.all<{ tool: string; bytes: number }>(
        "select session.tool, sum(r.stored) as bytes from rescue_log r join session on session.id = r.session where r.files is not null group by session.tool",
      );
      // Sessions that came or went since have changed what a share is of.
      const scale = row && row.shares > 0 ? stored / row.shares : 0;
      return {
        removable: Math.round((row?.removable ?? 0) * scale),
        leftOut: row?.leftOut ?? 0,
        leftOutDying: row?.leftOutDying ?? 0,
        tools: tools.map(({ tool, bytes }) => ({ tool, bytes: Math.round(bytes * scale) })),
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
    /** What is stored of a session from now on, unless it was deleted. The packs with its chunks are written before. */
    write: (mode: Mode, row: BehindRow, hidden: Hidden | null, files: readonly KeptFile[] | null): Statement[] => [
      ...release([row.id]),
      [
        `insert into rescue_log (session, version, path, hidden, files, bytes, stored)
         select ?, ?, ?, ?, ?, ?, 0 where exists (select 1 from session where id = ?)
         on conflict (session) do update set version = excluded.version, path = excluded.path, hidden = excluded.hidden,
           files = excluded.files, bytes = excluded.bytes`,
        [
          row.id,
          `${mode} ${row.source_version}`,
          row.source_path,
          hidden,
          files && JSON.stringify(files),
          (files ?? []).reduce((sum, file) => sum + file.size, 0),
          row.id,
        ],
      ],
      [`update rescue_chunk set refs = refs + 1 where hash in (${CHUNKS_OF})`, [row.id]],
    ],
    /** Other bytes of the same files. The packs with their chunks are written before. */
    replace: (id: string, files: readonly KeptFile[]): Statement[] => [
      ...release([id]),
      ["update rescue_log set files = ? where session = ?", [JSON.stringify(files), id]],
      [`update rescue_chunk set refs = refs + 1 where hash in (${CHUNKS_OF})`, [id]],
    ],
    /** Sessions whose files name one of these chunks. */
    sessionsNaming: async (hashes: readonly string[]) =>
      (
        await db.all<{ session: string }>(
          `select distinct l.session from rescue_log l, json_each(l.files) f, json_each(f.value, '$.chunks') c
           where c.value in (select value from json_each(?))`,
          [JSON.stringify(hashes)],
        )
      ).map(({ session }) => session),
    /** The share of these sessions in what is stored: a chunk that several name counts in parts. */
    weigh: (ids: readonly string[]): Statement[] =>
      ids.map((id) => [
        `update rescue_log set stored = coalesce((select cast(sum(1.0 * c.bytes * p.stored / p.bytes / c.refs) as bigint)
           from rescue_chunk c join rescue_pack p on p.name = c.pack where c.hash in (${CHUNKS_OF})), 0) where session = ?`,
        [id, id],
      ]),
    /** Of these chunks those that are stored. */
    stored: async (hashes: readonly string[]) =>
      new Set(
        (
          await db.all<{ hash: string }>(
            "select hash from rescue_chunk where pack <> '' and hash in (select value from json_each(?))",
            [JSON.stringify(hashes)],
          )
        ).map(({ hash }) => hash),
      ),
    /** Where the chunks of a file are. */
    chunks: async ({ chunks }: KeptFile) =>
      db.all<ChunkRow>(
        "select hash, pack, at, bytes from rescue_chunk where hash in (select value from json_each(?))",
        [JSON.stringify(chunks)],
      ),
    packs: (names: readonly string[]) =>
      db.all<Pack>(
        "select name, codec, bytes, stored from rescue_pack where name in (select value from json_each(?))",
        [JSON.stringify(names)],
      ),
    chunksIn: (pack: string) =>
      db.all<ChunkRow & { refs: number }>(
        "select hash, pack, at, bytes, refs from rescue_chunk where pack = ? order by at",
        [pack],
      ),
    /** A pack that was written. A chunk that is stored elsewhere is from now on in this one. */
    addPack: ({ name, codec, bytes, stored, chunks }: WrittenPack): Statement[] => [
      [
        "insert into rescue_pack (name, codec, bytes, stored) values (?, ?, ?, ?) on conflict (name) do nothing",
        [name, codec, bytes, stored],
      ],
      [
        `insert into rescue_chunk (hash, pack, at, bytes, refs)
         select value ->> 'hash', ?, value ->> 'at', value ->> 'bytes', 0 from json_each(?) where true
         on conflict (hash) do update set pack = excluded.pack, at = excluded.at`,
        [name, JSON.stringify(chunks)],
      ],
    ],
    removePacks: (names: readonly string[]): Statement[] => [
      ["delete from rescue_chunk where refs = 0 and pack in (select value from json_each(?))", [JSON.stringify(names)]],
      ["delete from rescue_pack where name in (select value from json_each(?))", [JSON.stringify(names)]],
    ],
    /** Sessions whose files name a chunk of these packs, or one that was lost. */
    sessionsIn: async (packs: readonly string[]) =>
      (
        await db.all<{ session: string }>(
          `select distinct l.session from rescue_log l, json_each(l.files) f, json_each(f.value, '$.chunks') c
             join rescue_chunk k on k.hash = c.value
           where k.pack = '' or k.pack in (select value from json_each(?)) order by l.session`,
          [JSON.stringify(packs)],
        )
      ).map(({ session }) => session),
    /**
     * These packs cannot be read. Of their sessions those whose log is there are stored again; the others go on naming the chunks, which are
     * lost (no pack) until another log has them.
     */
    losePacks: (packs: readonly string[], sessions: readonly string[]): Statement[] => {
      const [gone, ids] = [JSON.stringify(packs), JSON.stringify(sessions)];
      const there = "select id from session where missing = 0 and id in (select value from json_each(?))";
      return [
        ...sessions.map(
          (id): Statement => [
            `update rescue_chunk set refs = refs - 1 where hash in (${CHUNKS_OF})
               and exists (select 1 from session where id = ? and missing = 0)`,
            [id, id],
          ],
        ),
        [`update rescue_log set files = null, version = '', bytes = 0, stored = 0 where session in (${there})`, [ids]],
        ["update rescue_chunk set pack = '' where pack in (select value from json_each(?))", [gone]],
        ["delete from rescue_pack where name in (select value from json_each(?))", [gone]],
        forgetLost,
      ];
    },
    /** Lost chunks that no session names any more. */
    forgetLost: () => db.run(...forgetLost),
    /** Packs with chunks that no session names, and how many of their bytes those are. */
    wasted: () =>
      db.all<{ name: string; bytes: number; free: number }>(
        `select p.name, p.bytes, f.free from rescue_pack p join
           (select pack, sum(bytes) as free from rescue_chunk where refs = 0 group by pack) f on f.pack = p.name`,
      ),
    smallPacks: async (below: number) =>
      (await db.all<{ name: string }>("select name from rescue_pack where bytes < ? order by bytes", [below])).map(
        ({ name }) => name,
      ),
    packNames: async () =>
      new Set((await db.all<{ name: string }>("select name from rescue_pack")).map(({ name }) => name)),
    erase: (ids: readonly string[]): Statement[] => [
      ...release(ids),
      ["delete from rescue_log where session in (select value from json_each(?))", [JSON.stringify(ids)]],
      ["delete from rescue_written where session in (select value from json_each(?))", [JSON.stringify(ids)]],
      ["delete from rescue_reclaimed where session in (select value from json_each(?))", [JSON.stringify(ids)]],
    ],
    totals: async () => {
      const row = await db.get<{ sessions: number; bytes: number; stored: number }>(
        `select count(files) as sessions, coalesce(sum(bytes), 0) as bytes,
           (select coalesce(sum(stored), 0) from rescue_pack) as stored from rescue_log`,
      );
      return row ?? { sessions: 0, bytes: 0, stored: 0 };
    },
    forgetFiles: (): Statement[] => [
      ["update rescue_log set files = null, bytes = 0, stored = 0 where files is not null", []],
      ["update rescue_chunk set refs = 0", []],
    ],
  };
}

export type LogStore = ReturnType<typeof createLogStore>;

/** Chunks of a session, each once. */
const CHUNKS_OF = `select distinct c.value from rescue_log l, json_each(l.files) f, json_each(f.value, '$.chunks') c where l.session = ?`;

const forgetLost: Statement = ["delete from rescue_chunk where pack = '' and refs = 0", []];

/** Their files name no chunk any more. */
const release = (ids: readonly string[]): Statement[] =>
  ids.map((id) => [`update rescue_chunk set refs = refs - 1 where hash in (${CHUNKS_OF})`, [id]]);
