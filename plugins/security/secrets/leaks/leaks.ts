/** The inbox of leaked secrets: what the indexer found, by secret, with what the user says of it. Service "leaks". */
import { type Kernel, SessarcError } from "sessarc";
import type { RuleSet } from "../rule-set.ts";
import { commitsOf } from "./commits.ts";
import { createHolders, type Holders } from "./held.ts";
import { markAll } from "./marks.ts";
import { newestPlaces, placesOf, projectsOf } from "./places.ts";
import { toProvider } from "./providers.ts";
import { ALL, type GroupRow, groups, type MemberRow, members, SEEN, type SecretRow, secrets } from "./select.ts";
import type {
  Leak,
  LeakCommits,
  LeakCount,
  LeakFilter,
  LeakGroups,
  LeakMarking,
  LeakMarks,
  LeakPage,
  LeakPlace,
  LeakState,
  LeakTotals,
} from "./types.ts";
import { LEAKS_VERSION } from "./version.ts";

interface LeakQuery extends LeakFilter {
  /** Searches sessions that were not searched yet first. */
  whole?: boolean | undefined;
  limit: number;
  /** How many leaks to skip. */
  offset: number;
}

export interface Leaks {
  list(query: LeakQuery): Promise<LeakPage>;
  /** How many secrets each kind or project has. */
  groups(by: "kind" | "project", filter: LeakFilter): Promise<LeakGroups>;
  /** Open secrets alone. Two queries: no file is read and no session searched. */
  count(): Promise<LeakCount>;
  /** Its places, the newest first, 200 at most. Throws LEAK_NOT_FOUND. */
  one(id: string): Promise<Leak & { places: LeakPlace[] }>;
  /** Commits of the projects' repositories that added the value. Throws LEAK_NOT_FOUND. */
  commits(id: string, signal?: AbortSignal): Promise<LeakCommits>;
  /** Throws LEAK_NOT_FOUND. */
  mark(id: string, state: LeakState): Promise<Leak>;
  /** All of them or, if one of `ids` is unknown, none: LEAK_NOT_FOUND. */
  markAll(marking: LeakMarking): Promise<LeakMarks>;
}

const BEHIND =
  "from session where not exists (select 1 from indexed i where i.session = session.id and i.indexer = 'leaks' and i.version = ?)";

export function createLeaks(kernel: Kernel, rules: RuleSet): Leaks {
  const { db } = kernel.storage;
  const readHolders = createHolders(kernel);
  const hide = (text: string) => rules.hide(text);
  const namesOfRules = async () => new Map((await rules.list()).map(({ id, name }) => [id, name]));

  async function toLeaks(rows: readonly SecretRow[], holders: Holders): Promise<Leak[]> {
    const ids = rows.map((row) => row.fingerprint);
    const [names, newest, projects] = await Promise.all([
      namesOfRules(),
      newestPlaces(db, hide, ids),
      projectsOf(db, ids),
    ]);
    return rows.flatMap((row) => {
      const place = newest.get(row.fingerprint);
      if (!place) return [];
      const lines = holders.get(row.fingerprint) ?? [];
      return {
        ...{ id: row.fingerprint, ruleId: row.rule_id, rule: names.get(row.rule_id) ?? row.rule_id },
        ...{ confidence: row.confidence, masked: row.masked, provider: toProvider(row.rule_id), state: row.state },
        ...{ sessions: row.sessions, count: row.count, firstAt: row.first_at, lastAt: row.last_at },
        ...{ place, projects: projects.get(row.fingerprint) ?? [], files: lines.map(({ path }) => path), lines },
      };
    });
  }

  async function find(id: string): Promise<Leak> {
    const { sql, values } = secrets({ state: "all", possible: true, id }, 1, 0);
    const [leak] = await toLeaks(await db.all<SecretRow>(sql, values), await readHolders());
    if (!leak) throw new SessarcError("LEAK_NOT_FOUND", { id });
    return leak;
  }

  async function totals(holders: Holders): Promise<LeakTotals> {
    const rows = await db.all<{ fingerprint: string; state: LeakState }>(
      `select l.fingerprint, coalesce(max(m.state), 'open') as state ${SEEN} group by l.fingerprint`,
    );
    const [{ sessions } = { sessions: 0 }] = await db.all<{ sessions: number }>(
      `select count(distinct l.session) as sessions ${SEEN} and m.state is null`,
    );
    const possible = await count(
      `from (select l.fingerprint ${ALL} group by l.fingerprint having min(case l.confidence when 'possible' then 1 else 0 end) = 1 and max(m.state) is null) as doubted`,
    );
    const of = (state: LeakState) => rows.filter((row) => row.state === state);
    return {
      ...{ open: of("open").length, rotated: of("rotated").length, harmless: of("harmless").length },
      ...{ ignored: of("ignored").length, sessions, possible },
      inFiles: of("open").filter(({ fingerprint }) => holders.has(fingerprint)).length,
    };
  }

  const count = async (sql: string, ...values: (string | number)[]) =>
    (await db.get<{ n: number }>(`select count(*) as n ${sql}`, values))?.n ?? 0;
  const pending = () => count(BEHIND, LEAKS_VERSION);
  const gaps = async () => ({ pending: await pending(), unchecked: await count("from security_unchecked") });

  /** Has sessions that were not searched yet searched; waits for it if asked to. */
  async function searchRest(whole: boolean): Promise<void> {
    if ((await pending()) === 0) return;
    const searched = kernel.inject("importer").prepare();
    if (whole) await searched;
    else searched.catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "security" }));
  }

  return {
    async list({ whole = false, limit, offset, ...filter }) {
      await searchRest(whole);
      const holders = await readHolders();
      const { sql, values } = secrets(filter, limit + 1, offset, [...holders.keys()]);
      const rows = await db.all<SecretRow>(sql, values);
      return {
        leaks: await toLeaks(rows.slice(0, limit), holders),
        totals: await totals(holders),
        ...(await gaps()),
        nextCursor: rows.length > limit ? String(offset + limit) : null,
      };
    },
    async groups(by, filter) {
      await searchRest(false);
      const [counted, listed] = [groups(by, filter), members(filter)];
      const [rows, inGroups, names, holders] = await Promise.all([
        db.all<GroupRow>(counted.sql, counted.values),
        db.all<MemberRow>(listed.sql, listed.values),
        namesOfRules(),
        readHolders(),
      ]);
      const own = new Map<string | null, MemberRow[]>();
      for (const one of inGroups) {
        const list = own.get(one[by]) ?? [];
        own.set(one[by], list);
        list.push(one);
      }
      const all = rows.map(({ id, name, first_at: firstAt, last_at: lastAt, ...figures }) => ({
        ...{ id, name: name ?? names.get(id) ?? id, provider: by === "kind" ? toProvider(id) : null },
        ...{ secrets: figures.secrets, sessions: figures.sessions },
        ...toGroupPlaces(own.get(id) ?? [], holders),
        ...{ firstAt, lastAt },
      }));
      return {
        groups: all.sort((a, b) => Number(b.inFiles > 0) - Number(a.inFiles > 0)),
        totals: await totals(holders),
        ...(await gaps()),
      };
    },
    async count() {
      const sql = `select count(distinct l.fingerprint) as open, count(distinct l.session) as sessions ${SEEN} and m.state is null`;
      const { open, sessions } = (await db.get<{ open: number; sessions: number }>(sql)) ?? { open: 0, sessions: 0 };
      return { open, sessions, pending: await pending() };
    },
    async one(id) {
      const [leak, places] = await Promise.all([find(id), placesOf(db, hide, id)]);
      return { ...leak, places };
    },
    async commits(id, signal) {
      await find(id);
      return commitsOf(kernel, id, signal);
    },
    async mark(id, state) {
      await markAll(db, { state, ids: [id], kinds: [], projects: [] });
      return find(id);
    },
    markAll: (marking) => markAll(db, marking),
  };
}

function toGroupPlaces(rows: readonly MemberRow[], holders: Holders) {
  const held = rows.filter(({ fingerprint }) => holders.has(fingerprint));
  const distinct = (names: readonly (string | null | undefined)[]) => [
    ...new Set(names.filter((name): name is string => typeof name === "string")),
  ];
  return {
    inFiles: new Set(held.map(({ fingerprint }) => fingerprint)).size,
    projects: distinct(rows.map(({ name }) => name)),
    providers: distinct(rows.map(({ kind }) => toProvider(kind)?.name)),
  };
}
