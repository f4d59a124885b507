/** Runs a real tool in a fresh home against the model server, and nowhere else. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { nodeFor } from "./picked.ts";
import { cacheDir, type Installed, install } from "./tools/install.ts";
import type { Ask, Driver, Place } from "./tools/types.ts";

/** After this long a run is ended by force; a hanging tool is a result too. */
const DEADLINE_MS = 240_000;

export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface Running {
  /** To the tool and everything it started. */
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ran>;
}

export interface Driven extends Place {
  driver: Driver;
  version: string;
  /** The folder with the tool's command. */
  bin: string;
  start(ask: Ask, env?: Readonly<Record<string, string>>): Running;
  /** Runs to the end. */
  run(ask: Ask, env?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Any other command of the tool; in another folder than the project where one is named. */
  command(args: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Running;
  /** The environment of its commands. */
  env: Readonly<Record<string, string>>;
  /** Removes the home. */
  close(): Promise<void>;
}

export interface DriveOptions {
  /** Of the model server. */
  url: string;
  /** Version or tag of the tool's package; the newest without it. */
  version?: string;
  /** Files of the project, beside its README. */
  files?: Readonly<Record<string, string>>;
}

/** Installs the tool when need be and makes a fresh home with a project in it: a git repository with one commit. */
export async function drive(driver: Driver, { url, version, files = {} }: DriveOptions): Promise<Driven> {
  const installed = await install(driver.package, version, driver.folder, driver.others);
  const wanted = nodeFor(driver);
  const node = wanted === undefined ? undefined : await install("node", wanted);
  // Not in the system's temp folder: Codex refuses to put its helpers there.
  await mkdir(join(cacheDir(), "homes"), { recursive: true });
  const home = await mkdtemp(join(cacheDir(), "homes", `${driver.name}-`));
  const place: Place = { home, cwd: join(home, "work", "app"), url };
  await makeProject(place.cwd, { "README.md": "# App\n", ...files });
  await driver.setUp(place);
  const environment = toEnv(driver, place, [installed, ...(node ? [node] : [])]);
  const command: Driven["command"] = (args, env = {}, cwd = place.cwd) =>
    start(join(installed.bin, driver.command), args, cwd, { ...environment, ...env });
  return {
    ...place,
    driver,
    env: environment,
    version: installed.version,
    bin: installed.bin,
    command,
    start: (ask, env) => command(driver.args(ask, place), env),
    run: (ask, env) => command(driver.args(ask, place), env).ended,
    close: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function makeProject(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(cwd, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], { cwd });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "start");
}

/** Nothing of the developer's machine takes part. Whatever is not the model server goes to a proxy that refuses. */
function toEnv(driver: Driver, place: Place, installed: readonly Installed[]): Record<string, string> {
  const proxy = { HTTP_PROXY: place.url, HTTPS_PROXY: place.url, NO_PROXY: "127.0.0.1,localhost" };
  const lower = Object.fromEntries(Object.entries(proxy).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    HOME: place.home,
    PATH: [...installed.map(({ bin }) => bin).reverse(), process.env.PATH ?? ""].join(delimiter),
    LANG: "C.UTF-8",
    TZ: "UTC",
    TERM: "dumb",
    NO_COLOR: "1",
    CI: "1",
    ...proxy,
    ...lower,
    ...driver.env(place),
  };
}

function start(file: string, args: readonly string[], cwd: string, env: Record<string, string>): Running {
  const began = performance.now();
  const child = spawn(file, [...args], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      output[name] += chunk.toString("utf8");
    });
  }
  const deadline = setTimeout(() => killGroup(child, "SIGKILL"), DEADLINE_MS);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...output, ms: performance.now() - began }));
  }).finally(() => clearTimeout(deadline));
  return { ended, kill: (signal) => killGroup(child, signal) };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // it has ended already
  }
}
