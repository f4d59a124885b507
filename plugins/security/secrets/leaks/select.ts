/** Queries over what the indexer found: one row per secret, filtered and grouped. */
import type { Confidence } from "../engine.ts";
import type { LeakFilter, LeakState } from "./types.ts";

type Value = string | number;
export interface Query {
  sql: string;
  values: Value[];
}

/** A secret with what all its places say. */
export interface SecretRow {
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

/** Places that no disabled rule found, with the mark of the user. */
export const ALL = `from security_leak l left join security_mark m on m.fingerprint = l.fingerprint
  where l.rule_id not in (select id from security_builtin where enabled = 0)`;
export const SEEN = `${ALL} and l.confidence <> 'possible'`;

const RANK = "min(case l.confidence when 'definite' then 0 when 'probable' then 1 else 2 end)";
const COLUMNS = `l.fingerprint, max(l.rule_id) as rule_id, ${RANK} as sure, max(l.masked) as masked,
  coalesce(max(m.state), 'open') as state, count(distinct l.session) as sessions, sum(l.count) as count,
  min(l.first_at) as first_at, max(l.last_at) as last_at`;

/** Secrets as the table `secret`, for a query that follows. */
function secretsOf({ possible = false, id, session, kind, project, state = "open" }: LeakFilter): Query {
  const only = "l.fingerprint in (select fingerprint from security_leak";
  const wheres: string[] = [];
  const values: Value[] = [];
  const narrow = (where: string, value: Value | undefined) => {
    if (value === undefined) return;
    wheres.push(where);
    values.push(value);
  };
  narrow(" and l.fingerprint = ?", id);
  narrow(` and ${only} where session = ?)`, session);
  narrow(` and ${only} p join session s on s.id = p.session where s.project_id = ?)`, project);
  const haves: string[] = [];
  const have = (condition: string, value: Value | undefined) => {
    if (value === undefined) return;
    haves.push(condition);
    values.push(value);
  };
  have("max(l.rule_id) = ?", kind);
  have("coalesce(max(m.state), 'open') = ?", state === "all" ? undefined : state);
  const having = haves.length > 0 ? ` having ${haves.join(" and ")}` : "";
  const from = possible ? ALL : SEEN;
  return {
    sql: `with secret as (select ${COLUMNS} ${from}${wheres.join("")} group by l.fingerprint${having})`,
    values,
  };
}

const CONFIDENCE = "case sure when 0 then 'definite' when 1 then 'probable' else 'possible' end as confidence";

/** Engines limit how many values a query has. */
const MOST_FIRST = 1_000;

/** Those of `first` before the others; among them the surest and then the newest first. */
export function secrets(filter: LeakFilter, limit: number, offset: number, first: readonly string[] = []): Query {
  const { sql, values } = secretsOf(filter);
  const led = first.slice(0, MOST_FIRST);
  const lead = led.length > 0 ? `case when fingerprint in (${led.map(() => "?").join(", ")}) then 0 else 1 end, ` : "";
  return {
    sql: `${sql} select secret.*, ${CONFIDENCE} from secret order by ${lead}sure, last_at desc, fingerprint limit ? offset ?`,
    values: [...values, ...led, limit, offset],
  };
}

export interface GroupRow {
  id: string;
  name: string | null;
  secrets: number;
  sessions: number;
  first_at: string | null;
  last_at: string | null;
}

const GROUPS = `count(distinct secret.fingerprint) as secrets, count(distinct l.session) as sessions,
  min(l.first_at) as first_at, max(l.last_at) as last_at
  from secret join security_leak l on l.fingerprint = secret.fingerprint`;
const ORDER = "order by min(sure), count(distinct secret.fingerprint) desc, 1";

/** Secrets counted by rule or by project. */
export function groups(by: "kind" | "project", filter: LeakFilter): Query {
  const { sql, values } = secretsOf(filter);
  const select =
    by === "kind"
      ? `select secret.rule_id as id, null as name, ${GROUPS} group by secret.rule_id ${ORDER}`
      : `select p.id as id, coalesce(p.name, p.derived_name) as name, ${GROUPS}
         join session s on s.id = l.session join project p on p.id = s.project_id
         group by p.id, p.name, p.derived_name ${ORDER}`;
  return { sql: `${sql} ${select}`, values };
}

export interface MemberRow {
  fingerprint: string;
  kind: string;
  /** Null: the session is in no project. */
  project: string | null;
  name: string | null;
}

/** Each secret with each project of its sessions. */
export function members(filter: LeakFilter): Query {
  const { sql, values } = secretsOf(filter);
  return {
    sql: `${sql} select distinct secret.fingerprint, secret.rule_id as kind, p.id as project,
      coalesce(p.name, p.derived_name) as name
      from secret join security_leak l on l.fingerprint = secret.fingerprint
      left join session s on s.id = l.session left join project p on p.id = s.project_id order by name`,
    values,
  };
}
