/** The process as the command line sees it; tests hand in their own. */
import { homedir } from "node:os";
import { isatty } from "node:tty";
import type { AdapterEnv } from "../contract/adapter.ts";
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
  /** What is piped in; undefined on a terminal. */
  stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Aborts when the user wants out. */
  signal: AbortSignal;
  /** Calls back with uncaught errors, which then do not end the process; returns a function that stops it. */
  onStray?(listener: (error: unknown) => void): () => void;
  /** Called right before SQLite starts. `brief`: a command that asks the archive in `dataDir` once and ends. */
  tune?(dataDir: string, brief: boolean): void;
}

export function processIo(signal: AbortSignal): CliIo {
  return {
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    env: { home: homedir(), platform: process.platform, env: process.env },
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: isatty(0) ? undefined : () => process.stdin,
    signal,
    onStray,
    tune: tuneEngine,
  };
}

function onStray(listener: (error: unknown) => void): () => void {
  const events = ["unhandledRejection", "uncaughtException"] as const;
  for (const event of events) process.on(event, listener);
  return () => {
    for (const event of events) process.off(event, listener);
  };
}
