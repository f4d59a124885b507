/**
 * `session-store.db` beside the sessions: since August 2026 it has every request of every session with all its tokens, those of
 * sub-agents and compactions and of runs that were killed included. Its other tables hold what the logs say and are not read.
 */
import { lstat } from "node:fs/promises";
import { toIso, toText } from "sessarc";
import { openSqliteFile, presentColumns, sqliteVersion, toCount, withoutCache } from "sessarc/adapter";

const TABLE = "assistant_usage_events";
const COLUMNS = [
  ...["id", "session_id", "model", "created_at"],
  ...["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"],
];

/** One request that was paid for. */
export interface PaidRequest {
  key: string;
  at: string | undefined;
  model: string;
  usage: { input: number; output: number; cacheRead: number; cacheWrite5m: number };
}

/** The requests of each session, by its id. */
export type PaidRequests = ReadonlyMap<string, readonly PaidRequest[]>;

/** Remembers what a database said until it changes. */
export function createRequestStore(): (path: string) => Promise<PaidRequests> {
  let known: { path: string; token: string; requests: PaidRequests } | undefined;
  return async (path) => {
    try {
      if (!(await lstat(path)).isFile()) return new Map();
      const token = await sqliteVersion(path);
      if (known?.path !== path || known.token !== token) known = { path, token, requests: await readRequests(path) };
      return known.requests;
    } catch {
      // It is not there, is being written or is damaged: the logs have figures of their own.
      return new Map();
    }
  };
}

async function readRequests(path: string): Promise<PaidRequests> {
  const db = await openSqliteFile(path);
  try {
    const columns = presentColumns(db, TABLE, COLUMNS);
    if (!["id", "session_id", "model"].every((name) => columns.includes(name))) return new Map();
    const requests = new Map<string, PaidRequest[]>();
    for (const row of db.iterate<Record<string, unknown>>(`select ${columns.join(", ")} from ${TABLE} order by id`)) {
      const session = toText(row.session_id);
      if (session === undefined) continue;
      const [read, write] = [toCount(row.cache_read_tokens), toCount(row.cache_write_tokens)];
      const own = requests.get(session) ?? [];
      own.push({
        key: `store:${session}:${row.id}`,
        at: toIso(row.created_at),
        model: toText(row.model) ?? "unknown",
        // Input holds what was read from and written to the cache; reasoning is inside the output.
        usage: {
          input: withoutCache(toCount(row.input_tokens), read, write),
          output: toCount(row.output_tokens),
          cacheRead: read,
          cacheWrite5m: write,
        },
      });
      requests.set(session, own);
    }
    return requests;
  } finally {
    db.close();
  }
}
