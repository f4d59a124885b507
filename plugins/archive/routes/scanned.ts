/** Logs that a scan found, with what the archive or a look at their heads says of them. */

import { type Database, type Kernel, marks, mustYield, type SessionRef, yieldNow } from "sessarc";
import type { Logs } from "../places/logs.ts";
import { type FoundLog, toVersion } from "../places/scan.ts";

type SessionState = "new" | "changed" | "imported" | "deleted";
export interface ScannedSession {
  id: string;
  tool: string;
  title: string | null;
  path: string;
  bytes: number;
  modifiedAt: string | null;
  /** Messages: exact once imported, before that reckoned from the log's size. */
  messageEstimate: number;
  state: SessionState;
}
export interface ScannedProject {
  key: string;
  name: string;
  path: string | null;
  virtual: boolean;
  tools: string[];
  sessions: ScannedSession[];
}

/** A session of a scan and where it belongs. */
interface Described {
  project: Omit<ScannedProject, "sessions" | "tools">;
  session: ScannedSession;
}

/** A project with the facts that only a scan knows: rereading its logs would be slow, there may be a hundred thousand. */
export interface KeptProject extends Omit<ScannedProject, "sessions"> {
  sessions: KeptSession[];
}
interface KeptSession extends Pick<ScannedSession, "id" | "title" | "messageEstimate" | "state"> {
  /** ms since the epoch; 0: not known. */
  at: number;
}

/** Bytes of log per message, for estimates; measured on coding logs. */
const BYTES_PER_MESSAGE = 2_000;
/** Logs looked into at once. */
const AHEAD = 16;
/** Sessions told at once. */
const BATCH = 256;

/** What the archive has of a session of a scan. */
interface StoredTitle {
  id: string;
  title: string | null;
  project_id: string;
  project: string;
  path: string | null;
  kind: string;
  messages: number;
  version: string;
}

/** Batches in the order of `found`; in slices, a few logs looked into at once. */
export async function* describeLogs(kernel: Kernel, found: Iterable<FoundLog>): AsyncGenerator<Described[]> {
  const archive = kernel.inject("archive/open");
  const { db } = kernel.storage;
  const deleted = await archive.store.tombstones();
  let perMessage: Promise<(tool: string) => number> | undefined;
  const describe = async (one: FoundLog, row: StoredTitle | undefined): Promise<Described> => {
    const { id, ref } = one;
    const session = {
      id,
      ...ofLog(ref),
      messageEstimate: row?.messages ?? 0,
      state: toState(ref, row?.version, deleted.has(id)),
    };
    if (row) {
      const project = { key: row.project_id, name: row.project, path: row.path, virtual: row.kind === "virtual" };
      return { project, session: { ...session, title: row.title } };
    }
    perMessage ??= bytesPerMessage(db);
    session.messageEstimate = Math.ceil((ref.size ?? 0) / (await perMessage)(ref.tool));
    const { title, ...head } = await archive.importer.peek(one);
    const identity = await archive.resolver.identify(one.adapter, head);
    const key = await archive.resolver.idOf(identity);
    const project = { key, name: identity.name, path: identity.path, virtual: identity.kind === "virtual" };
    return { project, session: { ...session, title } };
  };
  for (const some of batches(found)) {
    const rows = await storedTitles(db, some);
    const batch: Described[] = [];
    for (let i = 0; i < some.length; i += AHEAD) {
      const ahead = some.slice(i, i + AHEAD);
      batch.push(...(await Promise.all(ahead.map((one) => describe(one, rows.get(one.id))))));
      if (mustYield()) await yieldNow();
    }
    yield batch;
  }
}

/** Projects with their sessions, newest first. */
export async function toProjects(batches: AsyncIterable<readonly Described[]>): Promise<KeptProject[]> {
  const projects = new Map<string, KeptProject>();
  for await (const batch of batches) {
    for (const { project, session } of batch) {
      let group = projects.get(project.key);
      if (!group) {
        group = { ...project, tools: [], sessions: [] };
        projects.set(project.key, group);
      }
      const { id, tool, title, messageEstimate, state, modifiedAt } = session;
      if (!group.tools.includes(tool)) group.tools.push(tool);
      group.sessions.push({ id, title, messageEstimate, state, at: modifiedAt ? Date.parse(modifiedAt) : 0 });
    }
  }
  const list = [...projects.values()];
  for (const project of list) {
    project.tools.sort();
    project.sessions.sort((a, b) => b.at - a.at);
  }
  return list.sort((a, b) => (b.sessions[0]?.at ?? 0) - (a.sessions[0]?.at ?? 0));
}

/** As they are answered. */
export function wholeSessions(sessions: readonly KeptSession[], logs: Logs): ScannedSession[] {
  return sessions.flatMap(({ id, title, messageEstimate, state }) => {
    const log = logs.get(id);
    return log ? { id, ...ofLog(log.ref), messageEstimate, state, title } : [];
  });
}

const ofLog = ({ tool, path, size, mtime }: SessionRef) => ({
  tool,
  path,
  bytes: size ?? 0,
  modifiedAt: mtime === undefined ? null : new Date(mtime).toISOString(),
});

function* batches(found: Iterable<FoundLog>): Generator<FoundLog[]> {
  let batch: FoundLog[] = [];
  for (const one of found) {
    if (batch.push(one) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function storedTitles(db: Database, found: readonly FoundLog[]): Promise<Map<string, StoredTitle>> {
  const rows = await db.all<StoredTitle>(
    `select s.id, coalesce(s.name, s.title, s.first_prompt) as title, s.project_id, coalesce(p.name, p.derived_name) as project,
       p.path, p.kind, s.message_count as messages, s.source_version as version
     from session s join project p on p.id = s.project_id where s.id in (${marks(found)})`,
    found.map(({ id }) => id),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** What a message took in this user's own logs of the same tool; a usual figure until some are imported. */
async function bytesPerMessage(db: Database): Promise<(tool: string) => number> {
  const rows = await db.all<{ tool: string; bytes: number; messages: number }>(
    "select tool, sum(source_bytes) as bytes, sum(message_count) as messages from session group by tool",
  );
  const sums = new Map(rows.map((row) => [row.tool, row]));
  return (tool) => {
    const sum = sums.get(tool);
    return sum && sum.messages > 0 && sum.bytes > 0 ? sum.bytes / sum.messages : BYTES_PER_MESSAGE;
  };
}

function toState(ref: SessionRef, version: string | undefined, deleted: boolean): SessionState {
  if (version === undefined) return deleted ? "deleted" : "new";
  return version === toVersion(ref) ? "imported" : "changed";
}
