/** Programs: an argument list, a timeout and output limits. Never a shell. */
import { type ChildProcess, spawn } from "node:child_process";
import { SessarcError } from "../errors/error.ts";

export interface ExecOptions {
  cwd?: string | undefined;
  /** The whole environment of the child; nothing is inherited. */
  env: Readonly<Record<string, string | undefined>>;
  /** Default 10 s; then the child is killed, with all it started. */
  timeoutMs?: number | undefined;
  /** Limit of stdout and of stderr, each; default 16 MiB. More is cut off and the child killed. */
  maxBytes?: number | undefined;
  input?: string | Uint8Array | undefined;
  signal?: AbortSignal | undefined;
}

export interface ExecResult {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  stdout: Buffer;
  stderr: Buffer;
  timedOut: boolean;
  /** True when an output limit cut it off. */
  truncated: boolean;
}

/** Runs `file` with `args`. Rejects only when it cannot be started or `signal` aborts; the exit code is the caller's matter. */
export function exec(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
  const { cwd, env, timeoutMs = 10_000, maxBytes = 16 * 2 ** 20, input, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const child = spawn(file, args, {
      cwd,
      env: { ...env },
      shell: false,
      windowsHide: true,
      // A group of its own, so that its children can be ended with it: they hold its pipes, and would keep us waiting.
      detached: process.platform !== "win32",
      stdio: ["pipe", "pipe", "pipe"],
    });
    let timedOut = false;
    let truncated = false;
    const kill = () => {
      endProcess(child);
      // One that left the group may still hold a pipe; nobody waits for it.
      child.once("exit", hangUp);
      if (child.exitCode !== null || child.signalCode !== null) hangUp();
    };
    const hangUp = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const collect = (stream: NodeJS.ReadableStream) => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on("data", (chunk: Buffer) => {
        const room = maxBytes - size;
        if (chunk.length > room) {
          truncated = true;
          kill();
        }
        if (room > 0) chunks.push(chunk.subarray(0, room));
        size += chunk.length;
      });
      return () => Buffer.concat(chunks);
    };
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    const settle = (done: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      done();
    };
    signal?.addEventListener("abort", kill, { once: true });
    child.on("error", (cause: NodeJS.ErrnoException) =>
      settle(() => reject(new SessarcError("COMMAND_FAILED", { command: file, reason: reasonOf(cause) }, { cause }))),
    );
    child.on("close", (code) =>
      settle(() => {
        if (signal?.aborted) reject(signal.reason);
        else resolve({ code, stdout: stdout(), stderr: stderr(), timedOut, truncated });
      }),
    );
    // A child that ends before it read its input closes the pipe: its exit code tells the story, not EPIPE.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** Ends a child and, where it leads a process group of its own (`detached`), all of that. */
export function endProcess(child: ChildProcess): void {
  try {
    if (process.platform !== "win32" && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It leads no group, or all of it is gone.
  }
  child.kill("SIGKILL");
}

function reasonOf(cause: NodeJS.ErrnoException): string {
  if (cause.code === "ENOENT") return "is not installed, or its working folder is gone";
  return cause.code === "EACCES" ? "may not be run" : `cannot be started (${cause.code ?? "unknown"})`;
}
