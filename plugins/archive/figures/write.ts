/** Writes a session's figures: in the batch that stores the session, so that a question never sees one without the other. */

import { marks, type SessionUsage, type SqlValue, type Statement, type TokenUsage } from "sessarc";
import { addUsage, emptyUsage } from "sessarc/adapter";
import type { SessionFacts, SessionFigures } from "../catalogue/types.ts";
import type { CountState, Untimed } from "./read.ts";

const QUARTER_MS = 900_000;
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

/** Inserts rows that are given as JSON: one statement a table, however many there are. `columns`: types in order. Names end at a zero byte, so two of
 * a log may be one. */
const inserting = (table: string, ...columns: ("text" | "bigint")[]) =>
  `insert into usage_${table} select ?1, ${columns.map((type, i) => `cast(json_extract(value, '$[${i}]') as ${type})`).join(", ")}
   from json_each(cast(?2 as text)) where true on conflict do nothing`;
const COUNTS = FIELDS.map(() => "bigint" as const);
const INSERT = {
  work: inserting("work", "bigint", "bigint", "bigint", "bigint"),
  tokens: inserting("tokens", "bigint", "text", ...COUNTS),
  total: inserting("total", "text", ...COUNTS),
  call: inserting("call", "text", "bigint", "bigint"),
  kind: inserting("kind", "text", "bigint"),
  skill: inserting("skill", "text", "bigint", "bigint", "bigint"),
};
const MODELS = "insert into usage_model select value from json_each(?) where true on conflict do nothing";

/** Statements that replace the session's figures; to be committed after its row. */
export function writeFigures(session: SessionFigures): Statement[] {
  const { id, facts, evidence } = session;
  const { work, tokens, untimed } = byQuarter(session);
  const totals = new Map<string, TokenUsage>();
  for (const { model, tokens: own } of tokens) totals.set(model, addUp(totals.get(model) ?? emptyUsage(), own));
  const write: Statement[] = [
    ["delete from usage_session where session = ?", [id]],
    [HEAD, [id, ...findSums(work), toPrompt(totals), ...toEvidence(evidence)]],
    [REROOT_ONE, [id]],
    ["insert into usage_state values (?, cast(? as text))", [id, toBytes(toState(facts, untimed))]],
  ];
  const add = (sql: string, rows: Iterable<readonly SqlValue[]>) => {
    const list = [...rows];
    if (list.length > 0) write.push([sql, [id, toBytes(list)]]);
  };
  add(
    INSERT.work,
    Array.from(work, ([quarter, { messages, activeMs, errors }]) => [quarter, messages, activeMs, errors]),
  );
  add(
    INSERT.tokens,
    tokens.map((one) => [one.quarter, one.model, ...FIELDS.map((field) => one.tokens[field])]),
  );
  add(
    INSERT.total,
    Array.from(totals, ([model, sum]) => [model, ...FIELDS.map((field) => sum[field])]),
  );
  if (totals.size > 0) write.push([MODELS, [JSON.stringify([...totals.keys()])]]);
  add(
    INSERT.call,
    Object.entries(facts.tools).map(([name, counts]) => [name, ...counts]),
  );
  add(INSERT.kind, Object.entries(facts.kinds));
  add(
    INSERT.skill,
    Object.entries(facts.skills ?? {}).map(([name, uses]) => [name, ...uses]),
  );
  if (Object.keys(facts.files).length > 0)
    write.push(["insert into usage_files values (?, cast(? as text))", [id, toBytes(facts.files)]]);
  const { context } = facts;
  if (context) {
    const most = new Map(context.most).get(context.model) ?? context.tokens;
    write.push(["insert into usage_context values (?, ?, ?, ?)", [id, context.model, context.tokens, most]]);
  }
  return write;
}

/** Statements that remove the figures of sessions. Sub-agents that remain count for themselves. */
export const eraseFigures = (ids: readonly string[]): Statement[] => [
  [`delete from usage_session where session in (${marks(ids)})`, ids],
  [reroot(`select session from usage_session where parent in (${marks(ids)})`), ids],
];

/** What the table `session` says is read from there: the project may have been associated since the log was read. */
const HEAD = `insert into usage_session
  select id, tool, case when parent_id is not null then 'subagent' when forked_from is not null then 'fork' else 'main' end,
    project_id, parent_id, coalesce((select p.root from usage_session p where p.session = parent_id), id),
    case when ended_at is null then null else sort_at end, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
  from session where id = ?1`;

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

/** Of a session that was stored: two look-ups where its root and those of the sessions that it started are right. */
const REROOT_ONE = reroot(`select u.session from usage_session u where u.session = ? and (
    u.root <> coalesce((select p.root from usage_session p where p.session = u.parent), u.session)
    or exists (select 1 from usage_session c where c.parent = u.session and c.root <> u.root))`);

/** Messages and tokens by quarter-hour. What the log gives no time for counts when the session ended. Each quarter with tokens has its work. */
function byQuarter({ facts, usage, messages, errors, sortAt }: SessionFigures): {
  work: Map<number, Work>;
  tokens: Tokens[];
  untimed: Untimed | undefined;
} {
  const work = new Map<number, Work>();
  const tokens: Tokens[] = [];
  const left = structuredClone(usage) as SessionUsage;
  let [restMessages, restErrors] = [messages, errors];
  for (const [name, { m, a, e, u = {} }] of Object.entries(facts.slots)) {
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
  const untimed: Untimed = {
    quarter: end,
    messages: Math.max(0, restMessages),
    errors: Math.max(0, restErrors),
    usage: {},
  };
  for (const [model, rest] of Object.entries(left)) {
    for (const field of FIELDS) rest[field] = Math.max(0, rest[field]);
    if (FIELDS.every((field) => rest[field] === 0)) continue;
    atEnd();
    addUsage(untimed.usage, model, rest);
    const same = tokens.find((one) => one.quarter === end && one.model === model);
    if (same) same.tokens = addUp(same.tokens, rest);
    else tokens.push({ quarter: end, model, tokens: rest });
  }
  if (untimed.messages + untimed.errors > 0) {
    const last = atEnd();
    last.messages += untimed.messages;
    last.errors += untimed.errors;
  } else if (Object.keys(untimed.usage).length === 0) return { work, tokens, untimed: undefined };
  return { work, tokens, untimed };
}

const toState = (
  { last, context, loose, looseBefore, open, changing, asked }: SessionFacts,
  untimed: Untimed | undefined,
): CountState => ({ last, most: context?.most, loose, looseBefore, open, changing, asked, untimed });

/** Bytes: a long text costs sql.js thirty times as much to bind. */
const toBytes = (value: object) => Buffer.from(JSON.stringify(value));

/** First and last quarter-hour, messages, active ms, errors. */
function findSums(work: ReadonlyMap<number, Work>): (number | null)[] {
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

function toPrompt(totals: ReadonlyMap<string, TokenUsage>): number {
  let sum = 0;
  for (const { input, cacheWrite5m, cacheWrite1h, cacheRead } of totals.values())
    sum += input + cacheWrite5m + cacheWrite1h + cacheRead;
  return sum;
}

const toEvidence = (evidence: SessionFigures["evidence"]): number[] => [
  evidence?.records ?? 0,
  evidence?.requests ?? 0,
  evidence?.duplicatesFolded ?? 0,
  evidence?.inheritedExcluded ?? 0,
];

const addUp = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  cacheRead: a.cacheRead + b.cacheRead,
});
