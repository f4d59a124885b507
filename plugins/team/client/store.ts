/** SQL of the client: servers, chosen projects, and what was pushed. */
import type { Database } from "sessarc";
import type { Joined, Space } from "../wire/answers.ts";

export interface Server {
  address: string;
  person: { id: string; name: string };
  device: string;
  /** Names this machine in ids on the server. */
  machine: string;
  keyFile: string;
  spaces: Space[];
  /** Where projects go that are chosen without naming a space. */
  space: number;
  joinedAt: string;
}

/** A session that may be pushed, with what decides whether it has changed. */
export interface Candidate {
  id: string;
  tool: string;
  key: string;
  generation: number;
  parts: string;
  name: string | null;
  title: string | null;
  parent_id: string | null;
  forked_from: string | null;
  exclusive: number;
  source_path: string;
  source_bytes: number;
  sort_at: number;
  project_id: string;
  project_kind: string;
  project_key: string;
  project_name: string;
  project_path: string | null;
  root_commit: string | null;
  cwd: string | null;
  space: number;
}

export interface PushedRow {
  session_id: string;
  project_id: string;
  pushed_id: string;
  stamp: string;
  digest: string;
}

export interface MovedSession {
  id: string;
  title: string | null;
  /** Name of the project that it counts to now. */
  project: string;
}

export interface PushedOf {
  sessions?: readonly string[] | undefined;
  project?: string | undefined;
}

interface ServerRow {
  address: string;
  person_id: string;
  person: string;
  device: string;
  machine: string;
  key_file: string;
  spaces: string;
  space: number;
  joined_at: string;
}

const CANDIDATES = `select s.id, s.tool, s.key, s.generation, s.parts, s.name, s.title, s.parent_id, s.forked_from, s.exclusive, s.source_path,
    s.source_bytes, s.sort_at, s.project_id, p.kind as project_kind, p.key as project_key, coalesce(p.name, p.derived_name) as project_name,
    p.path as project_path, p.root_commit, s.cwd, t.space
  from team_project t join session s on s.project_id = t.project_id join project p on p.id = s.project_id
  where t.address = ? and s.sort_at >= ?`;

export function createTeamStore(db: Database) {
  return {
    async servers(): Promise<Server[]> {
      const rows = await db.all<ServerRow>("select * from team_server order by joined_at, address");
      return rows.map((row) => ({
        address: row.address,
        person: { id: row.person_id, name: row.person },
        device: row.device,
        machine: row.machine,
        keyFile: row.key_file,
        spaces: JSON.parse(row.spaces) as Space[],
        space: row.space,
        joinedAt: row.joined_at,
      }));
    },

    async add(
      address: string,
      { person, device, machine, spaces }: Joined,
      keyFile: string,
      space: number,
    ): Promise<void> {
      await db.run(
        "insert into team_server (address, person_id, person, device, machine, key_file, spaces, space, joined_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          address,
          person.id,
          person.name,
          device,
          machine,
          keyFile,
          JSON.stringify(spaces),
          space,
          new Date().toISOString(),
        ],
      );
    },

    async setSpaces(address: string, spaces: readonly Space[]): Promise<void> {
      await db.run("update team_server set spaces = ? where address = ?", [JSON.stringify(spaces), address]);
    },

    async setSpace(address: string, space: number): Promise<void> {
      await db.run("update team_server set space = ? where address = ?", [space, address]);
    },

    /** What was pushed and withdrawn is forgotten too: another join is another machine. */
    async remove(address: string): Promise<void> {
      const tables = ["team_project", "team_pushed", "team_withdrawn", "team_server"];
      await db.batch(tables.map((table) => [`delete from ${table} where address = ?`, [address]]));
    },

    projects(address: string): Promise<{ project_id: string; space: number }[]> {
      return db.all("select project_id, space from team_project where address = ? order by project_id", [address]);
    },

    async choose(address: string, project: string, space: number): Promise<void> {
      await db.run(
        `insert into team_project (address, project_id, space) values (?, ?, ?)
         on conflict (address, project_id) do update set space = excluded.space`,
        [address, project, space],
      );
    },

    async unchoose(address: string, project: string): Promise<void> {
      await db.run("delete from team_project where address = ? and project_id = ?", [address, project]);
    },

    /** Sessions of the chosen projects, without those that were withdrawn; oldest first. */
    async candidates(address: string, since: number, again: boolean): Promise<Candidate[]> {
      const kept = again ? "" : " and s.id not in (select session_id from team_withdrawn where address = ?)";
      const sql = `${CANDIDATES}${kept} order by s.sort_at, s.id`;
      return db.all<Candidate>(sql, again ? [address, since] : [address, since, address]);
    },

    async pushed(address: string): Promise<Map<string, PushedRow>> {
      const rows = await db.all<PushedRow>(
        "select session_id, project_id, pushed_id, stamp, digest from team_pushed where address = ?",
        [address],
      );
      return new Map(rows.map((row) => [row.session_id, row]));
    },

    async counts(address: string): Promise<{ pushed: number; withdrawn: number; lastAt: string | null }> {
      const row = await db.get<{ pushed: number; lastAt: string | null }>(
        "select count(*) as pushed, max(at) as lastAt from team_pushed where address = ?",
        [address],
      );
      const gone = await db.get<{ n: number }>("select count(*) as n from team_withdrawn where address = ?", [address]);
      return { pushed: row?.pushed ?? 0, lastAt: row?.lastAt ?? null, withdrawn: gone?.n ?? 0 };
    },

    async notePushed(address: string, { session_id, project_id, pushed_id, stamp, digest }: PushedRow): Promise<void> {
      await db.batch([
        [
          `insert into team_pushed (address, session_id, project_id, pushed_id, stamp, digest, at) values (?, ?, ?, ?, ?, ?, ?)
           on conflict (address, session_id) do update set project_id = excluded.project_id, pushed_id = excluded.pushed_id, stamp = excluded.stamp, digest = excluded.digest, at = excluded.at`,
          [address, session_id, project_id, pushed_id, stamp, digest, new Date().toISOString()],
        ],
        ["delete from team_withdrawn where address = ? and session_id = ?", [address, session_id]],
      ]);
    },

    async noteWithdrawn(address: string, sessions: readonly PushedRow[], receipt: string): Promise<void> {
      const at = new Date().toISOString();
      await db.batch(
        sessions.flatMap(({ session_id, pushed_id }) => [
          [
            `insert into team_withdrawn (address, session_id, pushed_id, at, receipt) values (?, ?, ?, ?, ?)
             on conflict (address, session_id) do update set at = excluded.at, receipt = excluded.receipt`,
            [address, session_id, pushed_id, at, receipt],
          ] as const,
          ["delete from team_pushed where address = ? and session_id = ?", [address, session_id]] as const,
        ]),
      );
    },

    /** Pushed sessions that count to another project since, from which nothing is pushed. */
    moved(address: string): Promise<MovedSession[]> {
      return db.all(
        `select s.id, coalesce(s.name, s.title) as title, coalesce(o.name, o.derived_name) as project
         from team_pushed t join session s on s.id = t.session_id join project o on o.id = s.project_id
         where t.address = ? and s.project_id <> t.project_id
           and s.project_id not in (select project_id from team_project where address = t.address)
         order by s.sort_at, s.id`,
        [address],
      );
    },

    /** Where these sessions were pushed to. */
    serversOf(ids: readonly string[]): Promise<{ address: string; session_id: string }[]> {
      return db.all(
        "select address, session_id from team_pushed where session_id in (select value from json_each(?)) order by address, session_id",
        [JSON.stringify(ids)],
      );
    },

    /** How many of these sessions with their sub-agents, or of a project's, were pushed to which server. */
    async pushedOf({ sessions, project }: PushedOf): Promise<{ address: string; sessions: number }[]> {
      const from =
        project === undefined
          ? "select value from json_each(?) union select s.id from session s join family f on s.parent_id = f.id"
          : "select id from session where project_id = ?";
      return db.all(
        `with recursive family (id) as (${from})
         select address, count(*) as sessions from team_pushed where session_id in (select id from family) group by address order by address`,
        [project ?? JSON.stringify(sessions ?? [])],
      );
    },
  };
}

export type TeamStore = ReturnType<typeof createTeamStore>;
