/** The inbox of leaked secrets: what the indexer found, by secret, with what the user says of it. Service "leaks". */
import { join, resolve } from "node:path";
import { type EventKind, isSessarcError, type Kernel, type PoolTask, SessarcError, type SessionEvent } from "sessarc";
import type { Confidence } from "../engine.ts";
import type { RuleSet } from "../rule-set.ts";
import type { FileFingerprints } from "./files.ts";
import { LEAKS_VERSION } from "./version.ts";

/** `open`: not marked yet. `rotated`: it is no longer valid. `harmless`: it never was a secret. */
export type LeakState = "open" | "rotated" | "harmless";

export interface LeakPlace {
  sessionId: string;
  /** Message that holds it first. */
  seq: number;
  field: string;
  kind: EventKind;
  /** Tool, file and command of the call; null: none. The command is masked and cut. */
  tool: string | null;
  path: string | null;
  command: string | null;
  count: number;
  /** ISO 8601 UTC; null: the log has no times. */
  firstAt: string | null;
  lastAt: string | null;
}

export interface Leak {
  /** Names the secret without showing it; the same in all sessions. */
  id: string;
  ruleId: string;
  rule: string;
  confidence: Confidence;
  masked: string;
  state: LeakState;
  sessions: number;
  /** Times it was met. */
  count: number;
  firstAt: string | null;
  lastAt: string | null;
  /** The newest place. */
  place: LeakPlace;
  /** Files of the projects that hold it now. */
  files: string[];
}

export interface LeakPage {
  leaks: Leak[];
  totals: {
    /** Secrets by state. */
    open: number;
    rotated: number;
    harmless: number;
    /** Sessions with an open one. */
    sessions: number;
    /** Open ones that a file of a project holds now. */
    inFiles: number;
    /** Open values that may be ids or samples: in the list only when asked for, and in no other figure. */
    possible: number;
  };
  /** Sessions that are not searched yet. */
  pending: number;
  /** Sessions with messages that could not be checked in time, or with more secrets than are kept. */
  unchecked: number;
  /** Null on the last page. */
  nextCursor: string | null;
}

export interface LeakCount {
  /** Open secrets, as `totals.open` of the list. */
  open: number;
  /** Sessions with an open one. */
  sessions: number;
  /** Sessions that are not searched yet. */
  pending: number;
}

export interface LeakCommits {
  /** Newest first. */
  commits: { projectId: string; hash: string; at: string; path: string }[];
  /** A history was too long to be searched as a whole, or a repository could not be read. */
  partial: boolean;
}

interface LeakQuery {
  state?: LeakState | "all" | undefined;
  session?: string | undefined;
  /** Also values that may be ids or samples. */
  possible?: boolean | undefined;
  /** Searches sessions that were not searched yet first. */
  whole?: boolean | undefined;
  limit: number;
  /** How many leaks to skip. */
  offset: number;
}

export interface Leaks {
  list(query: LeakQuery): Promise<LeakPage>;
  /** Open secrets alone. Two queries: no file is read and no session searched. */
  count(): Promise<LeakCount>;
  /** Its places, the newest first, 200 at most. Throws LEAK_NOT_FOUND. */
  one(id: string): Promise<Leak & { places: LeakPlace[] }>;
  /** Commits of the projects' repositories that added the value. Throws LEAK_NOT_FOUND. */
  commits(id: string, signal?: AbortSignal): Promise<LeakCommits>;
  /** Throws LEAK_NOT_FOUND. */
  mark(id: string, state: LeakState): Promise<Leak>;
}

interface Row {
  fingerprint: string;
  rule_id: string;
  confidence: Confidence;
  masked: string;
  state: LeakState;
  sessions: number;
  count: number;
  first_at: string | null;
  last_at: string | null;
}

interface PlaceRow {
  fingerprint: string;
  session: string;
  seq: number;
  field: string;
  kind: EventKind;
  tool_name: string;
  path: string;
  command: string;
  count: number;
  first_at: string | null;
  last_at: string | null;
}

const FILES: PoolTask<[string[]], FileFingerprints[]> = {
  specifier: "sessarc/plugins/security/secrets/leaks/files",
  export: "fingerprintsIn",
  inline: async (paths) => (await import("./files.ts")).fingerprintsIn(paths),
};

const VALUE: PoolTask<[SessionEvent, string], string | undefined> = {
  specifier: "sessarc/plugins/security/secrets/leaks/value",
  export: "valueIn",
  inline: async (event, id) => (await import("./value.ts")).valueIn(event, id),
};

const MOST_PLACES = 200;
/** Files searched for the secrets of the sessions, those of the newest findings first. */
const MOST_FILES = 500;
/** Files in which a project's secrets usually are; they are searched whether or not a call named them. */
const USUAL = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".npmrc"];

/** Secrets that no disabled rule found, with their state. */
const ALL = `from security_leak l left join security_mark m on m.fingerprint = l.fingerprint
  where l.rule_id not in (select id from security_builtin where enabled = 0)`;
const SEEN = `${ALL} and l.confidence <> 'possible'`;
const BEHIND =
  "from session where not exists (select 1 from indexed i where i.session = session.id and i.indexer = 'leaks' and i.version = ?)";
const COLUMNS = `l.fingerprint, max(l.rule_id) as rule_id, min(l.confidence) as confidence, max(l.masked) as masked,
  coalesce(max(m.state), 'open') as state, count(distinct l.session) as sessions, sum(l.count) as count,
  min(l.first_at) as first_at, max(l.last_at) as last_at`;

export function createLeaks(kernel: Kernel, rules: RuleSet): Leaks {
  const { db } = kernel.storage;

  /** Files that hold a secret now, by fingerprint. The pool searches again only those that changed. */
  async function filesNow(): Promise<Map<string, string[]>> {
    const rows = await db.all<{ path: string; cwd: string | null }>(
      `select l.path, s.cwd from security_leak l join session s on s.id = l.session
       group by l.path, s.cwd order by max(l.last_at) desc limit ${MOST_FILES}`,
    );
    const paths = new Set<string>();
    for (const { path, cwd } of rows) {
      if (cwd === null) continue;
      if (path !== "") paths.add(resolve(cwd, path));
      for (const name of USUAL) paths.add(join(cwd, name));
    }
    const holders = new Map<string, string[]>();
    for (const { path, fingerprints } of await kernel.pool.run(FILES, [...paths].slice(0, MOST_FILES)))
      for (const one of fingerprints) holders.set(one, [...(holders.get(one) ?? []), path]);
    return holders;
  }

  async function toLeaks(rows: readonly Row[], files: Map<string, string[]>): Promise<Leak[]> {
    const names = new Map((await rules.list()).map(({ id, name }) => [id, name]));
    const newest = await newestPlaces(rows.map((row) => row.fingerprint));
    return rows.flatMap((row) => {
      const place = newest.get(row.fingerprint);
      if (!place) return [];
      return {
        ...{ id: row.fingerprint, ruleId: row.rule_id, rule: names.get(row.rule_id) ?? row.rule_id },
        ...{ confidence: row.confidence, masked: row.masked, state: row.state },
        ...{ sessions: row.sessions, count: row.count, firstAt: row.first_at, lastAt: row.last_at },
        ...{ place, files: files.get(row.fingerprint) ?? [] },
      };
    });
  }

  async function newestPlaces(ids: readonly string[]): Promise<Map<string, LeakPlace>> {
    const rows = await db.all<PlaceRow>(
      `select * from security_leak where fingerprint in (${ids.map(() => "?").join()}) order by last_at`,
      [...ids],
    );
    return new Map(rows.map((row) => [row.fingerprint, toPlace(row)]));
  }

  async function find(id: string): Promise<Leak> {
    const rows = await db.all<Row>(`select ${COLUMNS} ${ALL} and l.fingerprint = ? group by l.fingerprint`, [id]);
    const [leak] = await toLeaks(rows, await filesNow());
    if (!leak) throw new SessarcError("LEAK_NOT_FOUND", { id });
    return leak;
  }

  async function totals(files: Map<string, string[]>): Promise<LeakPage["totals"]> {
    const rows = await db.all<{ fingerprint: string; state: LeakState }>(
      `select l.fingerprint, coalesce(max(m.state), 'open') as state ${SEEN} group by l.fingerprint`,
    );
    const [{ sessions } = { sessions: 0 }] = await db.all<{ sessions: number }>(
      `select count(distinct l.session) as sessions ${SEEN} and m.state is null`,
    );
    const possible = await count(
      `from (select l.fingerprint ${ALL} group by l.fingerprint having min(l.confidence) = 'possible' and max(m.state) is null) as doubted`,
    );
    const of = (state: LeakState) => rows.filter((row) => row.state === state);
    return {
      ...{
        open: of("open").length,
        rotated: of("rotated").length,
        harmless: of("harmless").length,
        sessions,
        possible,
      },
      inFiles: of("open").filter(({ fingerprint }) => files.has(fingerprint)).length,
    };
  }

  /** The longest line of a secret; undefined where no archived message holds it any more. */
  async function readValue(id: string): Promise<string | undefined> {
    const place = await db.get<{ session: string; seq: number }>(
      "select session, seq from security_leak where fingerprint = ? order by last_at desc limit 1",
      [id],
    );
    if (!place) return undefined;
    const archive = kernel.inject("archive");
    for await (const events of archive.events(await archive.get(place.session), place.seq)) {
      const event = events.find(({ seq }) => seq === place.seq);
      const value = event && (await kernel.pool.run(VALUE, event, id));
      return value?.split("\n").sort((a, b) => b.length - a.length)[0];
    }
    return undefined;
  }

  const count = async (sql: string, ...values: (string | number)[]) =>
    (await db.get<{ n: number }>(`select count(*) as n ${sql}`, values))?.n ?? 0;

  return {
    async list({ state = "open", session, whole = false, possible = false, limit, offset }) {
      const behind = await count(BEHIND, LEAKS_VERSION);
      if (behind > 0) {
        const searched = kernel.inject("importer").prepare();
        if (whole) await searched;
        else searched.catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "security" }));
      }
      const files = await filesNow();
      const only =
        session === undefined ? "" : " and l.fingerprint in (select fingerprint from security_leak where session = ?)";
      const rows = await db.all<Row>(
        `select ${COLUMNS} ${possible ? ALL : SEEN}${only} group by l.fingerprint
         ${state === "all" ? "" : "having coalesce(max(m.state), 'open') = ?"}
         order by min(l.confidence), max(l.last_at) desc, l.fingerprint limit ? offset ?`,
        [...(session === undefined ? [] : [session]), ...(state === "all" ? [] : [state]), limit + 1, offset],
      );
      return {
        leaks: await toLeaks(rows.slice(0, limit), files),
        totals: await totals(files),
        pending: await count(BEHIND, LEAKS_VERSION),
        unchecked: await count("from security_unchecked"),
        nextCursor: rows.length > limit ? String(offset + limit) : null,
      };
    },
    async count() {
      const sql = `select count(distinct l.fingerprint) as open, count(distinct l.session) as sessions ${SEEN} and m.state is null`;
      const { open, sessions } = (await db.get<{ open: number; sessions: number }>(sql)) ?? { open: 0, sessions: 0 };
      return { open, sessions, pending: await count(BEHIND, LEAKS_VERSION) };
    },
    async one(id) {
      const [leak, rows] = await Promise.all([
        find(id),
        db.all<PlaceRow>(
          `select * from security_leak where fingerprint = ? order by last_at desc limit ${MOST_PLACES}`,
          [id],
        ),
      ]);
      return { ...leak, places: rows.map(toPlace) };
    },
    async commits(id, signal) {
      await find(id);
      const value = await readValue(id);
      const projects = await db.all<{ id: string; path: string }>(
        `select distinct p.id, p.path from security_leak l join session s on s.id = l.session join project p on p.id = s.project_id
         where l.fingerprint = ? and p.path is not null`,
        [id],
      );
      const found: LeakCommits = { commits: [], partial: value === undefined };
      if (value === undefined) return found;
      for (const project of projects)
        try {
          const { commits, partial } = await kernel.inject("git").commitsAdding(project.path, value, signal);
          found.commits.push(...commits.map((one) => ({ projectId: project.id, ...one })));
          found.partial ||= partial;
        } catch (error) {
          if (!isSessarcError(error)) throw error;
          // A folder without a repository holds no commits; what git cannot read is unknown.
          if (error.code !== "NO_REPOSITORY") found.partial = true;
        }
      return found;
    },
    async mark(id, state) {
      await find(id);
      if (state === "open") await db.run("delete from security_mark where fingerprint = ?", [id]);
      else
        await db.run(
          "insert into security_mark (fingerprint, state, at) values (?, ?, ?) on conflict (fingerprint) do update set state = excluded.state, at = excluded.at",
          [id, state, new Date().toISOString()],
        );
      return find(id);
    },
  };
}

const toPlace = (row: PlaceRow): LeakPlace => ({
  ...{ sessionId: row.session, seq: row.seq, field: row.field, kind: row.kind },
  ...{ tool: row.tool_name || null, path: row.path || null, command: row.command || null },
  ...{ count: row.count, firstAt: row.first_at, lastAt: row.last_at },
});
