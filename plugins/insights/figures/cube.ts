/**
 * What every view is added up from: per session its quarter-hours as plain numbers. Filled from the catalogue, never from transcripts;
 * when the archive changed, only the sessions that changed are looked at.
 */
import { type Services, type SessionUsage, Slices, type TokenUsage, type UsageEvidence } from "sessarc";
import { QUARTER_MS } from "./buckets.ts";
import { type Counts, CubeSession, packed, type Slot, type TokenSlot } from "./cube-session.ts";
import { FIELDS, Rollup } from "./rollup.ts";

type Archive = Services["archive"];

/** What the archive held at one generation. */
export interface Figures {
  readonly generation: number;
  readonly sessions: readonly CubeSession[];
  /** Their sums by day. It goes on with the archive: read it before anything is awaited. */
  readonly rollup: Rollup;
  /** Undefined too for one that was moved or removed since. */
  get(id: string): CubeSession | undefined;
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

/** Rows read between two looks at the clock. */
const PAGE = 100;

const COLUMNS =
  "rowid, id, tool, project_id, parent_id, forked_from, substr(coalesce(name, title, first_prompt), 1, 160) as label, ended_at, sort_at, " +
  "message_count, error_count, usage, evidence, facts";

export function createCube(archive: Archive, db: CatalogReader): Cube {
  let generation = -1;
  let figures: Figures | undefined;
  let running: Promise<void> | undefined;
  /** Where each session stands in the list. Only for questions about the newest figures. */
  let places = new Map<string, number>();

  async function* all(): AsyncGenerator<Row[]> {
    for (let after = 0; ; ) {
      const rows = await db.all<Row>(`select ${COLUMNS} from session where rowid > ? order by rowid limit ${PAGE}`, [
        after,
      ]);
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last.rowid;
    }
  }

  async function* some(ids: readonly string[]): AsyncGenerator<Row[]> {
    for (let i = 0; i < ids.length; i += PAGE) {
      const page = ids.slice(i, i + PAGE);
      yield await db.all<Row>(`select ${COLUMNS} from session where id in (${page.map(() => "?").join(", ")})`, page);
    }
  }

  /** All sessions anew. */
  const readAll = async (target: number) => {
    const read: CubeSession[] = [];
    const at = new Map<string, number>();
    const slices = new Slices();
    for await (const rows of all()) {
      for (const row of rows) at.set(row.id, read.push(toSession(row)) - 1);
      if (slices.due) await slices.turn();
    }
    const sessions = read.map((session) => rooted(session, (id) => read[at.get(id) ?? -1]));
    const rollup = new Rollup();
    for (let i = 0; i < sessions.length; i += PAGE) {
      rollup.change([], sessions.slice(i, i + PAGE));
      if (slices.due) await slices.turn();
    }
    adopt(target, sessions, at, rollup);
  };

  /** Those that changed, and those that now count with another one. Once they are read, in one go: others may be adding up. */
  const readSome = async (target: number, changed: ReadonlySet<string>, old: Figures) => {
    const read: CubeSession[] = [];
    const slices = new Slices();
    for await (const rows of some([...changed])) {
      for (const row of rows) read.push(toSession(row));
      if (slices.due) await slices.turn();
    }
    const sessions = [...old.sessions];
    const gone: CubeSession[] = [];
    const come: CubeSession[] = [];
    /** Somebody's parent may have come, gone or changed. */
    let related = false;
    for (const session of read) {
      const place = places.get(session.id);
      const before = place === undefined ? undefined : sessions[place];
      if (place !== undefined && before) {
        related ||= before.parent !== session.parent;
        gone.push(before);
        sessions[place] = session.under(before.root);
      } else {
        related = true;
        places.set(session.id, sessions.push(session) - 1);
      }
    }
    const there = new Set(read.map(({ id }) => id));
    for (const id of changed) {
      const place = places.get(id);
      const last = sessions.at(-1);
      if (there.has(id) || place === undefined || !last) continue;
      related = true;
      gone.push(sessions[place] as CubeSession);
      sessions[place] = last;
      places.set(last.id, place);
      places.delete(id);
      sessions.pop();
    }
    const get = (id: string) => sessions[places.get(id) ?? -1];
    if (related) {
      sessions.forEach((session, i) => {
        const now = rooted(session, get);
        if (now === session) return;
        if (!there.has(session.id)) gone.push(session);
        sessions[i] = now;
        there.add(session.id);
      });
    }
    for (const id of there) come.push(get(id) as CubeSession);
    old.rollup.change(gone, come);
    adopt(target, sessions, places, old.rollup);
  };

  const adopt = (target: number, sessions: CubeSession[], at: Map<string, number>, rollup: Rollup) => {
    const get = (id: string) => {
      const session = sessions[at.get(id) ?? -1];
      return session?.id === id ? session : undefined;
    };
    places = at;
    generation = target;
    figures = { generation: target, sessions, rollup, get };
  };

  const refresh = () => {
    const target = archive.generation;
    const changed = generation < 0 ? undefined : archive.changedSince(generation);
    return changed && figures ? readSome(target, changed, figures) : readAll(target);
  };

  return {
    async figures() {
      // A change while it ran is found by the next look; an import changes something all the time.
      while (!figures || generation !== archive.generation) {
        running ??= refresh().finally(() => {
          running = undefined;
        });
        await running;
        if (figures && archive.importer.progress.type !== "idle") break;
      }
      return figures;
    },
  };
}

interface CatalogReader {
  all<T>(sql: string, params?: (string | number)[]): Promise<T[]>;
}

/**
 * Without the touched files, which are most of it and which no view over many sessions needs. The two cuts are exact: as keys of an
 * object they stand only where `collectFacts` put them, and inside a string their quotes would be escaped.
 */
function readFacts(json: string): Facts {
  const files = json.indexOf(',"files":{');
  const slots = json.indexOf(',"slots":{', files);
  return JSON.parse(files < 0 || slots < 0 ? json : json.slice(0, files) + json.slice(slots)) as Facts;
}

function toSession(row: Row): CubeSession {
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
function rooted(session: CubeSession, get: (id: string) => CubeSession | undefined): CubeSession {
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
