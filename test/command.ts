/** `sessarc …` in this process, from the sources: for what a command says and does. What only a process shows is in `built.ts`. */
import { Readable } from "node:stream";
import { main } from "../core/cli/main.ts";
import type { Ran, RunningService } from "./built.ts";

type Env = Readonly<Record<string, string>>;
interface Said {
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. `home` is where every tool keeps its logs, and the working directory; `columns` those of a terminal it writes to; `stdin` what is piped in. */
export async function runCommand(
  args: readonly string[],
  home: string,
  env: Env = {},
  columns?: number,
  stdin?: string,
): Promise<Ran> {
  const said: Said = { stdout: "", stderr: "" };
  return { code: await run(args, home, env, said, new AbortController().signal, undefined, columns, stdin), ...said };
}

/** Runs a command that goes on until it is ended: it is once `until` holds for its output. */
export async function runUntil(
  args: readonly string[],
  home: string,
  columns: number,
  until: (stdout: string) => boolean,
): Promise<Ran> {
  const said: Said = { stdout: "", stderr: "" };
  const ending = new AbortController();
  const onText = () => until(said.stdout) && ending.abort();
  return { code: await run(args, home, {}, said, ending.signal, onText, columns), ...said };
}

export interface Started {
  stdout(): string;
  stderr(): string;
  /** Its exit code. */
  ended: Promise<number>;
  /** Ctrl-C; answers the exit code. */
  stop(): Promise<number>;
}

/** Starts a command that goes on until Ctrl-C, or ends before. */
export function startCommand(args: readonly string[], home: string, env: Env = {}): Started {
  const said: Said = { stdout: "", stderr: "" };
  const ending = new AbortController();
  const ended = run(args, home, env, said, ending.signal);
  const stop = () => {
    ending.abort();
    return ended;
  };
  return { stdout: () => said.stdout, stderr: () => said.stderr, ended, stop };
}

/** `sessarc serve` (or the command of `words`) in this process, for what it answers; how a process of it starts and ends is shown by `startService`. */
export function serveHere(
  args: readonly string[],
  home: string,
  env: Env = {},
  words: readonly string[] = ["serve"],
  ask?: (question: string) => Promise<string | undefined>,
): Promise<RunningService> {
  const ending = new AbortController();
  const said: Said = { stdout: "", stderr: "" };
  return new Promise((resolve, reject) => {
    const ended = run(
      [...words, "--port", "0", ...args],
      home,
      env,
      said,
      ending.signal,
      () => {
        const url = /ready at (http:\S+)/.exec(said.stdout)?.[1];
        if (!url) return;
        const stop = () => {
          ending.abort();
          return ended;
        };
        resolve({ url, stdout: () => said.stdout, stderr: () => said.stderr, stop });
      },
      undefined,
      undefined,
      ask,
    );
    void ended.then((code) => reject(new Error(`sessarc ${words.join(" ")} ended with ${code}: ${said.stderr}`)));
  });
}

function run(
  args: readonly string[],
  home: string,
  env: Env,
  said: Said,
  signal: AbortSignal,
  onText = () => {},
  columns?: number,
  stdin?: string,
  ask?: (question: string) => Promise<string | undefined>,
): Promise<number> {
  const sink = (name: keyof Said) => ({
    write(text: string) {
      said[name] += text;
      onText();
    },
  });
  return main({
    argv: args,
    cwd: home,
    // As spawnCli has it: nothing of the developer's own machine takes part.
    env: {
      home,
      platform: process.platform,
      env: { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, TMPDIR: home, TZ: "UTC", ...env },
    },
    stdout: columns === undefined ? sink("stdout") : { ...sink("stdout"), isTTY: true, columns },
    stderr: sink("stderr"),
    stdin: stdin === undefined ? undefined : () => Readable.from([Buffer.from(stdin)]),
    signal,
    ask,
  });
}
