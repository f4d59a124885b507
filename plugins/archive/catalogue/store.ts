/** SQL of the archive: one function per question, wire resources made from rows. */

import { createCache, type Database, type Statement } from "sessarc";
import type { TranscriptPart } from "sessarc/storage";
import type { Changes } from "./changes.ts";
import { type Prices, readCosts } from "./cost.ts";
import { CostOrder } from "./cost-order.ts";
import { ORPHAN, type SessionFilter, where } from "./filter.ts";
import { IS_LIVE, LISTED, LIVE_MS, type ListedRow, RECENT_MS, toSession } from "./listed.ts";
import { projectsNamed, sessionNamed } from "./names.ts";
import { behind, behindIn, partsFrom, readCursor, type SessionSort, toCursor, toOrder, toPlace } from "./pages.ts";
import { countTotals, type Totals } from "./totals.ts";
import {
  type EarlierRow,
  type EarlierText,
  lengthOf,
  type Project,
  type ProjectRow,
  type Session,
  type SessionFacts,
  type SessionRow,
  type StoredSession,
  toParts,
} from "./types.ts";

/** Sub-agents, but those whose parent is not archived. */
const SUBAGENTS = `count(case when parent_id is null or ${ORPHAN} then null else 1 end)`;
/** Projects with what their sessions add up to, from the index `session_counts` and the keys of parents. */
const COUNTED = `select project.*, count(project_id) - ${SUBAGENTS} as sessions, coalesce(sum(message_count), 0) as messages,
  ${SUBAGENTS} as subagents, max(ended_at) as last, max(sort_at) as newest, group_concat(distinct tool) as tools
  from project left join session on project_id = project.id`;

/** Counts of filtered lists that are cached until something changes. */
const COUNTS = 64;

interface Counts {
  sessions: number;
  messages: number;
  subagents: number;
  last: string | null;
  newest: number | null;
  tools: string | null;
}

export interface SessionPage {
  sessions: Session[];
  total: number;
  nextCursor: string | null;
}

/** Whose sessions are. */
export interface Owners {
  /** Names of people by session. */
  namesOf(sessions: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** `prices`: undefined when no plugin knows any. `changes`: what is counted over all sessions is kept until something changed. */
export function createStore(
  db: Database,
  prices: () => Prices | undefined,
  changes: Changes,
  owners: () => Owners | undefined = () => undefined,
) {
  const costs = new CostOrder(db, prices, changes);
  const counts = createCache<number>(COUNTS);
  const summed = createCache<Totals>(1);
  const counted = createCache<Project[]>(1);
  const toSessions = async (rows: readonly ListedRow[]): Promise<Session[]> => {
    const known = prices();
    const costs = known && (await readCosts(db, known, rows));
    const names = await owners()?.namesOf(rows.map(({ id }) => id));
    return rows.map((row) => {
      const owner = names?.get(row.id);
      return { ...toSession(row, costs?.get(row.id) ?? null), ...(owner !== undefined && { owner }) };
    });
  };
  const self = {
    /** One row with everything; undefined for an unknown id. */
    async row(id: string): Promise<StoredSession | undefined> {
      const row = await db.get<SessionRow>("select * from session where id = ?", [id]);
      return row && { ...row, length: lengthOf(toParts(row)) };
    },

    /** Texts of a session that are kept beside its own, newest first. */
    async earlier(id: string): Promise<(EarlierText & { parts: TranscriptPart[] })[]> {
      const rows = await db.all<EarlierRow>("select * from earlier where session_id = ? order by version desc", [id]);
      return rows.map((row) => {
        const parts = toParts(row);
        const { version, own_count: ownMessages, kept_at: replacedAt } = row;
        return { version, messages: lengthOf(parts), ownMessages, replacedAt, parts };
      });
    },

    async list(filter: SessionFilter): Promise<Session[]> {
      if (filter.ids?.length === 0) return [];
      const { sql, params } = where(filter);
      const order = toOrder(filter.sort ?? "recent");
      const rows = await db.all<ListedRow>(
        `select ${LISTED} from session ${sql} order by ${order}${filter.limit === undefined ? "" : " limit ?"}`,
        [...params, ...(filter.limit === undefined ? [] : [filter.limit])],
      );
      return toSessions(rows);
    },

    /** A page after `cursor`, which an earlier answer returned. Throws INVALID_INPUT for any other cursor. */
    async page(
      asked: Omit<SessionFilter, "sort"> & { sort?: SessionSort | undefined; limit: number },
      cursor: string | undefined,
    ): Promise<SessionPage> {
      const { sort = "recent", ...filter } = asked;
      if (sort === "cost") return self.pageByCost(filter, cursor);
      const { sql, params } = where(filter);
      const place = cursor === undefined ? undefined : readCursor(sort, cursor);
      const rows: ListedRow[] = [];
      for (const [i, part] of partsFrom(sort, place).entries()) {
        // One more row than the page holds shows whether there is another page.
        const missing = filter.limit + 1 - rows.length;
        if (missing === 0) break;
        const from = place && i === 0 ? behind(sort, place) : undefined;
        const all = [sql.replace(/^where /, ""), part, from?.sql].filter(Boolean).join(" and ");
        const found = await db.all<ListedRow>(
          `select ${LISTED} from session ${all === "" ? "" : `where ${all}`} order by ${toOrder(sort)} limit ?`,
          [...params, ...(from?.params ?? []), missing],
        );
        rows.push(...found);
      }
      // A first page that is not full is the whole list.
      const total = place || rows.length > filter.limit ? await self.count(filter) : rows.length;
      const last = rows.length > filter.limit ? rows[filter.limit - 1] : undefined;
      return {
        sessions: await toSessions(rows.slice(0, filter.limit)),
        total,
        nextCursor: last ? toCursor(sort, toPlace(sort, last)) : null,
      };
    },

    /** The same, the most expensive sessions first. */
    async pageByCost(
      { limit, ...filter }: SessionFilter & { limit: number },
      cursor: string | undefined,
    ): Promise<SessionPage> {
      const from = cursor === undefined ? undefined : readCursor("cost", cursor);
      const { sql, params } = where(filter);
      const passing =
        sql === ""
          ? undefined
          : new Set((await db.all<{ id: string }>(`select id from session ${sql}`, params)).map((row) => row.id));
      const order = await costs.all();
      const places = passing ? order.filter(({ id }) => passing.has(id)) : order;
      const start = from ? behindIn(places, from) : 0;
      const page = places.slice(start, start + limit);
      const found = new Map((await self.list({ ids: page.map(({ id }) => id) })).map((one) => [one.id, one]));
      const last = start + limit < places.length ? page.at(-1) : undefined;
      return {
        sessions: page.flatMap(({ id }) => found.get(id) ?? []),
        total: places.length,
        nextCursor: last ? toCursor("cost", last) : null,
      };
    },

    /** Sessions of a project that changed a file whose path ends with `name`, in order of time; 500 at most, the newest. */
    async changing(project: string, name: string): Promise<string[]> {
      const found: string[] = [];
      const said = JSON.stringify(name).slice(1);
      const rows = await db.all<{ id: string }>(
        `select s.id from session s join usage_files f on f.session = s.id
         where s.project_id = ? and instr(f.files, ?) > 0 order by s.sort_at desc limit 500`,
        [project, `${said}:[`],
      );
      for (const { id } of rows) {
        const row = await db.get<{ files: string }>("select files from usage_files where session = ?", [id]);
        const files = JSON.parse(row?.files ?? "{}") as SessionFacts["files"];
        if (Object.entries(files).some(([path, [, edits]]) => edits > 0 && path.endsWith(name))) found.push(id);
      }
      return found.reverse();
    },

    /** Of the sessions whose working directory is the folder or a neighbour of it on the way up or down, or that name the text: read and changed paths. */
    async touching(text: string, folder?: string): Promise<{ id: string; cwd: string | null; paths: string[] }[]> {
      const rows = await db.all<{ id: string; cwd: string | null }>(
        `select s.id, s.cwd from session s join usage_files f on f.session = s.id
         where instr(f.files, ?) > 0 or (? <> '' and s.cwd is not null and (
           s.cwd = ? or substr(s.cwd, 1, length(?) + 1) = ? || '/' or substr(?, 1, length(s.cwd) + 1) = s.cwd || '/'))
         order by s.sort_at desc limit 500`,
        [JSON.stringify(text).slice(1, -1), ...new Array<string>(5).fill(folder ?? "")],
      );
      const found: { id: string; cwd: string | null; paths: string[] }[] = [];
      for (const { id, cwd } of rows) {
        const row = await db.get<{ files: string }>("select files from usage_files where session = ?", [id]);
        found.push({ id, cwd, paths: Object.keys(JSON.parse(row?.files ?? "{}") as SessionFacts["files"]) });
      }
      return found.reverse();
    },

    sessionNamed: (wanted: string) => sessionNamed(db, wanted),
    projectIds: (wanted: string) => projectsNamed(db, wanted),
    /** A session of it is there; with `part`, of one whose name holds it. */
    hasTool: async (tool: string, part = false) =>
      (await db.get(`select 1 from session where ${part ? "instr(tool, ?) > 0" : "tool = ?"} limit 1`, [tool])) !==
      undefined,

    /** Counted once a filter and change: every page of a list asks for it. */
    count({ limit: _limit, sort: _sort, ...filter }: SessionFilter): Promise<number> {
      const { sql, params } = where(filter);
      const count = async () =>
        (await db.get<{ n: number }>(`select count(*) as n from session ${sql}`, params))?.n ?? 0;
      return counts.get(JSON.stringify(filter), count, changes.generation);
    },

    /** Sessions that count as live now, last written first, 50 at most; of one project or all. */
    async liveIds(project?: string): Promise<string[]> {
      const now = Date.now();
      const rows = await db.all<{ id: string }>(
        `select id from session where ${IS_LIVE} ${project === undefined ? "" : "and project_id = ?"}
         order by source_mtime desc limit 50`,
        [now - LIVE_MS, now - RECENT_MS, ...(project === undefined ? [] : [project])],
      );
      return rows.map((row) => row.id);
    },

    async session(id: string): Promise<Session | undefined> {
      const row = await db.get<ListedRow>(`select ${LISTED} from session where id = ?`, [id]);
      return row && (await toSessions([row]))[0];
    },

    projectRow: (id: string) => db.get<ProjectRow>("select * from project where id = ?", [id]),

    /** Projects with their counts, newest first, without git. Those that hold nothing (associated away) are left out. */
    projects: (): Promise<readonly Project[]> => counted.get("", () => self.countProjects(), changes.generation),

    /** The same counted now, or one of them, whatever it holds. */
    async countProjects(id?: string): Promise<Project[]> {
      const rows = await db.all<ProjectRow & Counts>(
        `${COUNTED} ${id === undefined ? "" : "where project.id = ?"} group by project.id order by newest desc, project.id`,
        id === undefined ? [] : [id],
      );
      const aliases = await db.all<{ path: string; project_id: string }>(
        "select path, project_id from project_alias order by path",
      );
      const associated = await db.all<{ virtual_id: string; project_id: string }>(
        "select virtual_id, project_id from association order by at",
      );
      return rows
        .filter((row) => id !== undefined || row.sessions + row.subagents > 0)
        .map((row) => {
          const from = associated.filter((a) => a.project_id === row.id).map((a) => a.virtual_id);
          return {
            id: row.id,
            name: row.name ?? row.derived_name,
            path: row.path,
            virtual: row.kind === "virtual",
            identity: { kind: row.kind, key: row.key },
            aliases: aliases.filter((a) => a.project_id === row.id && a.path !== row.path).map((a) => a.path),
            tools: row.tools?.split(",").sort() ?? [],
            sessionCount: row.sessions,
            messageCount: row.messages,
            subagentCount: row.subagents,
            createdAt: row.created_at,
            lastActiveAt: row.last,
            associatedFrom: from.length > 0 ? from : null,
            git: null,
          };
        });
    },

    async renameSession(id: string, name: string | null): Promise<boolean> {
      return (await db.run("update session set name = ? where id = ?", [name, id])).changes > 0;
    },
    async renameProject(id: string, name: string | null): Promise<boolean> {
      return (await db.run("update project set name = ? where id = ?", [name, id])).changes > 0;
    },

    /** A session and all it started, through all levels. */
    async family(id: string): Promise<string[]> {
      const rows = await db.all<{ id: string }>(
        "with recursive family (id) as (select ?1 union select s.id from session s join family f on s.parent_id = f.id) select id from family",
        [id],
      );
      return rows.map((row) => row.id);
    },

    /** Statements that take sessions out and keep them from coming back by sync. `withId`: the one the others went with. */
    removal(ids: readonly string[], at: string, withId: string | null = null): Statement[] {
      return ids.flatMap((id): Statement[] => [
        [
          `insert into tombstone (session_id, at, generation, with_id) select id, ?1, generation, nullif(?2, id) from session where id = ?3
           on conflict (session_id) do update set at = excluded.at, generation = excluded.generation, with_id = excluded.with_id`,
          [at, withId, id],
        ],
        ["delete from session where id = ?", [id]],
        ["delete from earlier where session_id = ?", [id]],
      ]);
    },
    /** Generations of all parts of a session: of its own text and of earlier ones. */
    async generations(id: string): Promise<number[]> {
      const rows = await db.all<Pick<SessionRow, "parts">>(
        "select parts from session where id = ?1 union all select parts from earlier where session_id = ?1",
        [id],
      );
      return rows.flatMap((row) => toParts(row).map((part) => part.generation));
    },
    tombstones: async () =>
      new Set((await db.all<{ session_id: string }>("select session_id from tombstone")).map((row) => row.session_id)),

    /** Of the whole archive; counted once a change. */
    totals: (): Promise<Totals> => summed.get("", () => countTotals(db), changes.generation),
  };
  return self;
}

export type Store = ReturnType<typeof createStore>;
