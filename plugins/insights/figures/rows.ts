/** From a row of the catalogue to a session's figures. */
import type { SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import { QUARTER_MS } from "./buckets.ts";
import { CubeSession } from "./cube-session.ts";
import { type Counts, FIELDS, packed, type Slot, type TokenSlot } from "./packed.ts";

export interface Row {
  rowid: number;
  id: string;
  tool: string;
  project_id: string;
  parent_id: string | null;
  forked_from: string | null;
  label: string | null;
  /** ms of the end, else of the start, else of the log. */
  sort_at: number;
  ended_at: string | null;
  message_count: number;
  error_count: number;
  usage: string;
  evidence: string | null;
  facts: string;
}
interface Slots {
  [name: string]: { m: number; a: number; e: number; u?: SessionUsage };
}
interface Facts extends Counts {
  slots?: Slots;
}

/** Of the table `session`. */
export const COLUMNS =
  "rowid, id, tool, project_id, parent_id, forked_from, substr(coalesce(name, title, first_prompt), 1, 160) as label, ended_at, sort_at, " +
  "message_count, error_count, usage, evidence, facts";

/**
 * Without the touched files, which are most of it and which no view over many sessions needs. The two cuts are exact: as keys of an
 * object they stand only where `collectFacts` put them, and inside a string their quotes would be escaped.
 */
function readFacts(json: string): Facts {
  const files = json.indexOf(',"files":{');
  const slots = json.indexOf(',"slots":{', files);
  return JSON.parse(files < 0 || slots < 0 ? json : json.slice(0, files) + json.slice(slots)) as Facts;
}

export function toSession(row: Row): CubeSession {
  const facts = readFacts(row.facts);
  const slots: Slot[] = [];
  const usage: TokenSlot[] = [];
  const left = JSON.parse(row.usage) as SessionUsage;
  let messages = row.message_count;
  let errors = row.error_count;
  for (const name in facts.slots) {
    const { m, a, e, u } = facts.slots[name] as Slots[string];
    const quarter = quarterOf(name);
    slots.push({ quarter, m, a, e });
    messages -= m;
    errors -= e;
    for (const model in u) {
      const tokens = u[model] as TokenUsage;
      usage.push({ quarter, model, tokens });
      const rest = left[model];
      if (rest) for (const field of FIELDS) rest[field] -= tokens[field];
    }
  }
  // What the log gives no time for counts when the session ended.
  const fallback = Math.floor(row.sort_at / QUARTER_MS);
  for (const [model, rest] of Object.entries(left)) {
    for (const field of FIELDS) rest[field] = Math.max(0, rest[field]);
    if (FIELDS.some((field) => rest[field] > 0)) usage.push({ quarter: fallback, model, tokens: rest });
  }
  if (messages > 0 || errors > 0) {
    let last = slots.find((one) => one.quarter === fallback);
    if (!last) {
      last = { quarter: fallback, m: 0, a: 0, e: 0 };
      slots.push(last);
    }
    last.m += Math.max(0, messages);
    last.e += Math.max(0, errors);
  }
  slots.sort((a, b) => a.quarter - b.quarter);
  return new CubeSession(
    {
      id: row.id,
      kind: row.parent_id !== null ? "subagent" : row.forked_from !== null ? "fork" : "main",
      tool: row.tool,
      project: row.project_id,
      parent: row.parent_id,
      label: row.label,
      endedAt: row.ended_at === null ? null : row.sort_at,
    },
    packed(slots, usage, row.evidence === null ? null : (JSON.parse(row.evidence) as UsageEvidence), {
      kinds: facts.kinds ?? {},
      tools: facts.tools ?? {},
    }),
    row.id,
  );
}

/** The session, counted with the one it was started from, through all levels. A log may name a parent that is not here, or itself. */
export function rooted(session: CubeSession, get: (id: string) => CubeSession | undefined): CubeSession {
  let root = session;
  for (let { parent } = session, depth = 0; parent !== null && depth < 16; depth++) {
    const next = get(parent);
    if (!next || next.id === session.id) break;
    root = next;
    parent = next.parent;
  }
  return root.id === session.root ? session : session.under(root.id);
}

const days = new Map<string, number>();

/** Quarter-hour of `2026-11-20T20:15`. Sessions share their days. */
function quarterOf(name: string): number {
  const day = name.slice(0, 10);
  let first = days.get(day);
  if (first === undefined) {
    first = Date.parse(`${day}T00:00Z`) / QUARTER_MS;
    if (days.size >= 10_000) days.clear();
    days.set(day, first);
  }
  return first + Number(name.slice(11, 13)) * 4 + Math.floor(Number(name.slice(14, 16)) / 15);
}
