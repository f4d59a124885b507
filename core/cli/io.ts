/** The process as the command line sees it; tests hand in their own. */
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join, parse } from "node:path";
import { isatty } from "node:tty";
import type { AdapterEnv } from "../contract/adapter.ts";
import { wantsColour } from "../terminal/style.ts";
import { toTerminal } from "../utils/printable.ts";
import { tuneEngine } from "./engine.ts";

export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

export interface CliIo {
  /** Without node and script. */
  argv: readonly string[];
  cwd: string;
  env: AdapterEnv;
  stdout: Sink;
  stderr: Sink;
  /** The same streams for what a command draws itself: cursor movements, the clipboard. Never text from logs. Default: `stdout`, `stderr`. */
  raw?: { stdout: Sink; stderr: Sink } | undefined;
  /** What is piped in; undefined on a terminal. */
  stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Aborts when the user wants out. */
  signal: AbortSignal;
  /** Asks a person at the terminal; undefined when they want out. Absent where there is no person. */
  ask?: ((question: string) => Promise<string | undefined>) | undefined;
  /** Calls back with uncaught errors, which then do not end the process; returns a function that stops it. */
  onStray?(listener: (error: unknown) => void): () => void;
  /** Moves the process out of the folder that it was started in: that may be deleted under a service, and no worker starts in a deleted folder. */
  leaveFolder?(): void;
  /** Called right before SQLite starts. `brief`: a command that asks the archive in `dataDir` once and ends. */
  tune?(dataDir: string, brief: boolean): void;
}

/** The same, but nothing that steers a terminal or turns its text passes either stream, whatever a command prints. */
export function throughDoor(io: CliIo): CliIo {
  const door = (sink: Sink): Sink => ({
    write: (text) => sink.write(toTerminal(text, wantsColour(io.env.env, sink.isTTY === true))),
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
  });
  return { ...io, raw: { stdout: io.stdout, stderr: io.stderr }, stdout: door(io.stdout), stderr: door(io.stderr) };
}

export function processIo(signal: AbortSignal): CliIo {
  return {
    argv: process.argv.slice(2),
    cwd: workingFolder(),
    env: { home: homedir(), platform: process.platform, env: process.env },
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: isatty(0) ? undefined : () => process.stdin,
    signal,
    ask: isatty(0) && isatty(1) && isatty(2) ? (question) => askPerson(question, signal) : undefined,
    onStray,
    leaveFolder: () => process.chdir(parse(homedir()).root),
    tune: tuneEngine,
  };
}

/**
 * The folder that the process runs in. Where that was deleted (a removed worktree), the path that it had: relative paths are not found there.
 * The process itself moves to the root then, since nothing (git, a worker, a package) starts in a folder that is gone.
 */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.chdir(parse(homedir()).root);
    const { PWD } = process.env;
    return PWD !== undefined && isAbsolute(PWD) ? PWD : join(tmpdir(), "a folder that was deleted");
  }
}

async function askPerson(question: string, signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question, { signal });
  } catch {
    // Ctrl-C, or the end of the input.
    return undefined;
  } finally {
    lines.close();
  }
}

function onStray(listener: (error: unknown) => void): () => void {
  const events = ["unhandledRejection", "uncaughtException"] as const;
  for (const event of events) process.on(event, listener);
  return () => {
    for (const event of events) process.off(event, listener);
  };
}
