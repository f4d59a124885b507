/** The one way git is started: an argument list, a cleaned environment, a deadline, an output limit, no helper programs. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { parse } from "node:path";
import { endProcess, SessarcError } from "sessarc";
import "../errors.ts";

export interface GitResult {
  code: number | null;
  stdout: Buffer;
  /** For logs and causes only: it may name paths. */
  stderr: string;
  /** The output limit was reached: `stdout` is cut and git was ended. */
  truncated: boolean;
}

export interface GitRunOptions {
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
  start(args: readonly string[]): ChildProcess;
  /** Ends what still runs, waits until it is gone, and starts nothing more. */
  close(): Promise<void>;
}

/** Where a repository's files are. */
export interface Place {
  /** HEAD and index. */
  gitDir: string;
  /** Null for a bare repository. */
  worktree: string | null;
}

/** Says outright where `place` is: git searches nothing and trusts no `core.worktree`. */
export function at(place: Place): string[] {
  const dir = `--git-dir=${place.gitDir}`;
  return place.worktree ? ["-C", place.worktree, dir, `--work-tree=${place.worktree}`] : ["-C", place.gitDir, dir];
}

/**
 * `-c` wins over every configuration file, the repository's own included.
 * Filters have free names and are switched off per repository (filters.ts); transports by GIT_ALLOW_PROTOCOL,
 * since `protocol.<name>.allow` would win over `protocol.allow`.
 */
const FIXED = [
  "--no-pager",
  "--literal-pathspecs",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.editor=false",
    "credential.helper=",
    "protocol.allow=never",
    "diff.renameLimit=1000",
    "log.showSignature=false",
    "gpg.program=false",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "safe.directory=*",
    "gc.auto=0",
    "maintenance.auto=false",
  ].flatMap((pair) => ["-c", pair]),
];

const OWN_ENVIRONMENT = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: ":",
  GIT_NO_LAZY_FETCH: "1",
  // A hash stands for what was committed: replacements and grafts could change under what is kept by hash.
  GIT_NO_REPLACE_OBJECTS: "1",
  // A file that is there, even an empty one, makes git write advice.
  GIT_GRAFT_FILE: "/dev/null/none",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  // Values for --config-env (filters.ts).
  SESSARC_GIT_EMPTY: "",
  SESSARC_GIT_FALSE: "false",
  LC_ALL: "C",
};

/** The user's environment without any GIT_ variable (a service started from a hook has GIT_DIR set), plus ours. */
export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !/^(GIT_|SSH_ASKPASS)/i.test(name));
  return { ...Object.fromEntries(own), ...OWN_ENVIRONMENT };
}

export function createExec(options: {
  binary?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
}): GitExec {
  const binary = options.binary ?? "git";
  const env = gitEnvironment(options.env ?? process.env);
  // Never the repository as working directory: Windows looks for programs there first.
  // A group of its own: what a filter or a helper of git started ends with it.
  const detached = process.platform !== "win32";
  const base: SpawnOptions = { env, cwd: parse(process.cwd()).root, windowsHide: true, shell: false, detached };
  const running = new Map<ChildProcess, Promise<void>>();
  let closed = false;
  const begin = (args: readonly string[], stdin: "pipe" | "ignore") => {
    if (closed) throw new SessarcError("GIT_FAILED", { command: commandOf(args) });
    const child = spawn(binary, [...FIXED, ...args], { ...base, stdio: [stdin, "pipe", "pipe"] });
    const gone = new Promise<void>((resolve) => child.once("close", resolve).once("error", () => resolve()));
    running.set(child, gone);
    gone.finally(() => running.delete(child));
    return child;
  };
  return {
    run: async (args, run = {}) => collect(begin(args, run.input === undefined ? "ignore" : "pipe"), args, run),
    start: (args) => begin(args, "pipe"),
    async close() {
      closed = true;
      for (const child of running.keys()) endProcess(child);
      await Promise.all(running.values());
    },
  };
}

function collect(child: ChildProcess, args: readonly string[], options: GitRunOptions): Promise<GitResult> {
  const { timeoutMs = 10_000, maxBytes = 32 * 1024 * 1024, signal, onData } = options;
  const command = commandOf(args);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let stderr = "";
    let truncated = false;
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const fail = (error: unknown) => {
      end();
      endProcess(child);
      reject(error);
    };
    const abort = () => fail(signal?.reason);
    // Rejects at once: a process stuck in the kernel ends later or never.
    const timer = setTimeout(() => fail(new SessarcError("GIT_TIMEOUT", { command, ms: timeoutMs })), timeoutMs);
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });

    child.stdout?.on("data", (chunk: Buffer) => {
      if (truncated) return;
      bytes += chunk.length;
      if (onData) truncated = onData(chunk) === false || bytes > maxBytes;
      else if (bytes > maxBytes) truncated = true;
      else chunks.push(chunk);
      if (truncated) endProcess(child);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (stderr.length < 4096) stderr += chunk.toString();
    });
    child.on("error", (error) => fail(toSpawnError(error, command)));
    child.on("close", (code) => {
      end();
      resolve({ code, stdout: Buffer.concat(chunks), stderr, truncated });
    });
    // git may end before it has read everything; its exit code says what happened.
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input);
  });
}

/** A failing exit as an error. stderr goes to the cause, which stays inside. */
export function toGitError(result: GitResult, command: string): SessarcError {
  return new SessarcError("GIT_FAILED", { command }, { cause: new Error(`exit ${result.code}: ${result.stderr}`) });
}

export function toSpawnError(error: NodeJS.ErrnoException, command: string): SessarcError {
  if (error.code === "ENOENT") return new SessarcError("GIT_MISSING", {}, { cause: error });
  return new SessarcError("GIT_FAILED", { command }, { cause: error });
}

/** The sub command among arguments: the first that is neither an option nor an option's value. */
function commandOf(args: readonly string[]): string {
  let index = 0;
  while (args[index]?.startsWith("-")) index += args[index] === "-C" || args[index] === "-c" ? 2 : 1;
  return args[index] ?? "git";
}
