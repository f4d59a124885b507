/**
 * What every view is added up from: per session its quarter-hours as plain numbers. Filled from the catalogue, never from transcripts;
 * when the archive changed, only the sessions that changed are read again.
 */
import type { Services, SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import { QUARTER_MS } from "./buckets.ts";

type Archive = Services["archive"];

/** One model's tokens of one quarter-hour. */
export interface TokenSlot {
  quarter: number;
  model: string;
  tokens: TokenUsage;
}

export interface CubeSession {
  id: string;
  tool: string;
  project: string;
  parent: string | null;
  /** The session that counts for this one: its own id, or that of the session it was started from, through all levels. */
  root: string;
  label: string | null;
  /** ms; null without times. */
  endedAt: number | null;
  activeMs: number;
  messages: number;
  evidence: UsageEvidence | null;
  /** Quarter-hours since the epoch, growing; with messages, active ms and failed calls of each. */
  quarters: Int32Array;
  m: Int32Array;
  a: Float64Array;
  e: Int32Array;
  usage: TokenSlot[];
  /** Of the session as a whole; put together when first asked for. */
  counts(): Counts;
}

export interface Counts {
  /** Messages by kind. */
  kinds: Record<string, number>;
  /** Calls and failures by tool name. */
  tools: Record<string, [calls: number, errors: number]>;
}

/** What the archive held at one generation. */
export interface Figures {
  readonly generation: number;
  readonly sessions: ReadonlyMap<string, CubeSession>;
}

export interface Cube {
  /** All sessions as of now. One flight for concurrent callers; a few ms per thousand changed sessions, in slices. */
  figures(): Promise<Figures>;
}

interface Row {
  rowid: number;
  id: string;
  tool: string;
  project_id: string;
  parent_id: string | null;
  label: string | null;
  /** ms of the end, else of the start, else of the log. */
  sort_at: number;
  ended_at: string | null;
  active_ms: number;
  message_count: number;
  error_count: number;
  usage: string;
  evidence: string | null;
  stamp: string;
  facts?: string;
}
interface Slots {
  [name: string]: { m: number; a: number; e: number; u?: SessionUsage };
}
interface Facts {
  slots: Slots;
  counts(): Counts;
}

/** Rows read between two turns of the event loop. */
const PAGE = 250;
const FACTS_PAGE = 100;

const COLUMNS =
  "rowid, id, tool, project_id, parent_id, substr(coalesce(name, title, first_prompt), 1, 160) as label, ended_at, sort_at, " +
  "active_ms, message_count, error_count, usage, evidence, generation || ':' || imported_at as stamp";
const page = (columns: string) => `select ${columns} from session where rowid > ? order by rowid limit ${PAGE}`;
const LOOK = page(COLUMNS);
/** The first time every session is new: one query instead of two. */
const LOAD = page(`${COLUMNS}, facts`);

export function createCube(archive: Archive, db: CatalogReader): Cube {
  let current: Figures = { generation: -1, sessions: new Map() };
  let stamps = new Map<string, string>();
  let running: Promise<void> | undefined;

  const refresh = async () => {
    const target = archive.generation;
    const next = new Map<string, CubeSession>();
    const nextStamps = new Map<string, string>();
    const changed: Row[] = [];
    const sql = current.generation < 0 ? LOAD : LOOK;
    for (let after = 0; ; ) {
      const rows = await db.all<Row>(sql, [after]);
      for (const row of rows) {
        const known = stamps.get(row.id) === stampOf(row) ? current.sessions.get(row.id) : undefined;
        nextStamps.set(row.id, stampOf(row));
        if (known) next.set(row.id, { ...known, project: row.project_id, label: row.label });
        else if (row.facts === undefined) changed.push(row);
        else next.set(row.id, toSession(row, readFacts(row.facts)));
      }
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) break;
      after = last.rowid;
      await turn();
    }
    for (let i = 0; i < changed.length; i += FACTS_PAGE) {
      const rows = changed.slice(i, i + FACTS_PAGE);
      const found = await db.all<{ id: string; facts: string }>(
        `select id, facts from session where id in (${rows.map(() => "?").join(", ")})`,
        rows.map((row) => row.id),
      );
      const facts = new Map(found.map((row) => [row.id, readFacts(row.facts)]));
      for (const row of rows) next.set(row.id, toSession(row, facts.get(row.id)));
      await turn();
    }
    for (const session of next.values()) session.root = rootOf(session, next);
    current = { generation: target, sessions: next };
    stamps = nextStamps;
  };

  return {
    async figures() {
      // A change while it ran is found by the next look; an import changes something all the time.
      while (current.generation !== archive.generation) {
        running ??= refresh().finally(() => {
          running = undefined;
        });
        await running;
        if (archive.importer.progress.type !== "idle") break;
      }
      return current;
    },
  };
}

interface CatalogReader {
  all<T>(sql: string, params?: (string | number)[]): Promise<T[]>;
}

/** Lets other requests in between two slices of work. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Changes with whatever the cube keeps of a session: what moves to another session changes its figures alone. */
const stampOf = (row: Row) => `${row.stamp}\0${row.message_count}\0${row.usage}`;

/**
 * Without the touched files, which are most of it and which no view over many sessions needs; what only some views need is parsed for
 * them. The two cuts are exact: as keys of an object they stand only where `collectFacts` put them, and inside a string their quotes
 * would be escaped.
 */
function readFacts(json: string): Facts {
  const files = json.indexOf(',"files":{');
  const slots = json.indexOf(',"slots":{', files);
  if (files < 0 || slots < 0) {
    const whole = JSON.parse(json) as Counts & { slots?: Slots };
    return { slots: whole.slots ?? {}, counts: () => whole };
  }
  // A copy: a piece of the text would keep all of it.
  let head = Buffer.from(`${json.slice(0, files)}}`).toString();
  let counts: Counts | undefined;
  return {
    slots: (JSON.parse(`{${json.slice(slots + 1)}`) as { slots: Slots }).slots,
    counts() {
      counts ??= JSON.parse(head) as Counts;
      head = "";
      return counts;
    },
  };
}

const NO_COUNTS: Counts = { kinds: {}, tools: {} };

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

function toSession(row: Row, facts: Facts | undefined): CubeSession {
  const slots: { quarter: number; slot: Slots[string] }[] = [];
  for (const name in facts?.slots) slots.push({ quarter: quarterOf(name), slot: facts.slots[name] as Slots[string] });
  slots.sort((a, b) => a.quarter - b.quarter);
  const usage: TokenSlot[] = [];
  const left = JSON.parse(row.usage) as SessionUsage;
  let messages = row.message_count;
  let errors = row.error_count;
  for (const { quarter, slot } of slots) {
    messages -= slot.m;
    errors -= slot.e;
    for (const model in slot.u) {
      const tokens = slot.u[model] as TokenUsage;
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
      last = { quarter: fallback, slot: { m: 0, a: 0, e: 0 } };
      slots.push(last);
      slots.sort((a, b) => a.quarter - b.quarter);
    }
    last.slot.m += Math.max(0, messages);
    last.slot.e += Math.max(0, errors);
  }
  return {
    id: row.id,
    tool: row.tool,
    project: row.project_id,
    parent: row.parent_id,
    root: row.id,
    label: row.label,
    endedAt: row.ended_at === null ? null : row.sort_at,
    activeMs: row.active_ms,
    messages: row.message_count,
    evidence: row.evidence === null ? null : (JSON.parse(row.evidence) as UsageEvidence),
    quarters: Int32Array.from(slots, (one) => one.quarter),
    m: Int32Array.from(slots, (one) => one.slot.m),
    a: Float64Array.from(slots, (one) => one.slot.a),
    e: Int32Array.from(slots, (one) => one.slot.e),
    usage,
    counts: facts?.counts ?? (() => NO_COUNTS),
  };
}

/** A log may name a parent that is not here, or itself. */
function rootOf(session: CubeSession, sessions: ReadonlyMap<string, CubeSession>): string {
  let root = session;
  for (let depth = 0; root.parent !== null && depth < 16; depth++) {
    const parent = sessions.get(root.parent);
    if (!parent || parent === session) break;
    root = parent;
  }
  return root.id;
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
