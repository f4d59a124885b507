/** Skills as the archive's sessions used them. Counted at import; kept by session and name. */

import { type Database, type Kernel, mustYield, type SessionUsage, type TokenUsage, yieldNow } from "sessarc";
import { addUsage, plainModel } from "sessarc/adapter";
import { normalName } from "../content/names.ts";
import type { SkillSession, SkillUse } from "../types.ts";

export interface UsedName {
  /** As sessions asked for it. */
  name: string;
  invocations: number;
  failures: number;
  sessions: number;
  lastUsedAt: string | null;
}

export interface Use {
  /** Every name that was asked for, last used first; names that may be commands of a tool begin with a slash. */
  names(since?: number): Promise<UsedName[]>;
  /** All of one skill: by name and id, with and without the slash. */
  of(names: readonly string[]): Promise<SkillUse>;
}

interface Row {
  session: string;
  name: string;
  calls: number;
  failures: number;
  last_at: number | null;
  tool: string;
  project_id: string;
  title: string | null;
}

const RECENT = 20;

/**
 * Uses by session and name, of the archive's figures. What a resumed or forked session copied is attributed to the session it came from, as its tokens
 * are.
 */
export function createUse({ storage: { db } }: Pick<Kernel, "storage">): Use {
  return {
    async names(since) {
      const rows = await db.all<{
        name: string;
        calls: number;
        failures: number;
        sessions: number;
        last: number | null;
      }>(
        `select name, sum(calls) as calls, sum(failures) as failures, count(*) as sessions, max(last_at) as last
         from usage_skill where ? is null or last_at >= ?
         group by name order by last desc, name`,
        [since ?? null, since ?? null],
      );
      return rows.map((row) => ({
        name: row.name,
        invocations: row.calls,
        failures: row.failures,
        sessions: row.sessions,
        lastUsedAt: toIso(row.last),
      }));
    },
    async of(names) {
      const rows = await readUses(db, names);
      const sessions = [...new Set(rows.map(({ session }) => session))];
      return toUse(rows, await tokensOf(db, sessions));
    },
  };
}

async function readUses(db: Database, names: readonly string[]): Promise<Row[]> {
  const wanted = new Set(names.map(normalName));
  const used = await db.all<{ name: string }>("select distinct name from usage_skill");
  const byName = await byPlainName(used);
  const spelled = [...wanted].flatMap((name) => byName.get(name) ?? []).map(({ name }) => name);
  if (spelled.length === 0) return [];
  // As one value: a log may spell a name in any number of ways.
  return db.all<Row>(
    `select u.session, u.name, u.calls, u.failures, u.last_at, s.tool, s.project_id, substr(coalesce(s.name, s.title, s.first_prompt), 1, 160) as title
     from usage_skill u join session s on s.id = u.session
     where u.name in (select value from json_each(?)) order by u.last_at desc`,
    [JSON.stringify(spelled)],
  );
}

/** Tokens of sessions by model. */
async function tokensOf(db: Database, sessions: readonly string[]): Promise<SessionUsage> {
  const usage: SessionUsage = {};
  const rows = await db.all<{ model: string } & TokenUsage>(
    `select model, sum(input) as input, sum(output) as output, sum(cache_read) as cacheRead, sum(cache_write_5m) as cacheWrite5m,
       sum(cache_write_1h) as cacheWrite1h
     from usage_total where session in (select value from json_each(?)) group by model`,
    [JSON.stringify(sessions)],
  );
  for (const { model, ...tokens } of rows) addUsage(usage, plainModel(model), tokens);
  return usage;
}

/** A used name as skills are compared: without the slash of a command. */
const plainName = (name: string) => normalName(name.replace(/^\//, ""));

/** Grouped as skills are compared. In slices: a log may spell a name in any number of ways. */
export async function byPlainName<T extends { name: string }>(used: readonly T[]): Promise<Map<string, T[]>> {
  const groups = new Map<string, T[]>();
  for (const one of used) {
    const key = plainName(one.name);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
    if (mustYield()) await yieldNow();
  }
  return groups;
}

function toUse(rows: readonly Row[], sessionUsage: SessionUsage): SkillUse {
  const sessions = new Map<string, SkillSession>();
  const tools = new Map<string, SkillUse["tools"][number]>();
  for (const row of rows) {
    const lastUsedAt = toIso(row.last_at);
    const tool = tools.get(row.tool) ?? { tool: row.tool, invocations: 0, sessions: 0, lastUsedAt: null };
    tools.set(row.tool, tool);
    tool.invocations += row.calls;
    tool.lastUsedAt = later(tool.lastUsedAt, lastUsedAt);
    const session = sessions.get(row.session);
    if (session) {
      session.invocations += row.calls;
      session.failures += row.failures;
      session.lastUsedAt = later(session.lastUsedAt, lastUsedAt);
      continue;
    }
    tool.sessions++;
    const { calls: invocations, failures, title } = row;
    sessions.set(row.session, {
      sessionId: row.session,
      tool: row.tool,
      projectId: row.project_id,
      title,
      invocations,
      failures,
      lastUsedAt,
    });
  }
  const all = [...sessions.values()].sort((a, b) => ((a.lastUsedAt ?? "") < (b.lastUsedAt ?? "") ? 1 : -1));
  const sum = (of: (session: SkillSession) => number) => all.reduce((total, session) => total + of(session), 0);
  return {
    invocations: sum((session) => session.invocations),
    failures: sum((session) => session.failures),
    sessions: all.length,
    projects: new Set(all.map((session) => session.projectId)).size,
    tools: [...tools.values()].sort((a, b) => b.invocations - a.invocations),
    lastUsedAt: all[0]?.lastUsedAt ?? null,
    sessionUsage,
    recent: all.slice(0, RECENT),
  };
}

const later = (a: string | null, b: string | null) => (a === null || (b !== null && b > a) ? b : a);
const toIso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
