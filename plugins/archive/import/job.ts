/** The part of an import that runs in the pool: reads sessions and writes their transcripts. */

import { type Adapter, loadAdapter as makeAdapter, withFolders } from "sessarc/adapter";
import { createTranscripts, type TranscriptOptions, type Transcripts } from "sessarc/storage";
import { checkStop, failure } from "./failure.ts";
import { type LoadedIndexer, loadIndexers, startIndexers } from "./indexers.ts";
import { OpenLogs } from "./open-logs.ts";
import { importOne, importSession } from "./read.ts";
import type { AdapterSource, ImportedSession, ImportJob, Indexed, IndexJob, JobResult } from "./types.ts";

/** Entry of the pool task: loads the adapter (once per worker) and imports the job's sessions. One bad session fails alone. */
export const importSessions = (job: ImportJob): Promise<JobResult[]> => importWith(job);

/** The same in the thread whose logs stay open. */
export const importGrown = (job: ImportJob): Promise<JobResult[]> => importWith(job, openLogs);

const openLogs = new OpenLogs();

async function importWith(job: ImportJob, open?: OpenLogs): Promise<JobResult[]> {
  if (!job.adapter) throw new TypeError("an import job in the pool needs its adapter's module");
  let adapter: Adapter;
  try {
    adapter = await loadAdapter(job.adapter);
  } catch (error) {
    // Only its own sessions fail.
    return job.sessions.map(({ id }) => failure(id, error));
  }
  return runJob(job, adapter, openStore(job.store), open);
}

/** The same with the adapter and transcripts at hand. `open`: logs that stay open. Resolves when all that was written is on disk. */
export async function runJob(
  job: ImportJob,
  adapter: Adapter,
  transcripts: Transcripts,
  open?: OpenLogs,
): Promise<JobResult[]> {
  const results: Pending[] = [];
  const indexers = await loadIndexers(job.indexers);
  const stop = new Int32Array(job.stop);
  for (const sessions of groupByPath(job.sessions)) {
    if (sessions.length > 1) await readShared(job, adapter, transcripts, sessions, results, indexers);
    else {
      for (const session of sessions) {
        results.push(
          await begin(session.id, async () => {
            checkStop(stop);
            return importSession(session, adapter, job.env, transcripts, stop, indexers, open);
          }),
        );
      }
    }
  }
  const finished = await Promise.all(results.map((pending) => pending.result));
  await transcripts.settle();
  return finished;
}

/** Entry of the pool task that reads stored transcripts for indexers. One damaged transcript fails alone. */
export async function indexSessions(job: IndexJob): Promise<{ id: string; indexed: Indexed[] }[]> {
  return indexStored(job, openStore(job.store));
}

/** The same with the transcripts at hand. */
export async function indexStored(
  job: IndexJob,
  transcripts: Transcripts,
): Promise<{ id: string; indexed: Indexed[] }[]> {
  const wanted = new Set(job.sessions.flatMap((session) => session.indexers));
  const loaded = await loadIndexers(job.indexers.filter(({ name }) => wanted.has(name)));
  const results: { id: string; indexed: Indexed[] }[] = [];
  for (const { id, tool, parts, indexers } of job.sessions) {
    const missing = loaded.filter(({ name }) => indexers.includes(name));
    const index = startIndexers(missing, { id, tool, tools: job.roles[tool] ?? {} });
    try {
      for await (const events of transcripts.events(id, parts)) for (const event of events) index.add(event);
    } catch (error) {
      index.fail(error);
    }
    results.push({ id, indexed: index.finish() });
  }
  return results;
}

function groupByPath(sessions: ImportJob["sessions"]): Iterable<ImportJob["sessions"]> {
  const groups = new Map<string, ImportJob["sessions"]>();
  for (const session of sessions) {
    const group = groups.get(session.ref.path);
    if (group) group.push(session);
    else groups.set(session.ref.path, [session]);
  }
  return groups.values();
}

async function readShared(
  job: ImportJob,
  adapter: Adapter,
  transcripts: Transcripts,
  sessions: ImportJob["sessions"],
  results: Pending[],
  indexers: readonly LoadedIndexer[],
): Promise<void> {
  const byKey = new Map(sessions.map((session) => [session.ref.key, session]));
  const refs = sessions.map((session) => session.ref);
  const stop = new Int32Array(job.stop);
  try {
    checkStop(stop);
    for await (const [ref, events] of adapter.readMany(refs, job.env)) {
      const session = byKey.get(ref.key);
      if (!session) continue;
      byKey.delete(ref.key);
      results.push(
        await begin(session.id, () => importOne(session, adapter, { batches: events }, transcripts, stop, indexers)),
      );
      checkStop(stop);
    }
  } catch (error) {
    for (const { id } of byKey.values()) results.push({ result: Promise.resolve(failure(id, error)) });
    return;
  }
  for (const { id, ref } of byKey.values()) {
    const message = `${id} is no longer in ${ref.path}`;
    results.push({ result: Promise.resolve({ ok: false, id, code: "SOURCE_MISSING", message }) });
  }
}

/** A session that was read; its transcript may still be on its way to the disk while the next one is read. */
interface Pending {
  result: Promise<JobResult>;
}

async function begin(id: string, read: () => Promise<{ written: Promise<ImportedSession> }>): Promise<Pending> {
  try {
    const { written } = await read();
    const result = written.then(
      (session): JobResult => ({ ok: true, session }),
      (error) => failure(id, error),
    );
    result.catch(() => {}); // awaited with the others at the end of the job
    return { result };
  } catch (error) {
    return { result: Promise.resolve(failure(id, error)) };
  }
}

const adapters = new Map<string, Promise<Adapter>>();
const stores = new Map<string, Transcripts>();

function loadAdapter(source: AdapterSource): Promise<Adapter> {
  const name = JSON.stringify(source);
  let adapter = adapters.get(name);
  if (!adapter) {
    adapter = makeAdapter(source).then((own) => (source.folders ? withFolders(own, source.folders) : own));
    adapters.set(name, adapter);
  }
  return adapter;
}

function openStore(store: TranscriptOptions): Transcripts {
  const name = JSON.stringify(store);
  let opened = stores.get(name);
  if (!opened) {
    opened = createTranscripts(store);
    stores.set(name, opened);
  }
  return opened;
}
