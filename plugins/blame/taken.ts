/** The service "blame": which commit took what a session wrote in a turn. */
import { type Cache, createCache, type Kernel, SessarcError } from "sessarc";
import { readCalls, readPrompts } from "./indexer/rows.ts";
import { landFiles } from "./receipt/landing.ts";
import { fileAt, readPlaces } from "./writes.ts";

/** A message of a session. */
export interface TurnOf {
  session: string;
  seq: number;
}

/** A commit of HEAD's history. */
export interface TakenBy {
  hash: string;
  /** ISO 8601. */
  at: string;
}

/** The service "blame". */
export interface Blame {
  /**
   * For each message the commit of HEAD that took most of the lines which its session wrote in the message's turn, the oldest of equals;
   * undefined where no line was written, none was committed, or git cannot answer. Cost: one `git log` a project over the files of these turns,
   * 20 at most, from the oldest turn on; cached until HEAD or the archive changes.
   */
  takenBy(turns: readonly TurnOf[]): Promise<(TakenBy | undefined)[]>;
}

/** Files of the turns of one project whose history is read. */
const FILES = 20;
const KEEP = 32;
const DAY = 86_400_000;
/** Codes of a repository that cannot answer. */
const NO_ANSWER = new Set([
  ...["NO_REPOSITORY", "COMMIT_NOT_FOUND", "OBJECT_MISSING"],
  ...["GIT_MISSING", "GIT_FAILED", "GIT_TIMEOUT"],
]);

interface Turn {
  session: string;
  /** [from, to) */
  from: number;
  to: number;
  project: string;
  cwd: string | null;
  /** As calls write them. */
  paths: readonly string[];
  /** ms of the first call. */
  at: number;
}

interface SessionRow {
  id: string;
  project: string;
  cwd: string | null;
  ended: number;
  prompts: string;
}

export function createBlame(kernel: Kernel): Blame {
  const cache: Cache<(TakenBy | undefined)[]> = createCache(KEEP);

  async function readTurn({ session, seq }: TurnOf): Promise<Turn | undefined> {
    const { db } = kernel.storage;
    const row = await db.get<SessionRow>(
      `select s.id, s.project_id as project, s.cwd, s.sort_at as ended, b.prompts
       from session s join blame_session b on b.session = s.id where s.id = ?`,
      [session],
    );
    if (!row) return undefined;
    const prompts = readPrompts(row.prompts).map((prompt) => prompt.seq);
    const from = prompts.findLast((one) => one <= seq) ?? -1;
    const to = prompts.find((one) => one > seq) ?? Number.POSITIVE_INFINITY;
    const files = await db.all<{ path: string; calls: string; lines: Uint8Array }>(
      "select path, calls, lines from blame_file where session = ? order by path",
      [session],
    );
    const paths: string[] = [];
    let at = Number.POSITIVE_INFINITY;
    for (const { path, calls, lines } of files) {
      const own = readCalls(calls, lines).filter((call) => call.seq >= from && call.seq < to);
      if (own.length === 0) continue;
      paths.push(path);
      at = Math.min(at, ...own.map((call) => call.at ?? row.ended));
    }
    const { project, cwd } = row;
    return paths.length > 0 ? { session, from, to, project, cwd, paths, at } : undefined;
  }

  async function ofProject(project: string, turns: readonly Turn[]): Promise<(TakenBy | undefined)[]> {
    const root = await kernel.inject("archive").projectPath(project);
    if (root === null) return [];
    const head = await fromGit(() => kernel.inject("git").resolve(root, "HEAD"));
    if (head === undefined) return [];
    const { generation } = kernel.inject("archive");
    const key = JSON.stringify([generation, project, head, turns.map(({ session, from, to }) => [session, from, to])]);
    return (await fromGit(() => cache.get(key, () => compute(project, root, head, turns)))) ?? [];
  }

  async function compute(
    project: string,
    root: string,
    head: string,
    turns: readonly Turn[],
  ): Promise<(TakenBy | undefined)[]> {
    const placeOf = await readPlaces(kernel, project, root);
    const written = turns.flatMap(({ session, cwd, paths }) =>
      paths.map((path) => fileAt(path, placeOf({ id: session, cwd }))),
    );
    const files = new Set([...new Set(written)].slice(0, FILES).flatMap(namesOf));
    const since = Math.min(...turns.map(({ at }) => at)) - DAY;
    const { landed, commits } = await landFiles(kernel, project, root, { head, files, since });
    return turns.map(({ session, from, to }) => {
      const counts = new Map<string, number>();
      for (const { write, commit } of landed)
        if (write.author.id === session && write.seq >= from && write.seq < to)
          counts.set(commit, (counts.get(commit) ?? 0) + 1);
      const most = Math.max(0, ...counts.values());
      const first = commits.find(({ hash }) => counts.get(hash) === most);
      return first && { hash: first.hash, at: first.at };
    });
  }

  /** What `find` answers; undefined where git cannot. */
  async function fromGit<T>(find: () => Promise<T>): Promise<T | undefined> {
    try {
      return await find();
    } catch (error) {
      if (error instanceof SessarcError && NO_ANSWER.has(error.code)) return undefined;
      throw error;
    }
  }

  return {
    async takenBy(wanted) {
      const turns = await Promise.all(wanted.map(readTurn));
      const projects = new Map<string, Turn[]>();
      for (const turn of turns) if (turn) projects.set(turn.project, [...(projects.get(turn.project) ?? []), turn]);
      const found = new Map<Turn, TakenBy | undefined>();
      await Promise.all(
        [...projects].map(async ([project, own]) => {
          const commits = await ofProject(project, own);
          for (const [i, turn] of own.entries()) found.set(turn, commits[i]);
        }),
      );
      return turns.map((turn) => turn && found.get(turn));
    },
  };
}

/** What a file, as `fileAt` names it, may be called in the repository: in a work tree elsewhere each end of its path. */
function namesOf(file: string): string[] {
  if (file.startsWith("./")) return [file.slice(2)];
  const parts = file.split("/").filter((part) => part !== "");
  return parts.map((_, i) => parts.slice(i).join("/"));
}
