/** Which sessions a question is about, as a condition. */

import { marks, type SqlValue } from "sessarc";
import type { ColumnSort } from "./pages.ts";

export const SESSION_KINDS = ["main", "subagent", "fork"] as const;
type SessionKind = (typeof SESSION_KINDS)[number];
/** A sub-agent whose parent is not archived: nothing else leads to it. */
export const ORPHAN = "not exists (select 1 from session up where up.id = session.parent_id)";
/** A copy that an assistant made in the background and that did not go on: all of its messages count elsewhere. */
export const COPY = "(copied > 0 and message_count = 0)";
/** Most sessions have no parent, so they are read in their order: an expression keeps the index of parents out of it. */
export const TOP_LEVEL = `(coalesce(parent_id, '') = '' or ${ORPHAN}) and not ${COPY}`;
const OF_KIND: Record<SessionKind, string> = {
  main: `${TOP_LEVEL} and forked_from is null`,
  subagent: "parent_id is not null",
  fork: `${TOP_LEVEL} and forked_from is not null`,
};

export interface SessionFilter {
  project?: string | readonly string[] | undefined;
  tool?: string | undefined;
  /** ms: sessions that ended at or after. */
  since?: number | undefined;
  /** ms: sessions that began before. */
  until?: number | undefined;
  q?: string | undefined;
  ids?: readonly string[] | undefined;
  parent?: string | undefined;
  forkedFrom?: string | undefined;
  /** Without sub-agents. */
  topLevel?: boolean | undefined;
  /** Started by a person, by another session, or going on from another one. */
  kind?: SessionKind | undefined;
  /** Used any of these models, as the logs spell them. */
  models?: readonly string[] | undefined;
  /** Calls failed in it. */
  errors?: boolean | undefined;
  /** What another plugin asks of the rows of `session`. `revision`: its answer changes only with it and the archive. */
  condition?: { sql: string; params: readonly SqlValue[]; revision: number } | undefined;
  sort?: ColumnSort | undefined;
  limit?: number | undefined;
}

/** `where …`, or nothing. */
/** The model of a key of `usage`, without its price class. */
const PLAIN = "substr(used.key, 1, instr(used.key || '\u001f', '\u001f') - 1)";

export function where(filter: SessionFilter): { sql: string; params: SqlValue[] } {
  const conditions: string[] = [];
  const params: SqlValue[] = [];
  const add = (sql: string, ...values: SqlValue[]) => {
    conditions.push(sql);
    params.push(...values);
  };
  if (filter.project !== undefined) {
    const ids = [filter.project].flat();
    add(`project_id in (${marks(ids)})`, ...ids);
  }
  if (filter.tool !== undefined) add("tool = ?", filter.tool);
  if (filter.since !== undefined) add("sort_at >= ?", filter.since);
  if (filter.until !== undefined)
    add("(started_at < ? or (started_at is null and sort_at < ?))", new Date(filter.until).toISOString(), filter.until);
  if (filter.parent !== undefined) add("parent_id = ?", filter.parent);
  if (filter.forkedFrom !== undefined)
    add("forked_from = ? and (parent_id is null or forked_from <> parent_id)", filter.forkedFrom);
  if (filter.topLevel) add(TOP_LEVEL);
  if (filter.kind) add(OF_KIND[filter.kind]);
  if (filter.errors) add("error_count > 0");
  if (filter.condition) add(`(${filter.condition.sql})`, ...filter.condition.params);
  if (filter.models)
    add(`exists (select 1 from json_each(usage) used where ${PLAIN} in (${marks(filter.models)}))`, ...filter.models);
  if (filter.ids) add(`id in (${marks(filter.ids)})`, ...filter.ids);
  if (filter.q) {
    const like = `%${filter.q.replace(/[\\%_]/g, "\\$&")}%`;
    const name = "coalesce(name, title, first_prompt, '')";
    // LIKE is ten times as quick and knows the case of ASCII letters alone.
    if (/^[ -~]*$/.test(filter.q)) add(`(${name} like ? escape '\\' or id like ? escape '\\')`, like, like);
    else add(`(holds(${name}, ?) or id like ? escape '\\')`, filter.q, like);
  }
  return { sql: conditions.length > 0 ? `where ${conditions.join(" and ")}` : "", params };
}
