/** Programs: an argument list, a timeout and output limits. Never a shell. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { constants } from "node:os";
import { SessarcError } from "../errors/error.ts";
import { codeOf } from "./gone.ts";

interface ProcessOptions {
  cwd?: string | undefined;
  /** The whole environment of the child; nothing is inherited. */
  env: Readonly<Record<string, string | undefined>>;
}

interface ExecOptions extends ProcessOptions {
  /** Default 10 s; then the child is killed, with all it started. */
  timeoutMs?: number | undefined;
  /** Limit of stdout and of stderr, each; default 16 MiB. More is cut off and the child killed. */
  maxBytes?: number | undefined;
  input?: string | Uint8Array | undefined;
  /** Gets stdout piece by piece, instead of `stdout` of the result. False: enough, the child is killed (`truncated`). */
  onData?: ((chunk: Buffer) => boolean | undefined) | undefined;
  signal?: AbortSignal | undefined;
}

/** How a program ended, and what it printed. */
export interface ExecResult {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  stdout: Buffer;
  stderr: Buffer;
  timedOut: boolean;
  /** True when an output limit cut it off. */
  truncated: boolean;
}

/** How long a killed child is waited for: one that is stuck in the kernel ends later or never. */
const GRACE_MS = 2_000;

/** Runs `file` with `args`. Rejects only when it cannot be started or `signal` aborts; the exit code is the caller's matter. */
export function exec(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
  const { timeoutMs = 10_000, maxBytes = 16 * 2 ** 20, input, onData, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const child = startProcess(file, args, options);
    let timedOut = false;
    let truncated = false;
    let grace: NodeJS.Timeout | undefined;
    const kill = () => {
      endProcess(child);
      // A process that left the group may still hold a pipe; it is not awaited.
      child.once("exit", hangUp);
      if (child.exitCode !== null || child.signalCode !== null) hangUp();
      grace ??= setTimeout(() => settle(null), GRACE_MS);
    };
    const hangUp = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const collect = (stream: NodeJS.ReadableStream, take?: (chunk: Buffer) => boolean | undefined) => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on("data", (chunk: Buffer) => {
        if (truncated && take) return;
        const room = maxBytes - size;
        size += chunk.length;
        if (!take && room > 0) chunks.push(chunk.subarray(0, room));
        if (take?.(chunk) !== false && chunk.length <= room) return;
        truncated = true;
        kill();
      });
      return () => Buffer.concat(chunks);
    };
    const stdout = collect(child.stdout, onData);
    const stderr = collect(child.stderr);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    const done = () => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal?.removeEventListener("abort", kill);
    };
    const settle = (code: number | null) => {
      done();
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code, stdout: stdout(), stderr: stderr(), timedOut, truncated });
    };
    signal?.addEventListener("abort", kill, { once: true });
    child.on("error", (cause: NodeJS.ErrnoException) => {
      done();
      reject(new SessarcError("COMMAND_FAILED", { command: file, reason: toReason(cause) }, { cause }));
    });
    child.on("close", settle);
    child.stdin.end(input);
  });
}

/**
 * Starts a long-running `file` that the caller communicates with; for everything else use `exec`. It leads its own process group,
 * which `endProcess` ends with it: what it started holds its pipes, and would keep us waiting. `error` comes when it cannot be started.
 */
export function startProcess(
  file: string,
  args: readonly string[],
  { cwd, env }: ProcessOptions,
): ChildProcessWithoutNullStreams {
  const child = spawn(file, args, {
    cwd,
    env: { ...env },
    shell: false,
    windowsHide: true,
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A child that ends before it read its input closes the pipe: its exit code is the relevant error, not EPIPE.
  child.stdin.on("error", () => {});
  return child;
}

/**
 * Runs a program in this terminal: it reads the keys and draws the screen until it ends. Answers its exit code, 128 and more when a signal
 * ended it. Ctrl-C goes to the program. Throws COMMAND_FAILED when it cannot be started.
 */
export function attend(file: string, args: readonly string[], { cwd, env }: ProcessOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env: { ...env }, shell: false, stdio: "inherit" });
    child.on("error", (cause: NodeJS.ErrnoException) => {
      reject(new SessarcError("COMMAND_FAILED", { command: file, reason: toReason(cause) }, { cause }));
    });
    child.on("close", (code, signal) => resolve(code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0)));
  });
}

/** Ends a child and, where it leads its own process group (`detached`), the whole group, which may have outlived the child. */
export function endProcess(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    if (process.platform !== "win32" && child.pid !== undefined) {
      process.kill(-child.pid, signal);
      return;
    }
  } catch {
    // It leads no group, or all of it is gone.
  }
  child.kill(signal);
}

/** Whether a process with this ID runs, of any user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function toReason(cause: NodeJS.ErrnoException): string {
  if (cause.code === "ENOENT") return "is not installed, or its working folder is gone";
  return cause.code === "EACCES" ? "may not be run" : `cannot be started (${cause.code ?? "unknown"})`;
}
