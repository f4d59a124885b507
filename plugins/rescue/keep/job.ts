/** The part of storing logs that runs in the pool. */

import { type SessionRef, toMessage } from "sessarc";
import { type Adapter, type AdapterEnv, type AdapterFolders, loadAdapter, withFolders } from "sessarc/adapter";
import type { Hidden, RescueDatabase } from "../contract.ts";
import { type KeptFile, keepFiles, keepRows, LogFolder } from "./files.ts";

export interface KeepJob {
  adapter: { specifier: string; options?: unknown; folders?: AdapterFolders | undefined } | null;
  env: AdapterEnv;
  /** Where logs are stored. */
  folder: string;
  /** Sessions of one adapter. */
  sessions: KeepSession[];
}

export interface KeepSession {
  id: string;
  ref: SessionRef;
  known: KeptFile[];
  /** Files that are logs of other sessions. */
  except: string[];
  /** False: only whether the session is hidden is worked out. */
  keep: boolean;
}

export interface KeepResult {
  id: string;
  hidden: Hidden | null;
  files: KeptFile[] | null;
  /** Why nothing is stored, where that is an error. */
  error: string | null;
}

/** Entry of the pool task. */
export async function keepLogs(job: KeepJob): Promise<KeepResult[]> {
  if (!job.adapter) throw new TypeError("a job in the pool needs its adapter's module");
  const { specifier, options, folders } = job.adapter;
  const own = await loadAdapter({ specifier, options });
  return runKeep(job, folders ? withFolders(own, folders) : own);
}

/** The same with the adapter at hand. One session that cannot be read fails alone. */
export async function runKeep(job: KeepJob, adapter: Adapter): Promise<KeepResult[]> {
  const folder = new LogFolder(job.folder);
  const results: KeepResult[] = [];
  const databases = new Map<string, Promise<RescueDatabase | undefined>>();
  const databaseAt = (path: string) => {
    const open = databases.get(path) ?? adapter.rescue?.database?.(path, job.env) ?? Promise.resolve(undefined);
    databases.set(path, open);
    return open;
  };
  try {
    for (const session of job.sessions) {
      results.push(
        await keepOne(job, adapter, folder, session, databaseAt).catch((error: unknown) => ({
          id: session.id,
          hidden: null,
          files: null,
          error: toMessage(error),
        })),
      );
    }
  } finally {
    for (const open of databases.values()) (await open.catch(() => undefined))?.close();
  }
  return results;
}

async function keepOne(
  { env }: KeepJob,
  adapter: Adapter,
  folder: LogFolder,
  { id, ref, known, except, keep }: KeepSession,
  databaseAt: (path: string) => Promise<RescueDatabase | undefined>,
): Promise<KeepResult> {
  const database = await databaseAt(ref.path);
  if (database) {
    const rows = keep ? database.rows(ref.key) : undefined;
    const files = rows ? await keepRows(folder, id, rows) : null;
    return { id, hidden: database.hidden(ref.key) ?? null, files, error: null };
  }
  const hidden = (await adapter.rescue?.hidden?.(ref, env)) ?? null;
  const grows = adapter.appends(ref);
  // A file with other sessions in it is not this session's to store.
  const files =
    keep && (ref.exclusive || grows)
      ? await keepFiles(folder, id, ref, { known, grows, except: new Set(except) })
      : null;
  return { id, hidden, files, error: null };
}
