/** What a person's kernel answers beyond a local one: whose sessions are whose. Row-level security keeps it to what the person may read. */
import { defineRoute, type Kernel, marks, pages, type Services, SessarcError } from "sessarc";
import * as v from "valibot";

type Listed = Awaited<ReturnType<Services["archive"]["page"]>>["sessions"][number];

interface PersonOf {
  id: string;
  name: string;
  /** Without sub-agents, as the list of sessions counts. */
  sessions: number;
  machines: { machine: string; name: string; sessions: number }[];
}

const GROUPS = ["person", "machine", "project", "model"] as const;
const TOKENS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

export interface TeamUsageRow {
  /** Id of the person, machine or project, or the model's name. */
  key: string;
  name: string;
  /** Without sub-agents, whose tokens and cost are in the row. */
  sessions: number;
  messages: number;
  /** Null for a model: time belongs to none. */
  activeMs: number | null;
  tokens: Record<(typeof TOKENS)[number], number>;
  cost: { microdollars: number };
}

/** A session of the list, and whose it is. */
export interface TeamSession extends Listed {
  person: string | null;
  machine: string | null;
}

const id = v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{8,32}$/, "is not an id of this server")));
const text = v.optional(v.pipe(v.string(), v.maxLength(500)));
const count = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/, "must be a whole number"),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(1_000),
);

/** Names of people and machines are not in what a person's kernel may read. */
async function readNames(kernel: Kernel): Promise<{ people: Map<string, string>; machines: Map<string, string> }> {
  const directory = kernel.inject("team-directory");
  const [people, devices] = await Promise.all([directory.names(), directory.devices(null)]);
  return {
    people,
    machines: new Map(devices.map(({ machine, name }) => [machine, name])),
  };
}

const people = defineRoute({
  method: "GET",
  path: "/team/people",
  meta: { team: true },
  summary: "People and machines whose sessions you may read",
  handler: async ({ kernel }): Promise<{ people: PersonOf[] }> => {
    const rows = await kernel.storage.db.all<{ person: string; machine: string; sessions: number }>(
      `select t.person, t.machine, count(*) as sessions from team_session t join session s on s.id = t.session
       where t.digest <> '' and s.parent_id is null group by t.person, t.machine order by t.person, t.machine`,
    );
    const known = await readNames(kernel);
    const found = new Map<string, PersonOf>();
    for (const { person, machine, sessions } of rows) {
      const one = found.get(person) ?? {
        id: person,
        name: known.people.get(person) ?? person,
        sessions: 0,
        machines: [],
      };
      one.sessions += sessions;
      one.machines.push({ machine, name: known.machines.get(machine) ?? machine, sessions });
      found.set(person, one);
    }
    return { people: [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) };
  },
});

const usage = defineRoute({
  method: "GET",
  path: "/team/usage",
  meta: { team: true },
  summary: "Tokens and estimated cost by person, machine, project or model",
  query: v.object({
    by: v.optional(v.picklist(GROUPS), "person"),
    person: id,
    machine: id,
    from: text,
    to: text,
    tz: text,
    tool: text,
    project: text,
  }),
  handler: async ({ kernel, query, signal }): Promise<{ by: (typeof GROUPS)[number]; rows: TeamUsageRow[] }> => {
    const { by, person, machine, ...range } = query;
    // The report by session, added up: the same figures, prices and days as everywhere else.
    const report = await bySession(kernel, range, signal);
    const owners = await readOwners(
      kernel,
      report.map(({ key }) => key),
    );
    const known = await readNames(kernel);
    const projects =
      by === "project"
        ? new Map((await kernel.inject("archive").projects()).map((one) => [one.id, one.name]))
        : new Map<string, string>();
    const nameOf = {
      person: (key: string) => known.people.get(key),
      machine: (key: string) => known.machines.get(key),
      project: (key: string) => projects.get(key),
      model: (key: string) => key,
    }[by];
    const rows = new Map<string, TeamUsageRow>();
    for (const session of report) {
      const owner = owners.get(session.key);
      if (!owner || (person ?? owner.person) !== owner.person || (machine ?? owner.machine) !== owner.machine) continue;
      const parts =
        by === "model"
          ? session.models.map((one) => ({ ...one, key: one.model }))
          : [{ key: owner[by], tokens: session.tokens, microdollars: session.cost.microdollars }];
      for (const { key, tokens, microdollars } of parts) {
        const row = rows.get(key) ?? {
          key,
          name: nameOf(key) ?? key,
          sessions: 0,
          messages: 0,
          activeMs: by === "model" ? null : 0,
          tokens: { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 },
          cost: { microdollars: 0 },
        };
        if (!owner.isSubagent) row.sessions += session.sessions;
        row.messages += session.messages ?? 0;
        if (row.activeMs !== null) row.activeMs += session.activeMs ?? 0;
        for (const name of TOKENS) row.tokens[name] += tokens[name];
        row.cost.microdollars += microdollars ?? 0;
        rows.set(key, row);
      }
    }
    return {
      by,
      rows: [...rows.values()].sort((a, b) => b.cost.microdollars - a.cost.microdollars || (a.key < b.key ? -1 : 1)),
    };
  },
});

const sessions = defineRoute({
  method: "GET",
  path: "/team/sessions",
  meta: { team: true },
  summary: "Sessions of a person or a machine, newest first, each with whose it is",
  query: v.object({
    person: id,
    machine: id,
    project: text,
    tool: text,
    q: text,
    limit: v.optional(count, "50"),
    cursor: text,
  }),
  handler: async ({ kernel, query }) => {
    const archive = kernel.inject("archive");
    const { person, machine, project, tool, q, limit, cursor } = query;
    const projects = project === undefined ? undefined : await archive.projectIds(project);
    const conditions = Object.entries({ person, machine }).flatMap(([column, value]) =>
      value === undefined ? [] : [[column, value] as const],
    );
    const condition = conditions.length > 0 && {
      sql: `id in (select t.session from team_session t where ${conditions.map(([column]) => `t.${column} = ?`).join(" and ")})`,
      params: conditions.map(([, value]) => value),
      revision: 0,
    };
    const page = await archive.page({ project: projects, tool, q, limit, ...(condition && { condition }) }, cursor);
    const owners = await readOwners(
      kernel,
      page.sessions.map((session) => session.id),
    );
    return {
      ...page,
      sessions: page.sessions.map((session): TeamSession => {
        const owner = owners.get(session.id);
        return { ...session, person: owner?.person ?? null, machine: owner?.machine ?? null };
      }),
    };
  },
});

/** Names of the people whose sessions these are, for the lists of the archive. */
export async function readOwnerNames(
  kernel: Kernel,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [owners, people] = await Promise.all([readOwners(kernel, sessions), kernel.inject("team-directory").names()]);
  return new Map([...owners].map(([id, { person }]) => [id, people.get(person) ?? person]));
}

export const viewRoutes = [people, usage, sessions] as const;

interface Owner {
  person: string;
  machine: string;
  project: string;
  isSubagent: boolean;
}

async function readOwners(kernel: Kernel, sessions: readonly string[]): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>();
  for (const page of pages(sessions, 500)) {
    const rows = await kernel.storage.db.all<Omit<Owner, "isSubagent"> & { session: string; parent: string | null }>(
      `select t.session, t.person, t.machine, s.project_id as project, s.parent_id as parent from team_session t
       join session s on s.id = t.session where t.session in (${marks(page)})`,
      page,
    );
    for (const { session, parent, ...owner } of rows) owners.set(session, { ...owner, isSubagent: parent !== null });
  }
  return owners;
}

type SessionRows = Extract<Awaited<ReturnType<Services["insights"]["byTool"]>>, { rows: unknown }>["rows"];

async function bySession(
  kernel: Kernel,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<SessionRows> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await kernel.fetch(`/api/usage?${new URLSearchParams([["by", "session"], ...given])}`, { signal });
  const body = (await answer.json()) as { rows: SessionRows; message?: string };
  if (!answer.ok) throw new SessarcError("INVALID_INPUT", { reason: body.message ?? "The range is invalid" });
  return body.rows;
}
