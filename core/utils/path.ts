/** Paths: where the machine keeps things, and checks that a path stays inside its root. */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { codeOf } from "./gone.ts";

/** What of the machine decides about folders; the shape of AdapterEnv. */
interface Machine {
  home: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
}

/** Folder of the archive when nothing else is said: XDG on Linux, Application Support on macOS, LocalAppData on Windows. */
export function defaultDataDir({ home, platform, env }: Machine): string {
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "sessarc");
  if (platform === "darwin") return join(home, "Library", "Application Support", "sessarc");
  return join(absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "sessarc");
}

/** Folder of the user's configuration file. */
export function defaultConfigDir({ home, env }: Machine): string {
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"), "sessarc");
}

/** True when `path` is `root` or below it, by text alone: `/x/demo-evil` is not inside `/x/demo`. */
export function isInside(root: string, path: string): boolean {
  const rest = relative(resolve(root), resolve(path));
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** A path at or below `from`, as it is at or below `to`; any other is unchanged. `to` itself where `from` is not known. */
export function movedPath(path: string, from: string | null, to: string): string {
  if (from === null) return to;
  return isInside(from, path) ? to + path.slice(from.length) : path;
}

/**
 * Resolves `path` against `root` through every symbolic link and answers the real path when that is inside the real root,
 * else undefined. The last parts may not exist yet: the deepest existing parent decides.
 */
export async function resolveInside(root: string, path: string): Promise<string | undefined> {
  const realRoot = await realpath(root);
  const real = await resolveLinks(resolve(realRoot, path));
  return isInside(realRoot, real) ? real : undefined;
}

async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== "ENOENT" || parent === path) throw error;
    return join(await resolveLinks(parent), path.slice(parent.length));
  }
}

/** The XDG rules: a relative value is ignored. */
const absolute = (path: string | undefined) => (path && isAbsolute(path) ? path : undefined);
