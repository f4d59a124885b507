/** What archived sessions wrote, from the tables. One function per question. */
import { type Kernel, marks, mustYield, pages, sortInSlices, yieldNow } from "sessarc";
import { readCalls, type WrittenCall } from "./indexer/rows.ts";

/** A session as far as its writes need it. */
interface Author {
  id: string;
  /** The assistant. */
  tool: string;
  title: string | null;
  /** The session it was forked from, whose messages its log repeats. */
  origin: string | null;
}

export interface Write extends Omit<WrittenCall, "at"> {
  author: Author;
  /** ms; of a call without a time, when the session ended. */
  at: number;
  /** Its file, as `fileAt` names it. */
  file: string;
  /** Into a file of another name, which may have become the file: only a run of lines shows that it did. */
  elsewhere?: boolean;
}

interface FileRow {
  id: string;
  tool: string;
  title: string | null;
  origin: string | null;
  cwd: string | null;
  ended: number;
  path: string;
  calls: string;
  lines: Uint8Array;
}

const COLUMNS = `s.id, s.tool, substr(coalesce(s.name, s.title, s.first_prompt), 1, 160) as title, s.forked_from as origin, s.cwd, s.sort_at as ended,
  f.path, f.calls, f.lines`;

/** Writes of a project's sessions into files with one of these paths below `root`, in order of time. */
export async function writesInto(
  kernel: Kernel,
  project: string,
  root: string,
  paths: ReadonlySet<string>,
): Promise<Write[]> {
  const names = [...new Set([...paths].map((path) => path.slice(path.lastIndexOf("/") + 1)))];
  const rows = await kernel.storage.db.all<FileRow>(
    `select ${COLUMNS} from blame_file f join session s on s.id = f.session
     where f.name in (${marks(names)}) and s.project_id = ?`,
    [...names, project],
  );
  const placeOf = await readPlaces(kernel, project, root);
  const wanted = [...paths];
  return toWrites(
    rows.filter((row) => wanted.some((path) => isSame(fileAt(row.path, placeOf(row)), path))),
    placeOf,
  );
}

/** Sessions whose writes are compared with a file that came under a new name. */
const LAST = 300;

/** Writes of the last sessions of a project that began before `ms`. */
export async function writesBefore(kernel: Kernel, project: string, root: string, ms: number): Promise<Write[]> {
  const rows = await kernel.storage.db.all<FileRow>(
    `select ${COLUMNS} from blame_file f join session s on s.id = f.session where s.id in (
       select id from session where project_id = ? and coalesce(started_at, '') <= ? order by sort_at desc limit ${LAST})`,
    [project, new Date(ms).toISOString()],
  );
  return (await toWrites(rows, await readPlaces(kernel, project, root))).filter(({ at }) => at <= ms);
}

/** Sessions read by one question: their rows are at most a few MB. */
const TOGETHER = 400;

/** All writes of a project's sessions, in order of time. */
export async function readWrites(kernel: Kernel, project: string, root: string): Promise<Write[]> {
  const { db } = kernel.storage;
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
  return toWrites(rows, await readPlaces(kernel, project, root));
}

/** Working directory of a session, and its project's folder, as its log writes them. */
interface Place {
  cwd: string | null;
  root: string;
}

/** `root`: the project's folder here. A session of another machine had it elsewhere. */
export async function readPlaces(
  kernel: Kernel,
  project: string,
  root: string,
): Promise<(session: { id: string; cwd: string | null }) => Place> {
  const known = await kernel.find("repositories")?.places(project);
  return ({ id, cwd }) => known?.get(id) ?? { cwd, root };
}

async function toWrites(rows: readonly FileRow[], placeOf: (row: FileRow) => Place): Promise<Write[]> {
  const found: Write[] = [];
  const authors = new Map<string, Author>();
  for (const row of rows) {
    const { id, tool, title, origin, ended, calls, lines } = row;
    const author = authors.get(id) ?? { id, tool, title, origin };
    const file = fileAt(row.path, placeOf(row));
    authors.set(id, author);
    for (const call of readCalls(calls, lines)) found.push({ ...call, author, file, at: call.at ?? ended });
    if (mustYield()) await yieldNow();
  }
  const sorted = await sortInSlices(found, byTime);
  return [...authors.values()].some(({ origin }) => origin !== null) ? withoutCopies(sorted) : sorted;
}

/**
 * A fork's log repeats the calls of its origin, with their times: a write of the same lines into the same file at the same millisecond is one
 * write, made by the session that is forked from none of the others.
 */
function withoutCopies(writes: readonly Write[]): Write[] {
  const kept: Write[] = [];
  let from = 0;
  for (const write of writes) {
    while (from < kept.length && (kept[from] as Write).at < write.at) from++;
    let same = from;
    while (same < kept.length && !isCopy(kept[same] as Write, write)) same++;
    const other = kept[same];
    if (other === undefined) kept.push(write);
    else if (other.author.origin !== null && (write.author.origin === null || other.author.origin === write.author.id))
      kept[same] = write;
  }
  return kept;
}

const isCopy = (a: Write, b: Write) =>
  a.author.id !== b.author.id &&
  (a.author.origin !== null || b.author.origin !== null) &&
  a.file === b.file &&
  a.name === b.name &&
  a.lines.length === b.lines.length &&
  a.lines.every((key, index) => key === b.lines[index]);

/** Order of time; calls of one session in their own. */
export const byTime = (a: Write, b: Write): number =>
  a.at - b.at || (a.author.id === b.author.id ? a.seq - b.seq : a.author.id < b.author.id ? -1 : 1);

/** Place of the first for which `isPast` holds, as it does for all that follow; the length where it holds for none. */
export function firstPast<T>(list: readonly T[], isPast: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether a file, as `fileAt` names it, is the one at `path` of the project. In a work tree elsewhere its end decides. */
export const isSame = (file: string, path: string): boolean =>
  file.endsWith(`/${path}`) && (!file.startsWith("./") || file.length === path.length + 2);

/** `./src/a.ts` for a file below the project's folder, on whatever machine; else the path from the root of the disk. */
export function fileAt(written: string, { cwd, root }: Place): string {
  const full = absolute(written, cwd, root);
  const base = `${slashed(root)}/`;
  return root !== "" && full.startsWith(base) ? `./${full.slice(base.length)}` : full;
}

/** The path of a call from the root of the disk, with forward slashes. */
export function absolute(written: string, cwd: string | null, root: string): string {
  const relative = !/^([/~\\]|[A-Za-z]:)/.test(written);
  return relative ? `${slashed(cwd ?? root)}/${slashed(written).replace(/^(\.\/)+/, "")}` : slashed(written);
}

/** With forward slashes, without one at the end. */
export const slashed = (path: string) => path.replaceAll("\\", "/").replace(/\/$/, "");
