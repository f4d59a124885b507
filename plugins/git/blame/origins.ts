/** GET /git/blame: a file's lines with their commits, and with the calls of archived sessions that wrote them. */
import { basename } from "node:path";
import { isSessarcError, type Kernel, type Services } from "sessarc";
import { BoundedMap } from "#internal/adapter";
import type { BlameAt, LineCommit } from "./lines.ts";
import { type LineEvidence, writersOf } from "./writers.ts";
import { type Write, writesOf } from "./writes.ts";

export interface Writer {
  sessionId: string;
  /** The assistant. */
  tool: string;
  title: string | null;
  /** The call. */
  seq: number;
  at: string;
  /** Name of the called tool. */
  name: string;
}

export interface Origins {
  path: string;
  commit: string;
  /** Committer time. */
  at: string;
  /** Null for a file that is binary or larger than 2 MiB. */
  lines: { text: string; commit: number; writer: number | null; evidence: LineEvidence | null }[] | null;
  commits: LineCommit[];
  /** Calls that lines come from. */
  writers: Writer[];
  /** Calls that changed the file after this commit, the latest first: the folder may hold something else by now. */
  later: Writer[];
  /** Sessions that changed the file and whose transcript cannot be read. */
  damaged: number;
}

type Row = Awaited<ReturnType<Services["archive"]["row"]>>;
interface SessionWrite extends Write {
  row: Row;
}

const LATER = 20;
/** Sessions whose writes of a file are kept. */
const KEEP = 200;
const kept = new WeakMap<Kernel, BoundedMap<string, Promise<Write[]>>>();

/** `root`: the project's folder. */
export async function originsOf(kernel: Kernel, project: string, root: string, blamed: BlameAt): Promise<Origins> {
  const { commit, at, path, file } = blamed;
  if (!file) return { path, commit, at, lines: null, commits: [], writers: [], later: [], damaged: 0 };
  const { writes, damaged } = await writesIn(kernel, project, root, path);
  const written = writersOf(file, writes);
  const commits = [...file.commits.values()];
  const commitAt = new Map(commits.map((one, i) => [one.hash, i]));
  const used = [...new Set(written.flatMap((one) => (one ? [one.write] : [])))];
  const place = new Map(used.map((write, i) => [write, i]));
  const later = writes.filter((one) => one.at > Date.parse(at) + 1_000).reverse();
  return {
    path,
    commit,
    at,
    lines: file.lines.map((line, i) => ({
      text: line.text,
      commit: commitAt.get(line.commit) ?? 0,
      writer: place.get(written[i]?.write ?? -1) ?? null,
      evidence: written[i]?.evidence ?? null,
    })),
    commits,
    writers: used.flatMap((i) => (writes[i] ? [toWriter(writes[i])] : [])),
    later: later.slice(0, LATER).map(toWriter),
    damaged,
  };
}

const toWriter = ({ row, seq, at, name }: SessionWrite): Writer => ({
  sessionId: row.id,
  tool: row.tool,
  title: row.name ?? row.title ?? row.first_prompt,
  seq,
  at: new Date(at).toISOString(),
  name,
});

/** All that sessions of the project wrote into the file, in order of time. */
async function writesIn(
  kernel: Kernel,
  project: string,
  root: string,
  path: string,
): Promise<{ writes: SessionWrite[]; damaged: number }> {
  const archive = kernel.inject("archive");
  const known = kept.get(kernel) ?? new BoundedMap<string, Promise<Write[]>>(KEEP);
  kept.set(kernel, known);
  const all: SessionWrite[] = [];
  let damaged = 0;
  for (const id of await archive.changing(project, basename(path))) {
    const row = await archive.row(id);
    const key = JSON.stringify([id, row.generation, row.parts, root, path]);
    let writes = known.get(key);
    if (!writes) {
      const isFile = (written: string) => isSame(written, row.cwd, root, path);
      writes = writesOf(archive.chunks(row), archive.adapter(row.tool), isFile, row.sort_at);
      writes.catch(() => known.delete(key));
    }
    known.set(key, writes);
    const own = await writes.catch((error: unknown) => {
      if (!isSessarcError(error) || error.code !== "TRANSCRIPT_DAMAGED") throw error;
      damaged++;
      return [];
    });
    for (const write of own) all.push({ ...write, row });
  }
  all.sort((a, b) => a.at - b.at || (a.row.id === b.row.id ? a.seq - b.seq : a.row.id < b.row.id ? -1 : 1));
  return { writes: all, damaged };
}

/** Whether a path as a call wrote it is the file at `path` below `root`. In a work tree elsewhere its end decides. */
function isSame(written: string, cwd: string | null, root: string, path: string): boolean {
  const relative = !/^([/~\\]|[A-Za-z]:)/.test(written);
  const folder = slashed(cwd ?? root);
  const full = relative ? `${folder}/${slashed(written).replace(/^\.\//, "")}` : slashed(written);
  const base = slashed(root);
  return full.startsWith(`${base}/`) ? full === `${base}/${path}` : full.endsWith(`/${path}`);
}

const slashed = (path: string) => path.replaceAll("\\", "/").replace(/\/$/, "");
