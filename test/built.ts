/** The built package, for tests that need what users get: real processes, real imports by name. */
import { execFile, spawn } from "node:child_process";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const CLI = join(ROOT, "dist/cli.mjs");

/** Builds dist/ when a source is newer than it. Test files that ask at the same time wait for one build. Takes up to 20 s. */
export const builtPackage = (): Promise<void> =>
  buildOnce(".sessarc-build", isFresh, [join(ROOT, "node_modules/unbuild/dist/cli.mjs")]);

/** Runs Node with `args` in the project unless `isFresh`; who asks while another one builds waits for it. `name`: of the lock. */
export async function buildOnce(name: string, isFresh: () => Promise<boolean>, args: readonly string[]): Promise<void> {
  const lock = join(ROOT, "node_modules", name);
  for (;;) {
    if (await isFresh()) return;
    try {
      await mkdir(lock);
      break;
    } catch {
      const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > 180_000) await rm(lock, { recursive: true, force: true });
      await delay(200);
    }
  }
  try {
    if (await isFresh()) return;
    await promisify(execFile)(process.execPath, [...args], { cwd: ROOT });
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function isFresh(): Promise<boolean> {
  // The last file of a build.
  const built = await stat(join(ROOT, "dist/LICENSES.txt")).catch(() => undefined);
  if (!built || !(await stat(join(ROOT, "dist/plugins.d.mts")).catch(() => undefined))) return false;
  for (const folder of ["core", "plugins", "build.config.ts", "package.json", "test/published.ts"]) {
    if ((await newest(join(ROOT, folder))) > built.mtimeMs) return false;
  }
  return true;
}

async function newest(path: string): Promise<number> {
  const info = await stat(path);
  if (!info.isDirectory()) return info.mtimeMs;
  const names = await readdir(path, { recursive: true });
  const sources = names.filter((name) => /\.(ts|json)$/.test(name));
  const times = await Promise.all(sources.map(async (name) => (await stat(join(path, name))).mtimeMs));
  return Math.max(0, ...times);
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `sessarc …` to its end. `home` is where every tool keeps its logs. */
export function runCli(args: readonly string[], home: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = spawnCli(args, home, env);
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function spawnCli(args: readonly string[], home: string, env: Record<string, string> = {}) {
  // Nothing of the developer's own machine takes part, the tools' variables least of all.
  const clean = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, TMPDIR: home, TZ: "UTC", ...env };
  return spawn(process.execPath, [CLI, ...args], { env: clean, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
}

export interface RunningService {
  url: string;
  /** The ready line and whatever else went to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `sessarc serve` and resolves when it says that it is ready. */
export function startService(
  args: readonly string[],
  home: string,
  env: Record<string, string> = {},
): Promise<RunningService> {
  const child = spawnCli(["serve", "--port", "0", ...args], home, env);
  let stdout = "";
  let stderr = "";
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    void closed.then((code) => reject(new Error(`sessarc serve ended with ${code}: ${stderr}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      const url = /ready at (http:\S+)/.exec(stdout)?.[1];
      if (!url) return;
      resolve({
        url,
        stdout: () => stdout,
        stderr: () => stderr,
        stop: (signal = "SIGINT") => {
          child.kill(signal);
          return closed;
        },
      });
    });
  });
}
