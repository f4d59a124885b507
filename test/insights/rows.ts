/** Rows of the catalogue for tests of figures: put there, and read as they stand. */
import type { Database, SessionUsage, SqlValue, Statement, TokenUsage, UsageEvidence } from "sessarc";
import { writeFigures } from "../../plugins/archive/figures/write.ts";
import archive, { type SessionFacts } from "../../plugins/archive/index.ts";
import insights from "../../plugins/insights/index.ts";
import { createTestKernel } from "../kernel.ts";
import type { BruteSession } from "./brute.ts";

/** An empty catalogue as a service has it, and its prices. */
export async function openCatalogue(own: Record<string, { input: number; output: number }> = {}) {
  const { kernel, close } = await createTestKernel({ plugins: [archive(), insights()], config: { prices: own } });
  const pricing = kernel.inject("pricing");
  return { db: kernel.storage.db, pricing, prices: pricing.now, close };
}

/** A statement that stores a session with one message; `more`: columns that are to say something else. */
export function insertSession(id: string, more: Record<string, SqlValue> = {}): [sql: string, params: SqlValue[]] {
  const row: Record<string, SqlValue> = { id, key: id, origin_id: "p", project_id: "p", tool: "t", title: id };
  const text = {
    usage: "{}",
    source_path: "",
    source_version: "",
    parts: "[]",
    imported_at: "",
  };
  const counts = { sort_at: 0, active_ms: 0, message_count: 1, error_count: 0, generation: 1, exclusive: 1 };
  const source = { source_bytes: 0, source_mtime: 0, source_born: 0, transcript_bytes: 0 };
  const all = Object.entries({ ...row, ...text, ...counts, ...source, ...more });
  const marks = all.map(() => "?").join(", ");
  return [
    `insert or replace into session (${all.map(([column]) => column).join(", ")}) values (${marks})`,
    all.map(([, value]) => value),
  ];
}

type Slots = SessionFacts["slots"];

/** What `storeSession` was given, by database and session: the figures are compared with it and not with themselves. */
const given = new WeakMap<object, Map<string, Slots>>();

/** Columns of a session that are to say something else, and what it did by quarter-hour. */
export interface SlottedSession {
  row: Record<string, SqlValue>;
  slots: Slots;
}

/** Statements that store a session and its figures. */
export function storeSession(db: Pick<Database, "all">, id: string, { slots, row: more }: SlottedSession): Statement[] {
  given.set(db, (given.get(db) ?? new Map<string, Slots>()).set(id, slots));
  const row = { usage: "{}", evidence: null, sort_at: 0, ...more };
  const figures = {
    id,
    usage: JSON.parse(String(row.usage)) as SessionUsage,
    evidence: row.evidence === null ? null : (JSON.parse(String(row.evidence)) as UsageEvidence),
    facts: { kinds: {}, tools: {}, files: {}, slots, last: null },
    messages: Number(more.message_count ?? 1),
    errors: Number(more.error_count ?? 0),
    sortAt: Number(row.sort_at),
  };
  return [insertSession(id, more), ...writeFigures(figures)];
}

interface Row {
  id: string;
  tool: string;
  project_id: string;
  parent_id: string | null;
  forked_from: string | null;
  cwd: string | null;
  git_branch: string | null;
  label: string | null;
  sort_at: number;
  message_count: number;
  error_count: number;
  usage: string;
  evidence: string | null;
}

/** The rows as they stand, by the catalogue alone. */
export async function readSessions(db: Pick<Database, "all">): Promise<BruteSession[]> {
  const rows = await db.all<Row>("select *, substr(coalesce(name, title, first_prompt), 1, 160) as label from session");
  const byId = new Map(rows.map((row) => [row.id, row]));
  const toRoot = (row: Row): string => {
    let root = row;
    // A log may name itself, or one that it started itself, as its parent.
    for (let depth = 0; root.parent_id !== null && depth < 16; depth++) {
      const parent = byId.get(root.parent_id);
      if (!parent || parent.id === row.id) break;
      root = parent;
    }
    return root.id;
  };
  const stored = given.get(db) ?? (await readSlots(db));
  return rows.map((row) => {
    const slots: BruteSession["slots"] = [];
    const tokens: BruteSession["tokens"] = [];
    const left: Record<string, TokenUsage> = structuredClone(JSON.parse(row.usage) as SessionUsage);
    let [messages, errors] = [row.message_count, row.error_count];
    for (const [name, { m, a, e, u }] of Object.entries(stored.get(row.id) ?? {})) {
      const quarter = Date.parse(`${name}:00Z`) / 900_000;
      slots.push({ quarter, m, a, e });
      messages -= m;
      errors -= e;
      for (const [model, own] of Object.entries(u ?? {})) {
        tokens.push({ quarter, model, tokens: own });
        for (const field of Object.keys(own) as (keyof TokenUsage)[]) (left[model] as TokenUsage)[field] -= own[field];
      }
    }
    // Without a time it counts for the end.
    const end = Math.floor(row.sort_at / 900_000);
    for (const [model, rest] of Object.entries(left))
      if (Object.values(rest).some((count) => count > 0)) tokens.push({ quarter: end, model, tokens: rest });
    if (messages > 0 || errors > 0) slots.push({ quarter: end, m: messages, a: 0, e: errors });
    const { id, tool, project_id: project, label } = row;
    const kind = row.parent_id !== null ? "subagent" : row.forked_from !== null ? "fork" : "main";
    const evidence = row.evidence === null ? null : (JSON.parse(row.evidence) as UsageEvidence);
    const root = toRoot(row);
    const above = byId.get(root);
    const branch = `${project}:${row.git_branch ?? above?.git_branch ?? ""}`;
    const folder = row.cwd ?? above?.cwd ?? "";
    return { id, root, kind, tool, project, branch, folder, label, evidence, slots, tokens };
  });
}

/** Of sessions that an import stored. */
async function readSlots(db: Pick<Database, "all">): Promise<Map<string, Slots>> {
  const sessions = new Map<string, Slots>();
  const toSlot = (session: string, quarter: number) => {
    const slots = sessions.get(session) ?? {};
    sessions.set(session, slots);
    const name = new Date(quarter * 900_000).toISOString().slice(0, 16);
    slots[name] ??= { m: 0, a: 0, e: 0, u: {} };
    return slots[name];
  };
  type Work = { session: string; quarter: number; messages: number; active_ms: number; errors: number };
  for (const { session, quarter, messages, active_ms, errors } of await db.all<Work>("select * from usage_work"))
    Object.assign(toSlot(session, quarter), { m: messages, a: active_ms, e: errors });
  type Tokens = TokenUsage & { session: string; quarter: number; model: string };
  const tokens = await db.all<Tokens>(
    `select session, quarter, model, input, output, cache_write_5m as cacheWrite5m, cache_write_1h as cacheWrite1h,
       cache_read as cacheRead from usage_tokens`,
  );
  for (const { session, quarter, model, ...own } of tokens)
    Object.assign(toSlot(session, quarter).u ?? {}, { [model]: own });
  return sessions;
}
