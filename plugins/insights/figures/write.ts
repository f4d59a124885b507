/** Writes a session's figures: in the batch that stores the session, so that a question never sees one without the other. */

import {
  type Database,
  emptyUsage,
  type KernelHooks,
  type SessionUsage,
  type Statement,
  type TokenUsage,
} from "sessarc";
import { marks } from "#internal/adapter";
import { QUARTER_MS } from "./buckets.ts";

/** By way of the hook: a name that only plugins declare cannot be imported. */
type Written = Parameters<KernelHooks["session:write"]>[0];
type SessionFigures = Written["session"];

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

interface Work {
  messages: number;
  activeMs: number;
  errors: number;
}
interface Tokens {
  quarter: number;
  model: string;
  tokens: TokenUsage;
}

const TABLES = ["usage_work", "usage_tokens", "usage_total", "usage_call", "usage_kind"] as const;

/** Adds statements that replace the session's figures. */
export async function writeFigures(db: Pick<Database, "get">, { session, write }: Written): Promise<void> {
  const { id, parentId, facts, evidence } = session;
  const { work, tokens } = byQuarter(session);
  const totals = new Map<string, TokenUsage>();
  for (const { model, tokens: own } of tokens) totals.set(model, sumOf(totals.get(model) ?? emptyUsage(), own));
  const known = await db.get<{ parent: string | null }>("select parent from usage_session where session = ?", [id]);
  write.push(...TABLES.map((table): Statement => [`delete from ${table} where session = ?`, [id]]));
  write.push([HEAD, [id, ...sumsOf(work), promptOf(totals), ...evidenceOf(evidence)]]);
  for (const [quarter, { messages, activeMs, errors }] of work)
    write.push(["insert into usage_work values (?, ?, ?, ?, ?)", [id, quarter, messages, activeMs, errors]]);
  for (const one of tokens) {
    const counts = FIELDS.map((field) => one.tokens[field]);
    write.push(["insert into usage_tokens values (?, ?, ?, ?, ?, ?, ?, ?)", [id, one.quarter, one.model, ...counts]]);
  }
  for (const [model, sum] of totals) {
    const counts = FIELDS.map((field) => sum[field]);
    write.push(["insert into usage_total values (?, ?, ?, ?, ?, ?, ?)", [id, model, ...counts]]);
    write.push(["insert into usage_model values (?) on conflict do nothing", [model]]);
  }
  for (const [name, [calls, errors]] of Object.entries(facts.tools ?? {}))
    write.push(["insert into usage_call values (?, ?, ?, ?)", [id, name, calls, errors]]);
  for (const [kind, messages] of Object.entries(facts.kinds ?? {}))
    write.push(["insert into usage_kind values (?, ?, ?)", [id, kind, messages]]);
  if (known?.parent !== parentId) write.push([reroot("select ?"), [id]]);
}

interface Row {
  id: string;
  parent_id: string | null;
  usage: string;
  evidence: string | null;
  facts: string;
  message_count: number;
  error_count: number;
  sort_at: number;
}

/** Sessions whose figures are written together. */
const PAGE = 50;

/** Writes the figures of sessions that have none: an archive that was made without them. Two counts where there are no such sessions. */
export async function fillFigures(db: Database): Promise<void> {
  const counts = await db.get<{ sessions: number; written: number }>(
    "select (select count(*) from session) as sessions, (select count(*) from usage_session) as written",
  );
  if (counts?.sessions === counts?.written) return;
  for (;;) {
    const rows = await db.all<Row>(
      `select id, parent_id, usage, evidence, facts, message_count, error_count, sort_at from session
       where not exists (select 1 from usage_session u where u.session = session.id) limit ${PAGE}`,
    );
    if (rows.length === 0) return;
    const write: Statement[] = [];
    for (const row of rows) {
      const session: SessionFigures = {
        id: row.id,
        parentId: row.parent_id,
        usage: JSON.parse(row.usage) as SessionUsage,
        evidence: row.evidence === null ? null : (JSON.parse(row.evidence) as SessionFigures["evidence"]),
        facts: JSON.parse(row.facts) as SessionFigures["facts"],
        messages: row.message_count,
        errors: row.error_count,
        sortAt: row.sort_at,
      };
      await writeFigures(db, { session, write });
    }
    await db.batch(write);
  }
}

/** Statements that remove the figures of sessions. Sub-agents that remain count for themselves. */
export function eraseFigures(ids: readonly string[]): Statement[] {
  return [
    ...["usage_session", ...TABLES].map(
      (table): Statement => [`delete from ${table} where session in (${marks(ids)})`, ids],
    ),
    [reroot(`select session from usage_session where parent in (${marks(ids)})`), ids],
  ];
}

/** What the table `session` says is read from there: the project may have been associated since the log was read. */
const HEAD = `insert into usage_session
  select id, tool, case when parent_id is not null then 'subagent' when forked_from is not null then 'fork' else 'main' end,
    project_id, parent_id, id, case when ended_at is null then null else sort_at end, ?2, ?3, ?4, ?5, ?6, ?7,
    ?8, ?9, ?10, ?11
  from session where id = ?1
  on conflict (session) do update set tool = excluded.tool, kind = excluded.kind, project = excluded.project,
    parent = excluded.parent, ended = excluded.ended, first = excluded.first, last = excluded.last,
    messages = excluded.messages, active_ms = excluded.active_ms, errors = excluded.errors, prompt = excluded.prompt,
    records = excluded.records, requests = excluded.requests, duplicates = excluded.duplicates, inherited = excluded.inherited`;

/** Levels of sub-agents that are followed. A log may name a parent that is not here, or itself. */
const DEPTH = 16;

/** Sets the roots of the sessions that `first` selects and of all that they started. */
const reroot = (first: string) => `update usage_session set root = (
    with recursive up (id, parent, depth) as (
      select u.session, u.parent, 0 from usage_session u where u.session = usage_session.session
      union all
      select p.session, p.parent, up.depth + 1 from up join usage_session p on p.session = up.parent
      where up.depth < ${DEPTH} and p.session <> usage_session.session
    )
    select id from up order by depth desc limit 1
  )
  where session in (
    with recursive down (id) as (
      ${first} union select c.session from down join usage_session c on c.parent = down.id
    )
    select id from down
  )`;

/** Messages and tokens by quarter-hour. What the log gives no time for counts when the session ended. Each quarter with tokens has its work. */
function byQuarter({ facts, usage, messages, errors, sortAt }: SessionFigures): {
  work: Map<number, Work>;
  tokens: Tokens[];
} {
  const work = new Map<number, Work>();
  const tokens: Tokens[] = [];
  const left = structuredClone(usage) as SessionUsage;
  let [restMessages, restErrors] = [messages, errors];
  for (const [name, { m, a, e, u = {} }] of Object.entries(facts.slots ?? {})) {
    const quarter = Date.parse(`${name}Z`) / QUARTER_MS;
    work.set(quarter, { messages: m, activeMs: a, errors: e });
    restMessages -= m;
    restErrors -= e;
    for (const [model, own] of Object.entries(u)) {
      tokens.push({ quarter, model, tokens: own });
      const rest = left[model];
      if (rest) for (const field of FIELDS) rest[field] -= own[field];
    }
  }
  const end = Math.floor(sortAt / QUARTER_MS);
  const atEnd = (): Work => {
    const known = work.get(end) ?? { messages: 0, activeMs: 0, errors: 0 };
    work.set(end, known);
    return known;
  };
  for (const [model, rest] of Object.entries(left)) {
    for (const field of FIELDS) rest[field] = Math.max(0, rest[field]);
    if (FIELDS.every((field) => rest[field] === 0)) continue;
    atEnd();
    const same = tokens.find((one) => one.quarter === end && one.model === model);
    if (same) same.tokens = sumOf(same.tokens, rest);
    else tokens.push({ quarter: end, model, tokens: rest });
  }
  if (restMessages > 0 || restErrors > 0) {
    const last = atEnd();
    last.messages += Math.max(0, restMessages);
    last.errors += Math.max(0, restErrors);
  }
  return { work, tokens };
}

/** First and last quarter-hour, messages, active ms, errors. */
function sumsOf(work: ReadonlyMap<number, Work>): (number | null)[] {
  let first: number | null = null;
  let last: number | null = null;
  const sum: Work = { messages: 0, activeMs: 0, errors: 0 };
  for (const [quarter, { messages, activeMs, errors }] of work) {
    first = Math.min(first ?? quarter, quarter);
    last = Math.max(last ?? quarter, quarter);
    sum.messages += messages;
    sum.activeMs += activeMs;
    sum.errors += errors;
  }
  return [first, last, sum.messages, sum.activeMs, sum.errors];
}

function promptOf(totals: ReadonlyMap<string, TokenUsage>): number {
  let sum = 0;
  for (const { input, cacheWrite5m, cacheWrite1h, cacheRead } of totals.values())
    sum += input + cacheWrite5m + cacheWrite1h + cacheRead;
  return sum;
}

const evidenceOf = (evidence: SessionFigures["evidence"]): number[] => [
  evidence?.records ?? 0,
  evidence?.requests ?? 0,
  evidence?.duplicatesFolded ?? 0,
  evidence?.inheritedExcluded ?? 0,
];

const sumOf = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  cacheRead: a.cacheRead + b.cacheRead,
});
