/** Gets the tools from npm into a cache folder outside the project, one folder per version. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `SESSARC_TOOLS_DIR`, else below the user's cache. */
export const cacheDir = (): string => process.env.SESSARC_TOOLS_DIR ?? join(homedir(), ".cache", "sessarc-tools");

export interface Installed {
  version: string;
  /** The folder with the package's commands. */
  bin: string;
}

/** `wanted`: a version or a tag of the package. `commands`: their folder in a package that does not name them. `others`: packages that npm installs with it. Throws when npm cannot be reached and the version is not in the cache. */
export async function install(
  name: string,
  wanted = "latest",
  commands?: string,
  others: readonly string[] = [],
): Promise<Installed> {
  const version = await exactVersion(name, wanted);
  const folder = join(cacheDir(), `${name.replace(/^@/, "").replace("/", "-")}@${version}`);
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    await mkdir(fresh, { recursive: true });
    await writeFile(join(fresh, "package.json"), '{"private":true}\n');
    await run("npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`, ...others], { cwd: fresh });
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true })); // another run was first
  }
  const modules = join(folder, "node_modules");
  return { version, bin: commands === undefined ? join(modules, ".bin") : join(modules, name, commands) };
}

/** What npm answered: each of its processes takes a second, and every scenario installs its tool. */
const answered = new Map<string, Promise<string>>();

function exactVersion(name: string, wanted: string): Promise<string> {
  if (/^\d+\.\d+\.\d+/.test(wanted)) return Promise.resolve(wanted);
  const key = `${name}@${wanted}`;
  const version = answered.get(key) ?? askNpm(name, wanted);
  answered.set(key, version);
  return version;
}

/** A range such as `22` answers with all versions that fit, the newest last. */
async function askNpm(name: string, wanted: string): Promise<string> {
  const { stdout } = await run("npm", ["view", `${name}@${wanted}`, "version", "--json"]);
  const found: unknown = JSON.parse(stdout);
  const version = Array.isArray(found) ? found.sort(byVersion).at(-1) : found;
  if (typeof version !== "string") throw new Error(`npm knows no ${name}@${wanted}`);
  return version;
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
