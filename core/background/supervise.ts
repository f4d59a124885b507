/**
 * Runs the service in the background and starts it again after a crash: `node supervise.mjs <data directory> [flags of serve]`. Ends on SIGTERM
 * and SIGINT with the service, and when the service ends in order.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { isSessarcError } from "../errors/error.ts";
import { acquireLock, readLock } from "../storage/lock.ts";
import { VERSION } from "../utils/version.ts";
import { openLog } from "./log-file.ts";
import { LOCKED, pauseBefore, willHelp } from "./policy.ts";
import { BACKGROUND, type ServiceState, supervisorFolder, writeState } from "./state.ts";

const [dataDir = "", ...args] = process.argv.slice(2);
/** Beside this file in `dist/`. */
const CLI = fileURLToPath(new URL("./cli.mjs", import.meta.url));
/** A service that does not close is killed by then. */
const PATIENCE_MS = 15_000;
/** How often a command that has the archive open is looked for. */
const LOOK_MS = 1_000;

mkdirSync(dataDir, { recursive: true, mode: 0o700 });
// The entry at login, each login shell and `sessarc start` may all start one. The first one has the service.
const own = await acquireLock(supervisorFolder(dataDir)).catch((error: unknown) => {
  if (isSessarcError(error) && error.code === "ARCHIVE_LOCKED") process.exit(0);
  throw error;
});
// So has a service of a terminal.
if ((await readLock(dataDir))?.url !== undefined) {
  await own.release();
  process.exit(0);
}
const log = openLog(dataDir);
const state: ServiceState = {
  pid: process.pid,
  version: VERSION,
  startedAt: new Date().toISOString(),
  args,
  restarts: [],
};
let child: ChildProcess | undefined;
let isEnding = false;
let wake: (() => void) | undefined;

const save = () =>
  writeState(dataDir, state).catch((error: unknown) => log.write(`service.json cannot be written: ${String(error)}\n`));

function end(signal: NodeJS.Signals): void {
  isEnding = true;
  child?.kill(signal);
  setTimeout(() => child?.kill("SIGKILL"), PATIENCE_MS).unref();
  wake?.();
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end(signal));
// The terminal that started it is closed.
process.on("SIGHUP", () => {});

/** Runs the service once; answers how it ended. */
function runOnce(): Promise<{ code: number; how: string }> {
  return new Promise((resolve) => {
    child = spawn(process.execPath, [...process.execArgv, CLI, "serve", "--no-open", "--data-dir", dataDir, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, [BACKGROUND]: "1" },
      windowsHide: true,
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => log.write(text));
    child.on("error", (error) => {
      log.write(`${error.message}\n`);
      resolve({ code: 1, how: "it could not be started" });
    });
    child.on("close", (code, signal) => {
      log.flush();
      const number = code ?? 128 + (signal ? constants.signals[signal] : 0);
      resolve({ code: number, how: signal ? `signal ${signal}` : `exit code ${number}` });
    });
  });
}

const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    wake = resolve;
    setTimeout(resolve, ms);
  });

/** Waits while a command has the archive open. False: a service has it. */
async function waitForCommand(): Promise<boolean> {
  for (let owner = await readLock(dataDir); owner && !isEnding; owner = await readLock(dataDir)) {
    if (owner.url !== undefined) return false;
    await pause(LOOK_MS);
  }
  return !isEnding;
}

await save();
while (!isEnding) {
  const { code, how } = await runOnce();
  if (isEnding || code === 0) break;
  if (code === LOCKED && (await waitForCommand())) continue;
  if (isEnding) break;
  const crash = { at: new Date().toISOString(), how, reason: log.last().join("\n") };
  const ms = willHelp(code) ? pauseBefore(state.restarts, Date.now()) : undefined;
  if (ms === undefined) {
    state.ended = crash;
    log.write(`The service ended (${how}) and is not started again\n`);
    await save();
    await own.release();
    process.exit(code);
  }
  state.restarts = [...state.restarts, crash].slice(-10);
  log.write(`The service ended (${how}); it starts again in ${ms / 1000} s\n`);
  await save();
  await pause(ms);
  if (isEnding) break;
}
await own.release();
process.exit(0);
