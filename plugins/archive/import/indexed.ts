/** Stores what indexers made of sessions, and has sessions indexed that were read without them or by another version. */
import {
  type DoctorCheck,
  isSessarcError,
  type Kernel,
  marks,
  type PoolTask,
  type Registry,
  SessarcError,
  type Statement,
  toMessage,
} from "sessarc";
import { type SessionRow, toParts } from "../catalogue/types.ts";
import { indexSessions, indexStored } from "./job.ts";
import type { Indexed, IndexJob, JobIndexer } from "./types.ts";

interface IndexedOf {
  id: string;
  indexed: readonly Indexed[];
}

export const toJobIndexers = ({ indexers }: Registry): JobIndexer[] =>
  indexers.map(({ name, version, module, tables, later = false }) => ({ name, version, module, tables, later }));

/**
 * Commits `statements` and the rows of indexers in one batch. Rows that SQLite refuses are left out, and their indexer has failed: then the answer
 * is false.
 */
export async function commitIndexed(
  kernel: Kernel,
  statements: readonly Statement[],
  sessions: readonly IndexedOf[],
): Promise<boolean> {
  const { db } = kernel.storage;
  const rows = sessions.flatMap(({ id, indexed }) => indexed.flatMap((one) => toRows(kernel, id, one)));
  try {
    await db.batch([...statements, ...rows]);
  } catch (error) {
    // A full disk is not the indexer's fault; without rows the mistake is in `statements`.
    if (isSessarcError(error) || rows.length === 0) throw error;
    if (statements.length > 0) await db.batch(statements);
    await commitEach(kernel, sessions);
    return false;
  }
  for (const { id, indexed } of sessions) for (const one of indexed) report(kernel, id, one);
  return true;
}

/** One session and indexer at a time, so that the row that is refused takes no other along. */
async function commitEach(kernel: Kernel, sessions: readonly IndexedOf[]): Promise<void> {
  const { db } = kernel.storage;
  for (const { id, indexed } of sessions)
    for (const one of indexed) {
      let stored = one;
      await db.batch(toRows(kernel, id, one)).catch((error: unknown) => {
        if (isSessarcError(error)) throw error;
        stored = { ...one, rows: {}, error: toMessage(error) };
        return db.batch(toRows(kernel, id, stored));
      });
      report(kernel, id, stored);
    }
}

function toRows({ registry }: Kernel, id: string, { indexer, version, rows, error, isSame }: Indexed): Statement[] {
  if (isSame) return [];
  const tables = registry.indexers.find(({ name }) => name === indexer)?.tables ?? [];
  return [
    ...tables.map((table): Statement => [`delete from ${table} where session = ?`, [id]]),
    ...Object.entries(rows).flatMap(([table, list]) =>
      list.map((row): Statement => {
        const columns = ["session", ...Object.keys(row)];
        const marks = columns.map(() => "?").join(", ");
        return [`insert into ${table} (${columns.join(", ")}) values (${marks})`, [id, ...Object.values(row)]];
      }),
    ),
    [
      `insert into indexed (session, indexer, version, error) values (?, ?, ?, ?)
       on conflict (session, indexer) do update set version = excluded.version, error = excluded.error`,
      [id, indexer, version, error],
    ],
  ];
}

/** A failed indexer is among the plugin's problems. */
function report({ registry }: Kernel, session: string, { indexer, error }: Indexed): void {
  if (error === null) return;
  const plugin = registry.indexers.find(({ name }) => name === indexer)?.plugin ?? indexer;
  const { code, message, fix } = new SessarcError("INDEXER_FAILED", { indexer, session, reason: error });
  registry.report({ plugin, code, message, fix: fix ?? null, count: 1 });
}

const TASK: PoolTask<[IndexJob], IndexedOf[]> = {
  specifier: "sessarc/plugins/archive/job",
  export: "indexSessions",
  inline: indexSessions,
};

/** Sessions read by one job. */
const TOGETHER = 24;

/** Deletes rows of sessions that were deleted while the plugin was not there, of which `erasedWith` left the rows in `indexed`. */
export async function tidyIndexed({ registry, storage: { db } }: Kernel): Promise<void> {
  const gone = "not exists (select 1 from session s where s.id = indexed.session)";
  const left = await db.all<{ indexer: string }>(`select distinct indexer from indexed where ${gone}`);
  for (const { name, tables } of registry.indexers)
    if (left.some(({ indexer }) => indexer === name))
      await db.batch([
        ...tables.map((table): Statement => [`delete from ${table} where session not in (select id from session)`]),
        [`delete from indexed where indexer = ? and ${gone}`, [name]],
      ]);
}

/**
 * Indexes stored sessions that an indexer has not read, or has read in another version. `alone` runs between two imports, so that no session
 * changes while it is read.
 */
export async function indexBehind(
  kernel: Kernel,
  alone: (work: () => Promise<boolean>) => Promise<boolean>,
): Promise<void> {
  if (kernel.registry.indexers.length === 0) return;
  // By id, so that sessions that are indexed already are read once. A session that arrives behind that place starts another preparation.
  let after = "";
  const next = async () => {
    const last = await indexSome(kernel, after);
    after = last ?? after;
    return last !== undefined;
  };
  for (let more = true; more && !kernel.closing.aborted; ) more = await alone(next);
}

type Behind = Pick<SessionRow, "id" | "tool" | "parts">;

/** Indexes the next sessions after an id, each in one pass for all indexers. Answers the last one's id; undefined when all are indexed. */
async function indexSome(kernel: Kernel, after: string): Promise<string | undefined> {
  const { pool, config, storage, registry } = kernel;
  const isCurrent = `(${registry.indexers.map(() => "indexer = ? and version = ?").join(" or ")})`;
  const versions = registry.indexers.flatMap(({ name, version }) => [name, version]);
  const rows = await storage.db.all<Behind>(
    `select id, tool, parts from session s where id > ? and (
       select count(*) from indexed i where i.session = s.id and ${isCurrent}) < ? order by id limit ${TOGETHER}`,
    [after, ...versions, registry.indexers.length],
  );
  if (rows.length === 0) return undefined;
  const ids = rows.map(({ id }) => id);
  const current = await storage.db.all<{ session: string; indexer: string }>(
    `select session, indexer from indexed where session in (${marks(ids)}) and ${isCurrent}`,
    [...ids, ...versions],
  );
  const isRead = new Set(current.map(({ session, indexer }) => `${indexer} ${session}`));
  const job: IndexJob = {
    store: { dir: storage.dataDir },
    indexers: toJobIndexers(registry).map((indexer) => ({ ...indexer, later: false })),
    roles: Object.fromEntries(rows.map(({ tool }) => [tool, { ...registry.adapters.get(tool)?.tools }] as const)),
    sessions: rows.map((row) => ({
      id: row.id,
      tool: row.tool,
      parts: toParts(row),
      indexers: registry.indexers.flatMap(({ name }) => (isRead.has(`${name} ${row.id}`) ? [] : [name])),
    })),
  };
  const inPool = pool.threaded && config.storage.driver === undefined;
  const found = inPool ? await pool.run(TASK, job) : await indexStored(job, storage.transcripts);
  await commitIndexed(kernel, [], found);
  return ids.at(-1);
}

/** What the doctor says about indexers; undefined where no plugin has one. */
export async function checkIndexers({ registry, storage }: Kernel): Promise<DoctorCheck | undefined> {
  if (registry.indexers.length === 0) return undefined;
  const failed = await storage.db.all<{ indexer: string; count: number; session: string; error: string }>(
    "select indexer, count(*) as count, min(session) as session, min(error) as error from indexed where error is not null group by indexer",
  );
  const [first] = failed.filter(({ indexer }) => registry.indexers.some(({ name }) => name === indexer));
  if (!first) {
    const names = registry.indexers.map(({ name }) => name).join(", ");
    return { name: "indexers", status: "ok", detail: `no session failed in any of ${names}` };
  }
  const { indexer, count, session, error } = first;
  return {
    name: "indexers",
    status: "warn",
    detail: `${indexer} failed on ${count} ${count === 1 ? "session" : "sessions"}, as ${session}: ${error}`,
    fix: `Its rows of these sessions are missing. A version of ${indexer} that can read them indexes them again.`,
  };
}
