/** Rows of the catalogue for tests of figures: put there, and read as they stand. */
import type { Database, SessionUsage, SqlValue, TokenUsage, UsageEvidence } from "sessarc";
import type { UsageReport, UsageRow } from "../../plugins/insights/figures/report.ts";
import type { Row } from "../../plugins/insights/figures/rows.ts";
import { type SessionRows, writeRows } from "../../plugins/insights/figures/session-rows.ts";
import type { BruteSession } from "./brute.ts";

/** A statement that stores a session with one message; `more`: columns that are to say something else. */
export function insertSession(id: string, more: Record<string, SqlValue> = {}): [sql: string, params: SqlValue[]] {
  const row: Record<string, SqlValue> = { id, key: id, origin_id: "p", project_id: "p", tool: "t", title: id };
  const text = {
    usage: "{}",
    facts: '{"slots":{}}',
    source_path: "",
    source_version: "",
    parts: "[]",
    imported_at: "",
  };
  const counts = { sort_at: 0, active_ms: 0, message_count: 1, error_count: 0, generation: 1, exclusive: 1 };
  const source = { source_bytes: 0, source_mtime: 0, source_born: 0 };
  const all = Object.entries({ ...row, ...text, ...counts, ...source, ...more });
  const marks = all.map(() => "?").join(", ");
  return [
    `insert or replace into session (${all.map(([column]) => column).join(", ")}) values (${marks})`,
    all.map(([, value]) => value),
  ];
}

interface Facts {
  slots?: Record<string, { m: number; a: number; e: number; u?: SessionUsage }>;
}

/** The rows of an answer by session, as it is written. */
export async function rowsOf(answer: SessionRows): Promise<UsageRow[]> {
  let text = "";
  for await (const piece of writeRows(answer)) text += piece;
  return (JSON.parse(text) as UsageReport).rows;
}

/** The rows as they stand, by the catalogue alone. */
export async function sessionsOf(db: Pick<Database, "all">): Promise<BruteSession[]> {
  const rows = await db.all<Row>("select *, substr(coalesce(name, title, first_prompt), 1, 160) as label from session");
  const byId = new Map(rows.map((row) => [row.id, row]));
  const rootOf = (row: Row): string => {
    const parent = row.parent_id === null ? undefined : byId.get(row.parent_id);
    return parent ? rootOf(parent) : row.id;
  };
  return rows.map((row) => {
    const slots: BruteSession["slots"] = [];
    const tokens: BruteSession["tokens"] = [];
    const left: Record<string, TokenUsage> = structuredClone(JSON.parse(row.usage) as SessionUsage);
    let [messages, errors] = [row.message_count, row.error_count];
    for (const [name, { m, a, e, u }] of Object.entries((JSON.parse(row.facts) as Facts).slots ?? {})) {
      const quarter = Date.parse(`${name}:00Z`) / 900_000;
      slots.push({ quarter, m, a, e });
      messages -= m;
      errors -= e;
      for (const [model, own] of Object.entries(u ?? {})) {
        tokens.push({ quarter, model, tokens: own });
        for (const field of Object.keys(own) as (keyof TokenUsage)[]) (left[model] as TokenUsage)[field] -= own[field];
      }
    }
    // Without a time it counts at the end.
    const end = Math.floor(row.sort_at / 900_000);
    for (const [model, rest] of Object.entries(left))
      if (Object.values(rest).some((count) => count > 0)) tokens.push({ quarter: end, model, tokens: rest });
    if (messages > 0 || errors > 0) slots.push({ quarter: end, m: messages, a: 0, e: errors });
    const { id, tool, project_id: project, label } = row;
    const kind = row.parent_id !== null ? "subagent" : row.forked_from !== null ? "fork" : "main";
    const evidence = row.evidence === null ? null : (JSON.parse(row.evidence) as UsageEvidence);
    return { id, root: rootOf(row), kind, tool, project, label, evidence, slots, tokens };
  });
}
