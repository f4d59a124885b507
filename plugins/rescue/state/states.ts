/** What each session is at its assistant: listed, hidden, about to be deleted, gone; and whether its folder is there. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { eachInLanes, type Kernel, type SqlValue } from "sessarc";
import { isGone } from "sessarc/files";
import { HIDDEN, type Hidden } from "../contract.ts";

/**
 * `listed`: its log is there, and no fact says that the assistant leaves it out. `hidden`: its log is there, its assistant's list leaves it
 * out. `dying`: its assistant deletes the log within seven days. `gone`: its log is not there. `reclaimed`: it is not there because sessarc
 * removed it on request. `folder-gone`: the folder it worked in is not there, whatever else holds; `dying` may hold with `listed` and `hidden`.
 */
export const STATES = ["listed", "hidden", "dying", "gone", "reclaimed", "folder-gone"] as const;
export type SessionState = (typeof STATES)[number];

export interface StateOf {
  state: SessionState;
  /** Of `hidden`: why. */
  reason?: Hidden;
  /** Of `dying`: the day, as ISO 8601. */
  at?: string;
}

/** Part of a question about sessions. */
interface Condition {
  sql: string;
  params: readonly SqlValue[];
}

export interface States {
  /** The condition that a row of `session` has the state. */
  condition(state: SessionState): Promise<Condition>;
  /** States of sessions by id. */
  of(ids: readonly string[]): Promise<Map<string, StateOf[]>>;
}

const DAY = 86_400_000;
const AHEAD_DAYS = 7;
const FRESH_MS = 60_000;
/** Folders that are checked at once. */
const WIDTH = 16;

const RECLAIMED_SQL = "exists (select 1 from rescue_reclaimed where rescue_reclaimed.session = session.id)";
const HIDDEN_SQL = "select hidden from rescue_log where rescue_log.session = session.id";

interface Retained {
  tool: string;
  ms: number;
  /** Folders that the user added: no assistant deletes anything there. */
  dirs: readonly string[];
}

export function createStates(kernel: Kernel): States {
  const { db } = kernel.storage;
  let folders: { at: number; gone: Promise<string[]> } | undefined;

  async function retained(): Promise<Retained[]> {
    const found: Retained[] = [];
    for (const adapter of kernel.registry.adapters.values()) {
      const retention = await adapter.retention?.(kernel.env);
      const dirs = kernel.registry.folders.get(adapter.name)?.dirs ?? [];
      if (retention) found.push({ tool: adapter.name, ms: retention.days * DAY, dirs });
    }
    return found;
  }

  async function goneFolders(): Promise<string[]> {
    const now = Date.now();
    if (!folders || now - folders.at > FRESH_MS) {
      folders = { at: now, gone: findGone(kernel) };
      folders.gone.catch(() => {
        folders = undefined;
      });
    }
    return folders.gone;
  }

  async function dying(): Promise<Condition> {
    const sql: string[] = [];
    const params: SqlValue[] = [];
    // By the hour: a list that is asked for again is the same question.
    const now = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
    for (const { tool, ms, dirs } of await retained()) {
      const own = dirs.map(() => "and substr(source_path, 1, ?) <> ?").join(" ");
      sql.push(`(tool = ? and source_mtime <= ? ${own})`);
      params.push(tool, Math.round(now - ms + AHEAD_DAYS * DAY), ...dirs.flatMap((dir) => [dir.length, dir]));
    }
    return { sql: sql.length === 0 ? "0" : `missing = 0 and (${sql.join(" or ")})`, params };
  }

  const conditions: Record<SessionState, () => Promise<Condition> | Condition> = {
    listed: () => ({ sql: `missing = 0 and (${HIDDEN_SQL}) is null`, params: [] }),
    hidden: () => ({ sql: `missing = 0 and (${HIDDEN_SQL}) is not null`, params: [] }),
    gone: () => ({ sql: `missing = 1 and not ${RECLAIMED_SQL}`, params: [] }),
    reclaimed: () => ({ sql: `missing = 1 and ${RECLAIMED_SQL}`, params: [] }),
    dying,
    "folder-gone": async () => ({
      sql: "cwd in (select value from json_each(?))",
      params: [JSON.stringify(await goneFolders())],
    }),
  };

  return {
    condition: async (state) => conditions[state](),
    async of(ids) {
      const [gone, rules] = await Promise.all([goneFolders(), retained()]);
      const isGoneFolder = new Set(gone);
      const rows = await db.all<Row>(
        `select id, tool, cwd, missing, source_path as path, source_mtime as mtime, (${HIDDEN_SQL}) as hidden, ${RECLAIMED_SQL} as reclaimed
           from session where id in (select value from json_each(?))`,
        [JSON.stringify(ids)],
      );
      const until = Date.now() + AHEAD_DAYS * DAY;
      return new Map(
        rows.map((row) => {
          const states: StateOf[] = [];
          const rule = rules.find(({ tool }) => tool === row.tool);
          const at = rule && !rule.dirs.some((dir) => row.path.startsWith(dir)) ? row.mtime + rule.ms : undefined;
          const reason = HIDDEN.find((one) => one === row.hidden);
          if (row.missing) states.push({ state: row.reclaimed ? "reclaimed" : "gone" });
          else if (reason) states.push({ state: "hidden", reason });
          else states.push({ state: "listed" });
          if (!row.missing && at !== undefined && at <= until)
            states.push({ state: "dying", at: new Date(at).toISOString() });
          if (row.cwd !== null && isGoneFolder.has(row.cwd)) states.push({ state: "folder-gone" });
          return [row.id, states];
        }),
      );
    },
  };
}

interface Row {
  id: string;
  tool: string;
  cwd: string | null;
  missing: number;
  path: string;
  mtime: number;
  hidden: string | null;
  reclaimed: number;
}

/** Folders of sessions that are not there. One that cannot be checked (no permission) counts as there. */
async function findGone(kernel: Kernel): Promise<string[]> {
  const rows = await kernel.storage.db.all<{ cwd: string }>("select distinct cwd from session where cwd is not null");
  const paths = rows.map(({ cwd }) => cwd).filter(isAbsolute);
  const gone: string[] = [];
  await eachInLanes(paths, WIDTH, async (path) => {
    const there = await stat(path).then(
      (info) => info.isDirectory(),
      (error: unknown) => !isGone(error),
    );
    if (!there) gone.push(path);
  });
  return gone.sort();
}
