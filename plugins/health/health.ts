/** What cost time or tokens for nothing: of a session, and of all, with the change that would have helped. Service "health". */
import { createCache, type Database, type Kernel, marks, type SqlValue } from "sessarc";
import { NEAR, type NearLimit, nearLimits } from "./context.ts";
import { CHARS, ENDINGS, type Finding, type FindingKind } from "./state.ts";

export type { Finding } from "./state.ts";

/** One kind of waste over many sessions. */
export interface Waste {
  kind: FindingKind | "readEverywhere" | "failsFirst";
  tool: string;
  subject: string;
  sessions: number;
  count: number;
  tokens: number;
  ms: number;
  /** All of its kind, those that `limit` leaves out included. */
  ofKind: Whole;
  /** Where it is seen best: the sessions with most of it. `title`: its name, its title or its first prompt. */
  examples: { session: string; seq: number; title: string | null }[];
}

interface Whole {
  /** How many wastes of the kind there are. */
  wastes: number;
  sessions: number;
  count: number;
  tokens: number;
  ms: number;
}

export interface HealthFilter {
  /** ms: sessions that ended at or after, and began before. */
  since?: number | undefined;
  until?: number | undefined;
  project?: string | undefined;
  /** Only these sessions. */
  ids?: readonly string[] | undefined;
}

/** What one session wasted in one way. */
export interface SessionWaste {
  session: string;
  /** Calls. */
  count: number;
  tokens: number;
  /** The message that shows it best. */
  seq: number;
}

/** A session that ended without an answer, or with a failing command. */
export interface Ending {
  session: string;
  kind: (typeof ENDINGS)[number];
  seq: number;
  tool: string;
  /** The command that failed; empty: none. */
  subject: string;
}

export interface Health {
  /** Largest first. */
  session(id: string): Promise<Finding[]>;
  /** The `limit` largest wastes of each kind. */
  all(filter: HealthFilter, limit: number): Promise<Waste[]>;
  /** Failed calls that were repeated unchanged, by session, the most tokens first. */
  retries(filter: HealthFilter): Promise<SessionWaste[]>;
  /** Calls that failed, by session, the most tokens first. */
  failures(filter: HealthFilter): Promise<SessionWaste[]>;
  /** Sessions that ended in `[since, until)` without an answer or with a failing command, the newest first. Sub-agents are left out. */
  endings(filter: Required<Pick<HealthFilter, "since" | "until">>): Promise<Ending[]>;
}

/** A file that so many sessions read, and a tool whose first call fails in so many, is a habit. */
const HABIT = 3;
const OFTEN = 0.5;
const EXAMPLES = 3;

const SHARED = `group by path having count(*) >= ${HABIT}`;
const FAILING = `group by tool having sum(first_failed) >= ${HABIT} and sum(first_failed) >= ${OFTEN} * count(*)`;

/** Answers that are cached until something is stored. */
const ANSWERS = 16;

type Found = Omit<Waste, "examples" | "ofKind">;
type Untitled = Omit<Waste, "examples"> & { examples: Omit<Waste["examples"][number], "title">[] };

/** What a fork copied counts where it came from. */
const OWN = "not exists (select 1 from session f where f.id = session and f.copied > seq)";

export function createHealth(kernel: Kernel): Health {
  const { db } = kernel.storage;
  const answers = createCache<Waste[]>(ANSWERS);
  return {
    async session(id) {
      const row = await kernel.inject("archive").get(id);
      const findings = await db.all<Finding>(
        `select kind, seq, last, count, tool, subject, tokens, ms from health_finding where session = ?
         order by tokens + ms / 1000 + count desc, seq`,
        [row.id],
      );
      const near = await nearLimits(kernel, db, { sql: "session = ?", params: [row.id] });
      return [...near.map((one) => toFinding(one, Math.max(0, row.length - 1))), ...findings];
    },
    retries(filter) {
      const chosen = toSessions(filter);
      return db.all<SessionWaste>(
        `select session, count, tokens, seq from (
           select session, sum(count) over whole as count, sum(tokens) over whole as tokens, seq,
             row_number() over (partition by session order by tokens desc, seq) as place
           from health_finding where kind = 'retry' and session in (${chosen.sql}) and ${OWN} window whole as (partition by session)) as ranked
         where place = 1
         order by tokens desc, session`,
        chosen.params,
      );
    },
    async failures(filter) {
      const chosen = toSessions(filter);
      const rows = await db.all<{ session: string; errors: string; copied: number }>(
        `select h.session, h.errors, s.copied from health_tool h join session s on s.id = h.session
         where h.failed > 0 and h.session in (${chosen.sql}) order by h.session, h.tool`,
        chosen.params,
      );
      const found = new Map<string, SessionWaste & { largest: number }>();
      for (const { session, errors, copied } of rows) {
        const own = (JSON.parse(errors) as [seq: number, chars: number][]).filter(([seq]) => seq >= copied);
        const [first] = own;
        if (!first) continue;
        const tokens = Math.round(own.reduce((sum, [, chars]) => sum + chars, 0) / CHARS);
        const sum = found.get(session) ?? { session, count: 0, tokens: 0, seq: first[0], largest: tokens };
        found.set(session, sum);
        sum.count += own.length;
        sum.tokens += tokens;
        // The message of the tool with the most tokens, of equal ones the earlier.
        if (tokens < sum.largest || (tokens === sum.largest && first[0] >= sum.seq)) continue;
        sum.largest = tokens;
        sum.seq = first[0];
      }
      return [...found.values()]
        .map(({ largest: _, ...waste }) => waste)
        .sort((a, b) => b.tokens - a.tokens || (a.session < b.session ? -1 : 1));
    },
    endings: ({ since, until }) =>
      db.all<Ending>(
        `select f.session, f.kind, f.seq, f.tool, f.subject from health_finding f join session s on s.id = f.session
         where f.kind in (${marks(ENDINGS)}) and s.parent_id is null and s.sort_at >= ? and s.sort_at < ?
         order by s.sort_at desc, f.session`,
        [...ENDINGS, since, until],
      ),
    all(filter, limit) {
      // The ids of one question may be all there are.
      if (filter.ids) return readWastes(kernel, filter, limit);
      const key = JSON.stringify([filter, limit, kernel.find("pricing")?.stamp]);
      return answers.get(key, () => readWastes(kernel, filter, limit), db.generation);
    },
  };
}

const toFinding = ({ model, tokens, window }: NearLimit, last: number): Finding => ({
  ...{ kind: "nearLimit", seq: last, last, count: 1, tool: model, tokens, ms: 0 },
  subject: `${Math.floor((100 * tokens) / window)} % / ${window}`,
});

/** Sessions near their limit, by model: `subject` is what it takes, `tokens` the sum of their last prompts. */
async function readNearLimits(kernel: Kernel, filter: HealthFilter, limit: number): Promise<Untitled[]> {
  const near = await nearLimits(kernel, kernel.storage.db, chosenBy(filter));
  const wastes = [...new Set(near.map(({ model }) => model))].map((model) => {
    const own = near.filter((one) => one.model === model);
    const tokens = own.reduce((sum, one) => sum + one.tokens, 0);
    const { window = 0 } = own[0] ?? {};
    return { model, own, tokens, window };
  });
  const largest = wastes.sort((a, b) => b.tokens - a.tokens || (a.model < b.model ? -1 : 1)).slice(0, limit);
  const ofKind = {
    ...{ wastes: wastes.length, sessions: near.length, count: near.length },
    ...{ tokens: wastes.reduce((sum, one) => sum + one.tokens, 0), ms: 0 },
  };
  const archive = kernel.inject("archive");
  return Promise.all(
    largest.map(
      async ({ model, own, tokens, window }): Promise<Untitled> => ({
        ...{ kind: "nearLimit", tool: model, subject: `≥ ${NEAR * 100} % / ${window}`, tokens, ms: 0 },
        ...{ sessions: own.length, count: own.length, ofKind },
        examples: await Promise.all(
          own.slice(0, EXAMPLES).map(async ({ session }) => {
            const row = await archive.get(session);
            return { session, seq: Math.max(0, row.length - 1) };
          }),
        ),
      }),
    ),
  );
}

async function readWastes(kernel: Kernel, filter: HealthFilter, limit: number): Promise<Waste[]> {
  const { db } = kernel.storage;
  const { sql, params } = chosenBy(filter);
  const found = await db.all<Found>(
    `select kind, tool, subject, sessions, count, tokens, ms from (
       select kind, tool, subject, count(distinct session) as sessions, sum(count) as count, sum(tokens) as tokens,
         sum(ms) as ms, row_number() over (partition by kind order by sum(tokens) desc, sum(ms) desc, sum(count) desc, subject, tool) as place
       from health_finding where ${sql} and ${OWN} group by kind, tool, subject) as ranked
     where place <= ? order by kind, place`,
    [...params, limit],
  );
  const read = await db.all<Found>(
    `select 'readEverywhere' as kind, '' as tool, path as subject, count(*) as sessions, sum(reads) as count,
       sum(chars) / 4 as tokens, 0 as ms
     from health_file where ${sql} ${SHARED}
     order by sum(chars) desc, path limit ?`,
    [...params, limit],
  );
  const fails = await db.all<Found>(
    `select 'failsFirst' as kind, tool, '' as subject, sum(first_failed) as sessions, sum(failed) as count, 0 as tokens, 0 as ms
     from health_tool where ${sql} ${FAILING}
     order by sum(first_failed) desc, tool limit ?`,
    [...params, limit],
  );
  const examples = [
    ...(await readExamples(
      db,
      read,
      `select 'readEverywhere' as kind, '' as tool, path as subject, session, 0 as seq,
         row_number() over (partition by path order by chars desc, session) as place
       from health_file where path in (${marks(read)}) and ${sql}`,
      [...read.map(({ subject }) => subject), ...params],
    )),
    ...(await readExamples(
      db,
      fails,
      `select 'failsFirst' as kind, tool, '' as subject, session, 0 as seq,
         row_number() over (partition by tool order by failed desc, session) as place
       from health_tool where tool in (${marks(fails)}) and first_failed = 1 and ${sql}`,
      [...fails.map(({ tool }) => tool), ...params],
    )),
    ...(await readExamples(
      db,
      found,
      `select kind, tool, subject, session, seq,
         row_number() over (partition by kind, tool, subject order by tokens desc, ms desc, count desc, session, seq) as place
       from health_finding where subject in (${marks(found)}) and ${sql} and ${OWN}`,
      [...found.map(({ subject }) => subject), ...params],
    )),
  ];
  const wholes = await readWholes(db, { sql, params });
  const wastes = [...read, ...fails, ...found].map((waste) => ({
    ...waste,
    ofKind: wholes.get(waste.kind) ?? { wastes: 1, ...figuresOf(waste) },
    examples: examples.flatMap(({ kind, tool, subject, session, seq }) =>
      kind === waste.kind && tool === waste.tool && subject === waste.subject ? [{ session, seq }] : [],
    ),
  }));
  return addTitles(db, [...wastes, ...(await readNearLimits(kernel, filter, limit))]);
}

const figuresOf = ({ sessions, count, tokens, ms }: Found) => ({ sessions, count, tokens, ms });

async function addTitles(db: Database, wastes: readonly Untitled[]): Promise<Waste[]> {
  if (wastes.length === 0) return [];
  const ids = [...new Set(wastes.flatMap(({ examples }) => examples.map(({ session }) => session)))];
  const rows = await db.all<{ id: string; title: string | null }>(
    `select id, coalesce(name, title, first_prompt) as title from session where id in (${marks(ids)})`,
    ids,
  );
  const titles = new Map(rows.map(({ id, title }) => [id, title]));
  return wastes.map((waste) => ({
    ...waste,
    examples: waste.examples.map((one) => ({ ...one, title: titles.get(one.session) ?? null })),
  }));
}

/** What each kind comes to over all sessions. */
async function readWholes(db: Database, { sql, params }: Sql): Promise<Map<Waste["kind"], Whole>> {
  const rows = await db.all<Whole & Pick<Waste, "kind">>(
    `select kind, max(place) as wastes, count(distinct session) as sessions, sum(count) as count,
       sum(tokens) as tokens, sum(ms) as ms from (
       select kind, session, count, tokens, ms, dense_rank() over (partition by kind order by tool, subject) as place
       from health_finding where ${sql} and ${OWN}) as ranked
     group by kind
     union all
     select 'readEverywhere' as kind, count(distinct path) as wastes, count(distinct session) as sessions, sum(reads) as count,
       sum(chars) / 4 as tokens, 0 as ms
     from health_file where ${sql} and path in (select path from health_file where ${sql} ${SHARED})
     union all
     select 'failsFirst' as kind, count(distinct tool) as wastes, count(distinct case when first_failed = 1 then session end) as sessions,
       sum(failed) as count, 0 as tokens, 0 as ms
     from health_tool where ${sql} and tool in (select tool from health_tool where ${sql} ${FAILING})`,
    [...params, ...params, ...params, ...params, ...params],
  );
  return new Map(rows.map(({ kind, ...whole }) => [kind, whole]));
}

interface Sql {
  sql: string;
  params: readonly SqlValue[];
}

/** The condition on a table's column `session`. */
function chosenBy(filter: HealthFilter): Sql {
  const isAll = Object.values(filter).every((value) => value === undefined);
  if (isAll) return { sql: "true", params: [] };
  const { sql, params } = toSessions(filter);
  return { sql: `session in (${sql})`, params };
}

function toSessions({ since, until, project, ids }: HealthFilter): Sql {
  const conditions: string[] = ["true"];
  const params: SqlValue[] = [];
  const add = (sql: string, value: SqlValue) => {
    conditions.push(sql);
    params.push(value);
  };
  if (since !== undefined) add("sort_at >= ?", since);
  if (until !== undefined) add("coalesce(started_at, '') < ?", new Date(until).toISOString());
  if (project !== undefined) add("project_id = ?", project);
  if (ids !== undefined) add("id in (select value from json_each(?))", JSON.stringify(ids));
  return { sql: `select id from session where ${conditions.join(" and ")}`, params };
}

/** The first sessions of each waste, by `place`; one query for all of them, since each reads the whole table. */
async function readExamples(db: Database, wastes: readonly Found[], sql: string, params: readonly SqlValue[]) {
  if (wastes.length === 0) return [];
  return db.all<Pick<Waste, "kind" | "tool" | "subject"> & Untitled["examples"][number]>(
    `select kind, tool, subject, session, seq from (${sql}) as ranked where place <= ${EXAMPLES} order by kind, tool, subject, place`,
    params,
  );
}
