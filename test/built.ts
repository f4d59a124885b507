/** The built package, for tests that need what users get: real processes, real imports by name, the packed tarball. */
import { execFile, spawn } from "node:child_process";
import { cp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildOnce, CACHE, isFresh, ROOT } from "./build-once.ts";
import { V8_FLAGS } from "./flags.mjs";

export { ROOT } from "./build-once.ts";
export const CLI = join(ROOT, "dist/cli.mjs");
/** A build of our own: `npm run build` beside the tests must not take files away under them. */
export const DASHBOARD = join(CACHE, "ui");

const exec = promisify(execFile);
/** Without vitest's NODE_ENV: with it the dashboard would be made of Vue's development build, which no user gets. */
const node = (...args: string[]) =>
  exec(process.execPath, [...V8_FLAGS, ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: undefined },
    maxBuffer: 64 * 2 ** 20,
  });
const PUBLISHED = ["published", "adapter", "kernel", "plugin"].map((name) => `test/${name}.ts`);
const SERVER = ["core", "plugins", "build.config.ts", "package.json", "test/adapter", ...PUBLISHED];

/** Builds dist/ (without the dashboard) when a source is newer than it. Takes 18 s of a processor, once for all who ask. */
export const builtPackage = (): Promise<void> =>
  buildOnce({
    name: "package",
    outputs: ["dist/sessarc.1", "dist/responses.json"],
    sources: SERVER,
    make: () => node(join(ROOT, "node_modules/unbuild/dist/cli.mjs")),
  });

const vite = (...args: string[]) =>
  node(join(ROOT, "node_modules/vite/bin/vite.js"), "build", "--config", "ui/vite.config.ts", ...args);

/** The dashboard in `DASHBOARD`: of dist/ where that is as new as all below ui/, else built. */
export const builtDashboard = (): Promise<void> =>
  buildOnce({
    name: "dashboard",
    outputs: ["node_modules/.cache/sessarc-test/ui/scripts.br"],
    sources: ["ui"],
    async make() {
      // In a whole run the package is being built beside the tests, and this with it.
      if (process.env.SESSARC_TEST_BUILD === "beside") await packedTarball();
      const page = { outputs: ["dist/ui/scripts.br"], sources: ["ui"] };
      if (!(await isFresh(page))) return vite("--outDir", DASHBOARD);
      const copy = `${DASHBOARD}.new`;
      for (const path of [copy, DASHBOARD]) await rm(path, { recursive: true, force: true });
      await cp(join(ROOT, "dist/ui"), copy, { recursive: true });
      await rename(copy, DASHBOARD);
    },
  });

/** Of package.json's `files`: no pattern. */
const isPlainPath = (path: string) => !/[*?!{}]/.test(path);

export interface Packed {
  /** Of the .tgz. */
  path: string;
  /** As `npm pack` tells them: paths inside the package, sizes in bytes. */
  files: readonly { path: string; size: number }[];
  size: number;
  unpackedSize: number;
}

/** What `npm publish` would send, dashboard and all: packed once for all who ask. Never change or remove the file. */
export async function packedTarball(): Promise<Packed> {
  await builtPackage();
  await buildOnce({
    name: "page",
    outputs: ["dist/ui/scripts.br"],
    // Its notices hold those of the service.
    sources: ["ui", "dist/LICENSES.txt"],
    make: () => vite(),
  });
  const { files } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { files: string[] };
  const report = join(CACHE, "packed.json");
  await buildOnce({
    name: "packed",
    outputs: ["node_modules/.cache/sessarc-test/packed.json"],
    sources: ["package.json", "README.md", "LICENSE", "dist/ui/scripts.br", ...files.filter(isPlainPath)],
    counts: /./,
    async make() {
      const npm = process.platform === "win32" ? "npm.cmd" : "npm";
      const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", CACHE];
      const { stdout } = await exec(npm, args, { cwd: ROOT, maxBuffer: 64 * 2 ** 20 });
      const [packed] = JSON.parse(stdout) as [Packed & { filename: string }];
      await writeFile(`${report}.new`, JSON.stringify({ ...packed, path: join(CACHE, packed.filename) }));
      await rename(`${report}.new`, report);
    },
  });
  return JSON.parse(await readFile(report, "utf8")) as Packed;
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

export function spawnCli(args: readonly string[], home: string, env: Record<string, string> = {}, cwd = home) {
  // Nothing of the developer's own machine takes part, the tools' variables least of all.
  const clean = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, TMPDIR: home, TZ: "UTC", ...env };
  return spawn(process.execPath, [CLI, ...args], { env: clean, cwd, stdio: ["ignore", "pipe", "pipe"] });
}

export interface RunningService {
  url: string;
  /** The ready line and whatever else went to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `sessarc serve` (or the command of `words`) and resolves when it says that it is ready. */
export function startService(
  args: readonly string[],
  home: string,
  env: Record<string, string> = {},
  words: readonly string[] = ["serve"],
  cwd = home,
): Promise<RunningService> {
  const child = spawnCli([...words, "--port", "0", ...args], home, env, cwd);
  let stdout = "";
  let stderr = "";
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    void closed.then((code) => reject(new Error(`sessarc ${words.join(" ")} ended with ${code}: ${stderr}`)));
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
