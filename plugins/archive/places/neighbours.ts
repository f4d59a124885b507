/** Homes on the other side of a Windows machine: those of running WSL distributions on Windows, the Windows homes inside WSL. */
import { access, lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { exec, isInside } from "sessarc/files";

export interface OfferedHome {
  /** `wsl`: of a Linux distribution, seen from Windows. `windows`: of Windows, seen from WSL. `backup`: a copy of this home, or of a folder in it. */
  system: "wsl" | "windows" | "backup";
  /** Of the distribution or the backup, or the letter of the drive. */
  name: string;
  user: string;
  /** To be added as a source for each of its assistants. */
  path: string;
  tools: { tool: string; label: string }[];
}

/** Where the other side is. */
export interface NeighbourPlaces {
  /** Below it, one folder for each running distribution. */
  distributions: string;
  /** Below it, one folder for each Windows drive. */
  drives: string;
  /** Names Microsoft's kernel inside WSL. */
  version: string;
}

export const PLACES: NeighbourPlaces = {
  distributions: "\\\\wsl.localhost",
  drives: "/mnt",
  version: "/proc/version",
};

/** Of distributions, drives and homes: more is no machine of one user. */
export const MOST = 32;
const WSL_MS = 5_000;
const WSL_BYTES = 65_536;
/** A distribution that stops meanwhile does not answer. */
const PATIENCE_MS = 5_000;
/** As WSL registers them: a name with anything else would be another path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Distributions of programs, without homes of people. */
const SERVICES = /^(?:docker-desktop|rancher-desktop|podman-machine)/;
const NO_HOMES = new Set(["public", "default", "default user", "all users", "wdagutilityaccount", "defaultapppool"]);

/**
 * Homes with logs of an assistant that is not read there yet. `read`: folders that are read already. Starts nothing but `wsl.exe -l`, which
 * starts no distribution. Cost elsewhere than on Windows and WSL: one small file is read.
 */
export async function findNeighbours(
  adapters: Iterable<Adapter>,
  env: AdapterEnv,
  read: readonly string[],
  places: NeighbourPlaces = PLACES,
): Promise<OfferedHome[]> {
  const found = homesBeside(env, places).then(async (homes) => {
    const all = [...adapters];
    const offered = await Promise.all(homes.map(async (home) => ({ ...home, tools: await toolsIn(home, all, read) })));
    return offered.filter(({ tools }) => tools.length > 0);
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<OfferedHome[]>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, []).unref();
  });
  return Promise.race([found, late]).finally(() => clearTimeout(timer));
}

export type Home = Omit<OfferedHome, "tools">;

async function homesBeside(env: AdapterEnv, places: NeighbourPlaces): Promise<Home[]> {
  if (env.platform === "win32") {
    const homes: Home[] = [];
    for (const name of await runningDistributions(env))
      for (const user of await foldersIn(join(places.distributions, name, "home")))
        homes.push({ system: "wsl", name, user, path: join(places.distributions, name, "home", user) });
    return homes.slice(0, MOST);
  }
  if (env.platform !== "linux" || !(await isWsl(places.version))) return [];
  const homes: Home[] = [];
  for (const drive of await foldersIn(places.drives))
    for (const user of await foldersIn(join(places.drives, drive, "Users")))
      if (!NO_HOMES.has(user.toLowerCase()))
        homes.push({ system: "windows", name: drive, user, path: join(places.drives, drive, "Users", user) });
  return homes.slice(0, MOST);
}

const isWsl = (path: string) =>
  readFile(path, "utf8").then(
    (text) => /microsoft/i.test(text),
    () => false, // no such file: another system
  );

/** Names of running distributions; none without WSL. Starts none. */
export async function runningDistributions({ env }: AdapterEnv): Promise<string[]> {
  const words = ["-l", "--running", "-q"];
  const ran = await exec("wsl.exe", words, { env, timeoutMs: WSL_MS, maxBytes: WSL_BYTES }).catch(() => undefined);
  if (ran?.code !== 0) return [];
  return toDistributions(ran.stdout).slice(0, MOST);
}

/** `wsl.exe` writes UTF-16; with WSL_UTF8 set, UTF-8. */
function toDistributions(bytes: Buffer): string[] {
  const text = bytes.toString(bytes.includes(0) ? "utf16le" : "utf8");
  const names = text.replace(/^\uFEFF/, "").split(/[\r\n]+/);
  return [...new Set(names.map((name) => name.trim()))].filter((name) => NAME.test(name) && !SERVICES.test(name));
}

/** Names of real folders: links lead elsewhere, and names with control characters are left out. */
export async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !/[\p{Cc}\p{Cf}]/u.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .slice(0, MOST);
}

/** Assistants with a place of their own in the home. */
export async function toolsIn(
  home: Home,
  adapters: readonly Adapter[],
  read: readonly string[],
  platform: NodeJS.Platform = home.system === "wsl" ? "linux" : "win32",
): Promise<OfferedHome["tools"]> {
  const env: AdapterEnv = { home: home.path, platform, env: {} };
  const tools: OfferedHome["tools"] = [];
  for (const adapter of adapters) {
    const own = toPlaces(() => adapter.roots(env)).filter((place) => isInside(home.path, place));
    const added = toPlaces(() => adapter.at(home.path).roots(env));
    // Adding the home has to read the same place.
    const places = own.filter((place) => added.includes(place) && !read.some((one) => isInside(one, place)));
    if ((await Promise.all(places.map(isFound))).some(Boolean))
      tools.push({ tool: adapter.name, label: adapter.label });
  }
  return tools;
}

export function toPlaces(roots: () => readonly string[]): readonly string[] {
  try {
    return roots();
  } catch {
    // An adapter that cannot say where its logs are there offers nothing.
    return [];
  }
}

/** A file or folder itself, not a link to one. */
export const isFound = (path: string) =>
  access(path).then(
    () => lstat(path).then((info) => info.isDirectory() || info.isFile()),
    () => false, // absent, or of another user
  );
