/** The package as strangers get it: packed, and installed in an empty folder. Once per build; all tests share it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packedTarball, ROOT } from "../built.ts";

const exec = promisify(execFile);
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

/** A folder with `node_modules/sessarc` in it and nothing of this project above it. Takes the network and up to a minute, once. */
export async function packedInstall(): Promise<string> {
  const packed = await packedTarball();
  const { mtimeMs } = await stat(packed.path);
  const folder = join(tmpdir(), `sessarc-packed-${process.getuid?.() ?? 0}-${Math.round(mtimeMs)}`);
  if (existsSync(join(folder, "node_modules/sessarc"))) return folder;
  // Test files that come at the same time make one each; the first that is done is the one.
  const making = `${folder}-${process.pid}`;
  await mkdir(making, { recursive: true });
  await writeFile(join(making, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  await exec(npm, ["install", ...flags, packed.path], { cwd: making, maxBuffer: 2 ** 26 });
  await rename(making, folder).catch(() => rm(making, { recursive: true, force: true }));
  await removeOlder(folder);
  return folder;
}

/** Installs of builds that are gone. */
async function removeOlder(current: string): Promise<void> {
  const mine = new RegExp(`^sessarc-packed-${process.getuid?.() ?? 0}-\\d+$`);
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!mine.test(name) || path === current) continue;
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    // One that another checkout's tests use right now is younger.
    if (Date.now() - mtimeMs > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}

export interface Runtime {
  name: string;
  /** Undefined when it is not installed: `npm ci --prefix test/runtimes` brings it, for Linux on x64. */
  node: string | undefined;
}

const runtime = (name: string): Runtime => {
  const node = join(ROOT, "test/runtimes/node_modules", name, "bin/node");
  if (existsSync(node)) return { name, node };
  if (process.env.CI) throw new Error(`${name} is not installed: \`npm ci --prefix test/runtimes\``);
  return { name, node: undefined };
};

/** Node 20 is the one that runs the tests, where that is a Node 20. */
export const RUNTIMES: readonly Runtime[] = [
  { name: `node ${process.versions.node}`, node: process.execPath },
  runtime("node22"),
  runtime("node24"),
];

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the installed `sessarc`; `cwd` is the home as well. */
export async function runInstalled(
  args: readonly string[],
  cwd: string,
  { node = process.execPath, env = {} }: { node?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  const cli = join(await packedInstall(), "node_modules/sessarc/dist/cli.mjs");
  const clean = { PATH: process.env.PATH ?? "", HOME: cwd, USERPROFILE: cwd, TMPDIR: tmpdir(), TZ: "UTC", ...env };
  return exec(node, [cli, ...args], { cwd, env: clean, maxBuffer: 2 ** 26 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code?: number; stdout?: string; stderr?: string }) => ({
      code: error.code ?? -1,
      stdout: error.stdout ?? "",
      stderr: error.stderr ?? String(error),
    }),
  );
}

/** A code block of one of our READMEs, by the file name in its first line. */
export async function documented(readme: string, name: string): Promise<string> {
  const text = await readFile(join(ROOT, readme), "utf8");
  const block = [...text.matchAll(/^```\w+\n(\/\/ (\S+)\n[\s\S]*?)^```$/gm)].find((match) => match[2] === name);
  if (!block?.[1]) throw new Error(`${readme} has no code block that begins with "// ${name}"`);
  return block[1];
}
