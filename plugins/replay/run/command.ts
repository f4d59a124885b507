/** Runs one confirmed command to its end, within limits, and ends everything it started. */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { release } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endProcess, startProcess } from "sessarc/files";
import { createGroup, type Group, needsGroup } from "./group.ts";
import { environment, type Isolation, type IsolationOptions, invoke, type Placement } from "./isolation.ts";
import { type Load, readLoad } from "./load.ts";

export interface Limits {
  /** ms. */
  timeMs: number;
  /** Resident bytes of all its processes together. */
  memoryBytes: number;
  processes: number;
  /** Bytes of one file it writes. */
  fileBytes: number;
  /** Bytes of stdout, and of stderr, that are kept; a command that writes sixteen times as many is ended. */
  outputBytes: number;
}

/** Bytes that the sandbox may hold, and how they are counted. */
interface Quota {
  bytes: number;
  used(): Promise<number>;
}

export const DEFAULT_LIMITS: Limits = {
  timeMs: 120_000,
  memoryBytes: 2 * 2 ** 30,
  processes: 256,
  fileBytes: 512 * 2 ** 20,
  outputBytes: 512 * 1024,
};

export interface CommandResult {
  /** Null when it was ended, or could not be started. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** A part of the output is not kept. */
  cut: boolean;
  /** Why it was ended or not started. */
  ended: string | null;
  ms: number;
}

interface Command {
  /** A text for the shell, or a program and its arguments. */
  command: string | readonly string[];
  place: Placement;
  isolation: Isolation;
  options: IsolationOptions;
  limits: Limits;
  quota: Quota;
  /** For its standard input; nothing by default. */
  input?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** How often memory and processes are counted. */
const LOOK_MS = 100;
/** Counting the bytes on disk reads every file's entry: at most a tenth of the time is spent on it. */
const DISK_MS = 500;

export async function runCommand(request: Command): Promise<CommandResult> {
  const { limits } = request;
  const started = performance.now();
  const group = request.isolation.kind !== "none" && needsGroup() ? await createGroup(limits) : undefined;
  const child = start(request, group);
  // A command that does not read its input closes it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(request.input);
  const out = collect(child.stdout, limits.outputBytes);
  const err = collect(child.stderr, limits.outputBytes);
  let ended: string | null = null;
  const end = (why: string) => {
    ended ??= why;
    endProcess(child);
  };
  const finished = new AbortController();
  const stop = () => {
    const reason: unknown = request.signal?.reason;
    end(typeof reason === "string" ? reason : "the service is closing");
  };
  request.signal?.addEventListener("abort", stop);
  // An abort that came while the sandbox was made is not reported again.
  if (request.signal?.aborted === true) stop();
  const timer = setTimeout(() => end(`it took longer than ${limits.timeMs / 1000} s`), limits.timeMs);
  const exit = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      ended ??= `it could not be started: ${error.message}`;
      resolve(null);
    });
    child.once("close", (code) => resolve(code));
    // What it left running keeps the pipes open: with the first process gone, the rest goes, too.
    child.once("exit", () => endProcess(child));
  });
  const watched = watch(child, limits, () => out.bytes + err.bytes, end, finished.signal);
  const filled = watchDisk(request.quota, end, finished.signal);
  const code = await exit;
  clearTimeout(timer);
  finished.abort();
  request.signal?.removeEventListener("abort", stop);
  await Promise.all([watched, filled]);
  await group?.remove();
  return {
    exitCode: ended === null ? code : null,
    stdout: out.text(),
    stderr: err.text(),
    cut: out.cut() || err.cut(),
    ended,
    ms: Math.round(performance.now() - started),
  };
}

function start({ command, place, isolation, options, limits }: Command, group: Group | undefined) {
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const words = typeof command === "string" ? [shell, "-c", command] : command;
  const limited = [...limiter(limits, isolation.kind !== "none"), ...words];
  if (isolation.kind !== "none") {
    const { program, args, cwd } = invoke(isolation, place, limited, options);
    const [first = "", ...others] = [...(group?.enter ?? []), program, ...args];
    return startProcess(first, others, { cwd, env: {} });
  }
  const [program = "", ...args] = limited;
  const cwd = place.tree + place.cwd.slice(place.mount.length);
  // Without its own repository the sandbox would be taken for a part of one above it.
  const env = {
    ...environment(place.home, []),
    TMPDIR: place.home,
    GIT_CEILING_DIRECTORIES: dirname(place.tree),
    ...place.env,
  };
  return startProcess(program, args, { cwd, env });
}

/** Limits that the system itself holds; those of all processes together are watched (below). */
function limiter(limits: Limits, isolated: boolean): string[] {
  if (!existsSync("/usr/bin/prlimit")) return [];
  const { processes, fileBytes, memoryBytes } = limits;
  const count = isolated && countsApart() ? [`--nproc=${processes}`] : [];
  return [
    "/usr/bin/prlimit",
    ...count,
    `--fsize=${fileBytes}`,
    `--data=${memoryBytes}`,
    "--nofile=1024",
    "--core=0",
    "--",
  ];
}

/** Since Linux 5.14 a user name space has its own count of processes; before, those of the user's other programs are counted in. */
function countsApart(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return process.platform === "linux" && (major > 5 || (major === 5 && minor >= 14));
}

async function watch(
  child: ChildProcess,
  limits: Limits,
  written: () => number,
  end: (why: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const over = (load: Load) => {
    if (load.processes > limits.processes) return `it started more than ${limits.processes} processes`;
    if (load.bytes > limits.memoryBytes)
      return `it took more than ${Math.round(limits.memoryBytes / 2 ** 20)} MiB of memory`;
    return undefined;
  };
  while (!signal.aborted) {
    const why =
      written() > limits.outputBytes * 16
        ? "it wrote without end"
        : child.pid === undefined
          ? undefined
          : over(await readLoad(child.pid, limits.processes));
    if (why !== undefined) return end(why);
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function watchDisk(quota: Quota, end: (why: string) => void, signal: AbortSignal): Promise<void> {
  let pause = DISK_MS;
  for (;;) {
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const began = performance.now();
    if ((await quota.used()) > quota.bytes)
      return end(`it filled the sandbox past ${Math.ceil(quota.bytes / 2 ** 20)} MiB`);
    pause = Math.max(DISK_MS, (performance.now() - began) * 10);
  }
}

/** Keeps the first and the last half of `limit` bytes. */
function collect(stream: NodeJS.ReadableStream, limit: number) {
  const half = limit / 2;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  const state = { bytes: 0, text: () => "", cut: () => state.bytes > limit };
  stream.on("data", (chunk: Buffer) => {
    state.bytes += chunk.length;
    const room = half - head.length;
    if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
    if (chunk.length > room) tail = Buffer.concat([tail, chunk.subarray(Math.max(0, room))]).subarray(-half);
  });
  state.text = () => {
    const gap = state.bytes - head.length - tail.length;
    return head.toString("utf8") + (gap > 0 ? `\n… ${gap} bytes …\n` : "") + tail.toString("utf8");
  };
  return state;
}
