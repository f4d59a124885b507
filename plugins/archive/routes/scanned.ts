/** Logs that a scan found, with what the archive or a look at their heads says of them. */
import { type Kernel, type SessionRef, Slices, sortInSlices } from "sessarc";
import { type Found, versionOf } from "../places/scan.ts";

export type SessionState = "new" | "changed" | "imported" | "deleted";
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
export interface Described {
  project: Omit<ScannedProject, "sessions" | "tools">;
  session: ScannedSession;
}

/** Bytes of log per message, for estimates; measured on coding logs. */
const BYTES_PER_MESSAGE = 2_000;
/** Logs looked into at once. */
const AHEAD = 16;
/** Sessions told at once. */
const BATCH = 256;
/** Rows read between two looks at the clock, and logs passed over. */
const PAGE = 250;
const LOOKED = 1_024;

/** What the archive says of a session that stands in a scan. */
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
export async function* describeLogs(kernel: Kernel, found: readonly Found[]): AsyncGenerator<Described[]> {
  if (found.length === 0) return;
  const archive = kernel.inject("archive");
  const slices = new Slices();
  const rows = await storedTitles(kernel, slices);
  const deleted = await archive.store.tombstones();
  const perMessage = await bytesPerMessage(found, rows, slices);
  const describe = async (one: Found): Promise<Described> => {
    const { id, ref } = one;
    const row = rows.get(id);
    const session = {
      id,
      tool: ref.tool,
      path: ref.path,
      bytes: ref.size ?? 0,
      modifiedAt: ref.mtime === undefined ? null : new Date(ref.mtime).toISOString(),
      messageEstimate: row?.messages ?? Math.ceil((ref.size ?? 0) / perMessage(ref.tool)),
      state: stateOf(ref, row?.version, deleted.has(id)),
    };
    if (row) {
      const project = { key: row.project_id, name: row.project, path: row.path, virtual: row.kind === "virtual" };
      return { project, session: { ...session, title: row.title } };
    }
    const { title, ...head } = await archive.importer.peek(one);
    const identity = await archive.resolver.identify(one.adapter, head);
    const key = await archive.resolver.idOf(identity);
    const project = { key, name: identity.name, path: identity.path, virtual: identity.kind === "virtual" };
    return { project, session: { ...session, title } };
  };
  let batch: Described[] = [];
  for (let i = 0; i < found.length; i += AHEAD) {
    batch.push(...(await Promise.all(found.slice(i, i + AHEAD).map(describe))));
    if (slices.due) await slices.turn();
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Projects with their sessions, newest first. */
export async function toProjects(batches: AsyncIterable<readonly Described[]>): Promise<ScannedProject[]> {
  const projects = new Map<string, ScannedProject>();
  for await (const batch of batches) {
    for (const { project, session } of batch) {
      let group = projects.get(project.key);
      if (!group) {
        group = { ...project, tools: [], sessions: [] };
        projects.set(project.key, group);
      }
      if (!group.tools.includes(session.tool)) group.tools.push(session.tool);
      group.sessions.push(session);
    }
  }
  const list = [...projects.values()];
  for (const project of list) {
    project.tools.sort();
    project.sessions = await sortInSlices(project.sessions, newestFirst);
  }
  return list.sort((a, b) => (b.sessions[0]?.modifiedAt ?? "").localeCompare(a.sessions[0]?.modifiedAt ?? ""));
}

const newestFirst = ({ modifiedAt: a }: ScannedSession, { modifiedAt: b }: ScannedSession) =>
  (a ?? "") < (b ?? "") ? 1 : a === b ? 0 : -1;

async function storedTitles({ storage: { db } }: Kernel, slices: Slices): Promise<Map<string, StoredTitle>> {
  const rows = new Map<string, StoredTitle>();
  for (let after = 0; ; ) {
    const page = await db.all<StoredTitle & { rowid: number }>(
      `select s.rowid, s.id, coalesce(s.name, s.title, s.first_prompt) as title, s.project_id, coalesce(p.name, p.derived_name) as project,
         p.path, p.kind, s.message_count as messages, s.source_version as version
       from session s join project p on p.id = s.project_id where s.rowid > ? order by s.rowid limit ${PAGE}`,
      [after],
    );
    const last = page.at(-1);
    if (!last) return rows;
    for (const row of page) rows.set(row.id, row);
    after = last.rowid;
    if (slices.due) await slices.turn();
  }
}

/** What a message took in this user's own logs of the same tool; a usual figure until some are imported. */
async function bytesPerMessage(found: readonly Found[], rows: ReadonlyMap<string, StoredTitle>, slices: Slices) {
  const sums = new Map<string, { bytes: number; messages: number }>();
  for (const [i, { id, ref }] of found.entries()) {
    if (i % LOOKED === 0 && slices.due) await slices.turn();
    const row = rows.get(id);
    if (!row) continue;
    const sum = sums.get(ref.tool) ?? { bytes: 0, messages: 0 };
    sums.set(ref.tool, sum);
    sum.bytes += ref.size ?? 0;
    sum.messages += row.messages;
  }
  return (tool: string): number => {
    const sum = sums.get(tool);
    return sum && sum.messages > 0 && sum.bytes > 0 ? sum.bytes / sum.messages : BYTES_PER_MESSAGE;
  };
}

function stateOf(ref: SessionRef, version: string | undefined, deleted: boolean): SessionState {
  if (version === undefined) return deleted ? "deleted" : "new";
  return version === versionOf(ref) ? "imported" : "changed";
}
