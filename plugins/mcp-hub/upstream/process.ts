/** A tool server as a child process in a group of its own: started, limited, and ended with everything it started. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { endProcess, startProcess as startChild } from "sessarc/files";
import type { Watchdog } from "./watchdog.ts";

interface ProcessOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string | undefined;
  watchdog: Watchdog;
  /** Bytes of one line of output; more ends the process. */
  maxLine: number;
  onLine(line: Buffer): void;
  /** Called once, when it has ended or could not be started; `reason` is for people. */
  onEnd(reason: string): void;
}

export interface ServerProcess {
  readonly pid: number | undefined;
  /** Resolves when it runs; rejects when it cannot be started. */
  readonly started: Promise<void>;
  /** Resolves when the line is handed to the system. */
  write(line: string): Promise<void>;
  /** The last lines it wrote to its error output, at most 2 KiB. */
  lastErrors(): string;
  /** Ends its input, and after a moment the whole group. Resolves when it is gone. */
  stop(): Promise<void>;
}

const STDERR_KEPT = 2_048;
/** How long it may take after its input ended, and again after it was asked to go. */
const PATIENCE_MS = 1_000;
/** How long its output is waited for when it has ended, and its end when it no longer reads. */
const LAST_WORDS_MS = 300;

export function startProcess(options: ProcessOptions): ServerProcess {
  const { command, args, env, cwd, watchdog, maxLine } = options;
  const child = startChild(command, args, { cwd, env });
  let ended: string | undefined;
  let stderr = "";
  let tooLong = false;

  const end = (reason: string) => {
    if (ended !== undefined) return;
    ended = reason;
    if (child.pid !== undefined) {
      watchdog.remove(child.pid);
    }
    options.onEnd(reason);
  };

  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", () => {
      if (child.pid !== undefined) watchdog.add(child.pid);
      resolve();
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      const reason = startReason(error, command);
      end(reason);
      reject(new Error(reason));
    });
  });
  started.catch(() => {});
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  child.once("exit", (code, signal) => {
    // What it started may hold its pipes open; its last words are in them.
    endProcess(child, "SIGKILL");
    const tell = () => {
      clearTimeout(timer);
      if (tooLong) end(`it wrote a line of more than ${Math.round(maxLine / 2 ** 20)} MiB`);
      else end(signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`);
    };
    const timer = setTimeout(tell, LAST_WORDS_MS);
    child.once("close", tell);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.subarray(-STDERR_KEPT).toString("utf8")).slice(-STDERR_KEPT);
  });
  readLines(child, maxLine, options.onLine, () => {
    tooLong = true;
    endProcess(child, "SIGKILL");
  });
  for (const stream of [child.stdin, child.stdout, child.stderr])
    stream.on("error", () => {
      // "exit" reports its end.
    });

  return {
    get pid() {
      return child.pid;
    },
    started,
    lastErrors: () => stderr.trim(),
    write: (line) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(new Error(ended));
        child.stdin.write(line, (error) => {
          if (!error) return resolve();
          // Mostly because it is ending: then that is the reason.
          setTimeout(() => reject(new Error(ended ?? "it does not read its input")), LAST_WORDS_MS);
        });
      }),
    async stop() {
      if (ended !== undefined || child.pid === undefined) return;
      child.stdin.end();
      if (await settles(gone)) return;
      endProcess(child, "SIGTERM");
      if (await settles(gone)) return;
      endProcess(child, "SIGKILL");
      await gone;
    },
  };
}

/** Complete lines, cut without copying what is still incomplete more than once per chunk. */
function readLines(
  child: ChildProcessWithoutNullStreams,
  maxLine: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): void {
  let parts: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const last = chunk.subarray(from, at);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      size = 0;
      from = at + 1;
      onLine(line);
    }
    if (from < chunk.length) {
      parts.push(chunk.subarray(from));
      size += chunk.length - from;
    }
    if (size > maxLine) {
      parts = [];
      size = 0;
      onTooLong();
    }
  });
}

function settles(gone: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PATIENCE_MS);
    void gone.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

function startReason(error: NodeJS.ErrnoException, command: string): string {
  if (error.code === "ENOENT") return `the command ${command} is not installed, or its working folder is gone`;
  return error.code === "EACCES" ? `the command ${command} may not be run` : `it cannot be started (${error.code})`;
}
