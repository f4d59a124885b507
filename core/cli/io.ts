/** The process as the command line sees it; tests hand in their own. */
import { homedir } from "node:os";
import type { AdapterEnv } from "../contract/adapter.ts";
import { expectBrief } from "./engine.ts";

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
  /** Aborts when the user wants out. */
  signal: AbortSignal;
  /** Told before a command that asks the archive once and ends. */
  brief?(dataDir: string): void;
}

export function processIo(signal: AbortSignal): CliIo {
  return {
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    env: { home: homedir(), platform: process.platform, env: process.env },
    stdout: process.stdout,
    stderr: process.stderr,
    signal,
    brief: expectBrief,
  };
}
