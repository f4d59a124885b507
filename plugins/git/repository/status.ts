/** The live state of a repository: one `git status` per call, everything else read or kept. */
import { availableParallelism } from "node:os";
import { createLimit, SessarcError } from "sessarc";
import { at, type GitExec } from "../process/exec.ts";
import { configValue, findRemote } from "./config.ts";
import { createCounter } from "./count.ts";
import { createFilterGuard } from "./filters.ts";
import type { CountFile } from "./kept-counts.ts";
import { type findRepository, type Repository, readHead } from "./repository.ts";

/** `Project.git` of the wire contract. */
export interface GitInfo {
  /** Null when detached. */
  branch: string | null;
  detached: boolean;
  /** Full hash; null on a branch without a commit. */
  head: string | null;
  /** Commits reachable from HEAD (of a shallow clone: those that are here); null while a long history is still being counted. */
  commitCount: number | null;
  /** `git status` would list something: changed, staged, conflicting or untracked files. Never in a bare repository. */
  dirty: boolean;
  /** Commits the upstream does not have, and the other way round; null without an upstream. */
  ahead: number | null;
  behind: number | null;
  /** Address of `origin` (else the first remote) without credentials. */
  remote: string | null;
}

/** Null: no such folder, no repository, no git on this machine, or a repository git itself refuses. */
export type GitStatus = GitInfo | { timedOut: true } | null;

export interface StatusOptions {
  /** From the moment the repository's turn comes. Default 2,000. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface StatusReader {
  status(path: string, options?: StatusOptions): Promise<GitStatus>;
  /** By path as given; all at once, each with its own deadline, as many processes as the cores can feed. */
  statusMany(paths: readonly string[], options?: StatusOptions): Promise<Map<string, GitStatus>>;
}

/** A listing of untracked files may be endless; the head comes first and one entry is enough. */
const STATUS_BYTES = 256 * 1024;
/** Past this a process waits for something else than a core. */
const SLOW_MS = 250;

export function createStatusReader(
  exec: GitExec,
  find: typeof findRepository,
  excludesFile: () => Promise<string | null>,
  counts: CountFile,
): StatusReader {
  const gate = createLimit(2 * availableParallelism(), { slowMs: SLOW_MS });
  const filtersOff = createFilterGuard(exec);
  const count = createCounter(exec, counts);

  async function read(path: string, options: StatusOptions): Promise<GitStatus> {
    const started = performance.now();
    const { deadlineMs = 2_000, signal } = options;
    const left = () => Math.max(1, deadlineMs - (performance.now() - started));
    const repo = await within(find(path), left());
    if (repo === "late") return { timedOut: true };
    if (!repo) return null;
    const line = repo.bare ? await readBare(exec, repo, left(), signal) : await readLine(repo, left, signal);
    if (!line) return null;
    const commitCount = line.head ? await within(count(repo, line.head), left()) : 0;
    return { ...line, commitCount: commitCount === "late" ? null : commitCount, remote: findRemote(repo.config) };
  }

  async function readLine(repo: Repository, left: () => number, signal: AbortSignal | undefined) {
    const excludes = configValue(repo.config, "core.excludesfile") === undefined ? await excludesFile() : null;
    const result = await exec.run(
      [
        ...(await filtersOff(repo, left())),
        ...(excludes ? ["-c", `core.excludesFile=${excludes}`] : []),
        ...at(repo),
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--no-renames",
        // A submodule's own work tree would be read by another git with another configuration.
        "--ignore-submodules=dirty",
      ],
      { timeoutMs: left(), maxBytes: STATUS_BYTES, signal },
    );
    return result.code === 0 || result.truncated ? parseStatus(result.stdout, result.truncated) : undefined;
  }

  async function status(path: string, options: StatusOptions = {}): Promise<GitStatus> {
    try {
      return await gate(() => read(path, options));
    } catch (error) {
      if (!(error instanceof SessarcError)) throw error;
      if (error.code === "GIT_TIMEOUT") return { timedOut: true };
      if (error.code === "GIT_MISSING" || error.code === "GIT_FAILED") return null;
      throw error;
    }
  }

  return {
    status,
    async statusMany(paths, options) {
      const states = [...new Set(paths)].map(async (path) => [path, await status(path, options)] as const);
      return new Map(await Promise.all(states));
    },
  };
}

type Line = Omit<GitInfo, "commitCount" | "remote">;

/** Records of `--porcelain=v2 --branch -z`: `# key value` first, then one per path. */
function parseStatus(output: Buffer, truncated = false): Line {
  const line: Line = { branch: null, detached: false, head: null, dirty: truncated, ahead: null, behind: null };
  for (const row of output.toString("utf8").split("\0")) {
    if (row === "") continue;
    if (!row.startsWith("# ")) {
      line.dirty = true;
      break;
    }
    const [, key, value = ""] = /^# (\S+) (.*)$/s.exec(row) ?? [];
    if (key === "branch.oid" && value !== "(initial)") line.head = value;
    else if (key === "branch.head") {
      line.detached = value === "(detached)";
      line.branch = line.detached ? null : value;
    } else if (key === "branch.ab") {
      const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(value) ?? [];
      line.ahead = ahead === undefined ? null : Number(ahead);
      line.behind = behind === undefined ? null : Number(behind);
    }
  }
  return line;
}

async function readBare(
  exec: GitExec,
  repo: Repository,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Line> {
  const [head, result] = await Promise.all([
    readHead(repo),
    exec.run([...at(repo), "rev-parse", "--verify", "--quiet", "HEAD^{commit}"], {
      timeoutMs,
      signal,
    }),
  ]);
  const hash = result.stdout.toString("latin1").trim();
  const branch = head?.branch ?? null;
  return { branch, detached: branch === null, head: hash || null, dirty: false, ahead: null, behind: null };
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, ms, "late");
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
