/** A user's machine: a home, folders by XDG, a PATH without the programs of this machine, and the package as npm installs it. */
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { Ran } from "../built.ts";
import { claudeTurn } from "../claude-turn.ts";

const exec = promisify(execFile);
/** Programs that the product starts where they are there. No `systemctl`: it would ask the manager of this machine's user. */
const PROGRAMS = ["sh", "git", "env", "cat", "script"];

/** The installed package in a folder that this test may change; below the temporary folder, with nothing of this project above it. */
export async function toCopy(installed: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sessarc-day-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  await cp(installed, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Installs the same package as `version` over the one in `folder`, while that may run. */
export async function update(folder: string, version: string): Promise<void> {
  const made = join(folder, "newer/package");
  await cp(join(folder, "node_modules/sessarc"), made, { recursive: true });
  const manifest = JSON.parse(await readFile(join(made, "package.json"), "utf8")) as { version: string };
  await writeFile(join(made, "package.json"), JSON.stringify({ ...manifest, version }));
  for (const name of await readdir(join(made, "dist"), { recursive: true })) {
    if (!name.endsWith(".mjs")) continue;
    const text = await readFile(join(made, "dist", name), "utf8");
    // As the build may quote it.
    const next = text
      .replaceAll(`"${manifest.version}"`, `"${version}"`)
      .replaceAll(`\`${manifest.version}\``, `\`${version}\``);
    if (next !== text) await writeFile(join(made, "dist", name), next);
  }
  const tarball = join(folder, `sessarc-${version}.tgz`);
  await exec("tar", ["-czf", tarball, "-C", dirname(made), "package"]);
  await rm(dirname(made), { recursive: true });
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  await exec("npm", ["install", ...flags, tarball], { cwd: folder, maxBuffer: 2 ** 26 });
}

export interface Machine {
  home: string;
  data: string;
  env: Record<string, string>;
  /** Runs `sessarc …` to its end. */
  run(...args: string[]): Promise<Ran>;
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  status(): Promise<Status>;
  /** Appends `turns` turns to the log of a session; each has a word of its own, `word<n>`. */
  write(session: number, from: number, turns?: number): Promise<void>;
  /** Ends everything of this data directory at once, as a power cut does. */
  kill(): Promise<void>;
}

export interface Status {
  running: boolean;
  pid: number | null;
  version: string | null;
  installed: string;
  background: boolean;
  ended: { reason: string } | null;
  login: { kind: string; path: string } | null;
  status: { storage: { sessions: number } } | null;
}

/** The command line of the package in that folder. */
export const toCli = (folder: string) => join(folder, "node_modules/sessarc/dist/cli.mjs");

export async function machine(cli: string, extra: Record<string, string> = {}): Promise<Machine> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-home-"));
  const bin = join(home, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  for (const name of PROGRAMS) {
    const path = await exec("sh", ["-c", `command -v ${name}`]).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
    if (path) await symlink(path, join(bin, name));
  }
  const data = join(home, "xdg/data/sessarc");
  const env = {
    PATH: bin,
    HOME: home,
    TMPDIR: home,
    TZ: "UTC",
    SHELL: "/bin/sh",
    XDG_DATA_HOME: join(home, "xdg/data"),
    XDG_CONFIG_HOME: join(home, "xdg/config"),
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    ...extra,
  };
  const run = (...args: string[]) => runWords([process.execPath, cli, ...args], env, home);
  const json = async <T>(...args: string[]) => {
    const { stdout, stderr } = await run(...args, "--json");
    if (stdout === "") throw new Error(`sessarc ${args.join(" ")}: ${stderr}`);
    return JSON.parse(stdout) as T;
  };
  onTestFinished(async () => {
    await kill();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  });
  async function kill(): Promise<void> {
    const pids = await readProcesses(data);
    // The supervisor first, or it would start the service again.
    for (const pid of pids.sort((a, b) => a - b)) process.kill(pid, "SIGKILL");
    while ((await readProcesses(data)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    home,
    data,
    env,
    run,
    json,
    status: () => json<Status>("status"),
    async write(session, from, turns = 1) {
      const folder = join(env.CLAUDE_CONFIG_DIR, "projects/-w-app");
      await mkdir(folder, { recursive: true });
      const rows = Array.from({ length: turns }, (_, n) => claudeTurn(from + n)).flat();
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      await writeFile(join(folder, `${toSession(session)}.jsonl`), text, { flag: "a" });
    },
    kill,
  };
}

export const toSession = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Processes whose command line names the data directory; what is dead and not yet awaited has none. */
async function readProcesses(data: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const words = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (words.split("\0").includes(data)) found.push(Number(name));
  }
  return found;
}

/** Runs a program to its end; `input`: what is typed. */
export function runWords(
  [file = "", ...args]: readonly string[],
  env: Record<string, string>,
  cwd: string,
  input?: string,
): Promise<Ran> {
  const child = spawn(file, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {}).end(input);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
