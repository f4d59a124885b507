/** Starting and ending the service in the background, and finding the one that runs. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AdapterEnv } from "../contract/adapter.ts";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { acquireLock, type LockInfo, readLock } from "../storage/lock.ts";
import { VERSION } from "../utils/version.ts";
import { readState, type ServiceState, supervisorFolder } from "./state.ts";

const LOOK_MS = 50;
/** A start on a busy machine with a large archive takes seconds. */
const START_MS = 60_000;
const STOP_MS = 20_000;

export interface Running {
  /** Of the service that has the archive open and answers at `lock.url`. */
  lock: LockInfo & { url: string };
  /** What its supervisor wrote; undefined for a service of a terminal. */
  state: ServiceState | undefined;
}

/** The running service; undefined when there is none. */
export async function findRunning(dataDir: string): Promise<Running | undefined> {
  const lock = await readLock(dataDir);
  if (lock?.url === undefined) return undefined;
  const state = lock.background ? await readState(dataDir) : undefined;
  return { lock: { ...lock, url: lock.url }, state };
}

/** Whether the running service is of an older package than this command. */
export function isOlder({ lock }: Pick<Running, "lock">): boolean {
  const parts = (version: string) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  const [running, own] = [parts(lock.version ?? "0"), parts(VERSION)];
  for (let at = 0; at < 3; at++) {
    const difference = (own[at] ?? 0) - (running[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** Ends a service in the background of an older package and starts it again; answers the version that ran, undefined when nothing was to do. */
export async function renew(dataDir: string, env: Pick<AdapterEnv, "env">): Promise<string | undefined> {
  const running = await findRunning(dataDir);
  if (!running?.state || !isOlder(running)) return undefined;
  await stopRunning(dataDir);
  await startInBackground(dataDir, running.state.args, env);
  return running.lock.version ?? "an older version";
}

/** The words that run the supervisor: Node and the file in full, because `npx` is not there at login and takes half a second. */
export function superviseWords(dataDir: string, args: readonly string[]): string[] {
  return [process.execPath, join(packageFolder(), "dist", "supervise.mjs"), dataDir, ...args];
}

function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** Starts the service and waits until it answers. Throws SERVICE_NOT_STARTED with what it wrote last. */
export async function startInBackground(
  dataDir: string,
  args: readonly string[],
  { env }: Pick<AdapterEnv, "env">,
): Promise<Running> {
  const folder = supervisorFolder(dataDir);
  // A full disk and a folder that is read only are reported here: a supervisor could not write why it ends.
  const free = await acquireLock(folder).catch((error: unknown) => {
    if (!isSessarcError(error) || error.code !== "ARCHIVE_LOCKED") throw error;
    return undefined; // another one starts the service
  });
  await free?.release();
  const [file = "", ...rest] = superviseWords(dataDir, args);
  const child = spawn(file, rest, { detached: true, stdio: "ignore", env, windowsHide: true, cwd: toHome(env) });
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  child.on("exit", end).on("error", end);
  child.unref();
  return awaitRunning(dataDir, async () => {
    const state = await readState(dataDir);
    const crash = state?.pid === child.pid ? (state?.ended ?? state?.restarts.at(-1)) : undefined;
    return crash ? crash.reason || crash.how : hasEnded && !(await readLock(folder)) ? "its process ended" : undefined;
  });
}

/** Waits until the service answers. `failure`: why it will not, undefined while it may. */
export async function awaitRunning(
  dataDir: string,
  failure: () => Promise<string | undefined> = async () => undefined,
): Promise<Running> {
  for (const until = performance.now() + START_MS; performance.now() < until; await delay(LOOK_MS)) {
    const running = await findRunning(dataDir);
    if (running) return running;
    const reason = await failure();
    if (reason !== undefined) throw new SessarcError("SERVICE_NOT_STARTED", { reason });
  }
  const owner = await readLock(dataDir);
  const reason = owner
    ? `another command has the archive open (pid ${owner.pid}); the service starts when that ends`
    : "it does not answer";
  throw new SessarcError("SERVICE_NOT_STARTED", { reason });
}

/** The folder of a removed worktree would keep the service from starting programs. */
const toHome = (env: AdapterEnv["env"]): string => {
  const home = env.HOME ?? env.USERPROFILE;
  return home && existsSync(home) ? home : dirname(process.execPath);
};

/** Ends the running service, and its supervisor, and waits until the archive is free. False: none ran. */
export async function stopRunning(dataDir: string): Promise<boolean> {
  const running = await findRunning(dataDir);
  // A supervisor that waits between two starts has no service.
  const supervisor = await readLock(supervisorFolder(dataDir));
  const pid = supervisor?.pid ?? running?.lock.pid;
  if (pid === undefined) return false;
  kill(pid);
  // There a signal ends the supervisor at once, which cannot pass it on.
  if (process.platform === "win32" && supervisor && running) kill(running.lock.pid);
  for (const until = performance.now() + STOP_MS; performance.now() < until; await delay(LOOK_MS)) {
    const isServed = running !== undefined && (await readLock(dataDir))?.token === running.lock.token;
    if (!isServed && (await readLock(supervisorFolder(dataDir)))?.token !== supervisor?.token) return true;
    if (!isServed && supervisor === undefined) return true;
  }
  throw new SessarcError("SERVICE_NOT_STOPPED", { pid });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended meanwhile.
  }
}
