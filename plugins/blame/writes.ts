/** What archived sessions wrote, from the tables. One function per question. */
import type { Database } from "sessarc";
import { Slices, sortInSlices } from "#internal";
import { marks, pages } from "#internal/adapter";
import { readCalls, type WrittenCall } from "./indexer/rows.ts";

/** A session as far as its writes need it. */
export interface Author {
  id: string;
  /** The assistant. */
  tool: string;
  title: string | null;
  cwd: string | null;
}

export interface Write extends Omit<WrittenCall, "at"> {
  author: Author;
  /** ms; of a call without a time, when the session ended. */
  at: number;
  /** False where `at` is the end of the session. */
  timed: boolean;
  /** As the call wrote it. */
  path: string;
  /** Into a file of another name, which may have become the file: only a run of lines shows that it did. */
  elsewhere?: boolean;
}

interface FileRow {
  id: string;
  tool: string;
  title: string | null;
  cwd: string | null;
  ended: number;
  path: string;
  calls: string;
  lines: Uint8Array;
}

const COLUMNS = `s.id, s.tool, substr(coalesce(s.name, s.title, s.first_prompt), 1, 160) as title, s.cwd, s.sort_at as ended,
  f.path, f.calls, f.lines`;

/** Writes of a project's sessions into files with one of these paths below `root`, in order of time. */
export async function writesInto(
  db: Database,
  project: string,
  root: string,
  paths: ReadonlySet<string>,
): Promise<Write[]> {
  const names = [...new Set([...paths].map((path) => path.slice(path.lastIndexOf("/") + 1)))];
  const rows = await db.all<FileRow>(
    `select ${COLUMNS} from blame_file f join session s on s.id = f.session
     where f.name in (${marks(names)}) and s.project_id = ?`,
    [...names, project],
  );
  return toWrites(rows.filter(({ path, cwd }) => [...paths].some((one) => isSame(path, cwd, root, one))));
}

/** Sessions whose writes are compared with a file that came under a new name. */
const LAST = 300;

/** Writes of the last sessions of a project that began before `ms`. */
export async function writesBefore(db: Database, project: string, ms: number): Promise<Write[]> {
  const rows = await db.all<FileRow>(
    `select ${COLUMNS} from blame_file f join session s on s.id = f.session where s.id in (
       select id from session where project_id = ? and coalesce(started_at, '') <= ? order by sort_at desc limit ${LAST})`,
    [project, new Date(ms).toISOString()],
  );
  return (await toWrites(rows)).filter(({ at }) => at <= ms);
}

/** Sessions read by one question: their rows are at most a few MB. */
const TOGETHER = 400;

/** All writes of a project's sessions, in order of time. */
export async function writesOf(db: Database, project: string): Promise<Write[]> {
  const ids = await db.all<{ id: string }>("select id from session where project_id = ? order by sort_at, id", [
    project,
  ]);
  const rows: FileRow[] = [];
  for (const page of pages(
    ids.map(({ id }) => id),
    TOGETHER,
  ))
    rows.push(
      ...(await db.all<FileRow>(
        `select ${COLUMNS} from blame_file f join session s on s.id = f.session where s.id in (${marks(page)})`,
        page,
      )),
    );
  return toWrites(rows);
}

async function toWrites(rows: readonly FileRow[]): Promise<Write[]> {
  const slices = new Slices();
  const found: Write[] = [];
  const authors = new Map<string, Author>();
  for (const { id, tool, title, cwd, ended, path, calls, lines } of rows) {
    const author = authors.get(id) ?? { id, tool, title, cwd };
    authors.set(id, author);
    for (const call of readCalls(calls, lines))
      found.push({ ...call, author, path, at: call.at ?? ended, timed: call.at !== null });
    if (slices.due) await slices.turn();
  }
  return sortInSlices(found, byTime);
}

/** Order of time; calls of one session in their own. */
export const byTime = (a: Write, b: Write): number =>
  a.at - b.at || (a.author.id === b.author.id ? a.seq - b.seq : a.author.id < b.author.id ? -1 : 1);

/** Whether a path as a call wrote it is the file at `path` below `root`. In a work tree elsewhere its end decides. */
export function isSame(written: string, cwd: string | null, root: string, path: string): boolean {
  const full = absolute(written, cwd, root);
  const base = slashed(root);
  return full.startsWith(`${base}/`) ? full === `${base}/${path}` : full.endsWith(`/${path}`);
}

/** The path of a call from the root of the disk, with forward slashes. */
export function absolute(written: string, cwd: string | null, root: string): string {
  const relative = !/^([/~\\]|[A-Za-z]:)/.test(written);
  return relative ? `${slashed(cwd ?? root)}/${slashed(written).replace(/^(\.\/)+/, "")}` : slashed(written);
}

/** With forward slashes, without one at the end. */
export const slashed = (path: string) => path.replaceAll("\\", "/").replace(/\/$/, "");
