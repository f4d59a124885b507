/** The one way git is started: an argument list, a cleaned environment, a deadline, an output limit, no helper programs. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { parse } from "node:path";
import { isSessarcError, SessarcError } from "sessarc";
import { codeOf, endProcess, exec, GIT_OPTIONS, gitEnvironment as safeEnvironment, startProcess } from "sessarc/files";
import "../errors.ts";

export interface GitResult {
  code: number | null;
  stdout: Buffer;
  /** For logs and causes only: it may name paths. */
  stderr: string;
  /** The output limit was reached: `stdout` is cut and git was ended. */
  truncated: boolean;
}

interface GitRunOptions {
  /** Default 10 s. Past it git is killed and GIT_TIMEOUT thrown. */
  timeoutMs?: number;
  /** Default 32 MiB. */
  maxBytes?: number;
  input?: Buffer | string;
  signal?: AbortSignal | undefined;
  /** Gets the output piece by piece instead of `stdout`; answering false ends git (`truncated`). */
  onData?: (chunk: Buffer) => boolean | undefined;
}

export interface GitExec {
  /** Runs to the end. A non-zero exit is an answer, not an error. */
  run(args: readonly string[], options?: GitRunOptions): Promise<GitResult>;
  /** Starts a process that stays; the caller ends it. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
  /** Ends what still runs, waits until it is gone, and starts nothing more. */
  close(): Promise<void>;
}

/** Where a repository's files are. */
export interface GitPlace {
  /** HEAD and index. */
  gitDir: string;
  /** Null for a bare repository. */
  worktree: string | null;
}

/** Says outright where `place` is: git searches nothing and trusts no `core.worktree`. */
export function at(place: GitPlace): string[] {
  const dir = `--git-dir=${place.gitDir}`;
  return place.worktree ? ["-C", place.worktree, dir, `--work-tree=${place.worktree}`] : ["-C", place.gitDir, dir];
}

/** What every git gets beyond the options that keep a repository from running programs. */
const FIXED = [...GIT_OPTIONS, "--literal-pathspecs", "-c", "diff.renameLimit=1000"];

const OWN_ENVIRONMENT = {
  // A hash stands for what was committed: replacements and grafts could change under what is kept by hash.
  GIT_NO_REPLACE_OBJECTS: "1",
  // A file that is there, even an empty one, makes git write advice.
  GIT_GRAFT_FILE: "/dev/null/none",
};

export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return { ...safeEnvironment(env), ...OWN_ENVIRONMENT };
}

export function createExec(options: {
  binary?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
}): GitExec {
  const binary = options.binary ?? "git";
  const env = gitEnvironment(options.env ?? process.env);
  // Never the repository as working directory: Windows looks for programs there first. That of this process may have been deleted.
  const cwd = parse(process.execPath).root;
  /** What runs, and how it is ended. */
  const running = new Map<Promise<unknown>, () => void>();
  let closed = false;
  const begin = (args: readonly string[]) => {
    if (closed) throw new SessarcError("GIT_FAILED", { command: toCommand(args) });
    return [...FIXED, ...args];
  };
  const track = (gone: Promise<unknown>, end: () => void) => {
    const settled = gone.catch(() => {}).finally(() => running.delete(settled));
    running.set(settled, end);
  };
  async function run(args: readonly string[], request: GitRunOptions = {}): Promise<GitResult> {
    const { timeoutMs = 10_000, maxBytes = 32 * 2 ** 20, input, onData } = request;
    const command = toCommand(args);
    const ending = new AbortController();
    const abort = () => ending.abort(request.signal?.reason);
    if (request.signal?.aborted) abort();
    request.signal?.addEventListener("abort", abort, { once: true });
    const going = exec(binary, begin(args), { cwd, env, timeoutMs, maxBytes, input, onData, signal: ending.signal })
      .catch((error: unknown) => {
        throw isSessarcError(error) && error.code === "COMMAND_FAILED" ? toSpawnError(error.cause, command) : error;
      })
      .finally(() => request.signal?.removeEventListener("abort", abort));
    track(going, () => ending.abort(new SessarcError("GIT_FAILED", { command })));
    const { code, stdout, stderr, truncated, timedOut } = await going;
    if (timedOut) throw new SessarcError("GIT_TIMEOUT", { command, ms: timeoutMs });
    return { code, stdout, stderr: stderr.toString("utf8", 0, 4096), truncated };
  }
  return {
    run,
    start(args) {
      const child = startProcess(binary, begin(args), { cwd, env });
      const gone = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
      track(gone, () => endProcess(child));
      return child;
    },
    async close() {
      closed = true;
      for (const end of running.values()) end();
      await Promise.all(running.keys());
    },
  };
}

/** A failing exit as an error. stderr goes to the cause, which stays inside. */
export function toGitError(result: GitResult, command: string): SessarcError {
  return new SessarcError("GIT_FAILED", { command }, { cause: new Error(`exit ${result.code}: ${result.stderr}`) });
}

export function toSpawnError(error: unknown, command: string): SessarcError {
  if (codeOf(error) === "ENOENT") return new SessarcError("GIT_MISSING", {}, { cause: error });
  return new SessarcError("GIT_FAILED", { command }, { cause: error });
}

/** The sub command among arguments: the first that is neither an option nor an option's value. */
function toCommand(args: readonly string[]): string {
  let index = 0;
  while (args[index]?.startsWith("-")) index += args[index] === "-C" || args[index] === "-c" ? 2 : 1;
  return args[index] ?? "git";
}
