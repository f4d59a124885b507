/** Where OpenCode keeps its sessions on this machine. */

import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";
import { readFolder } from "#internal/adapter";

export interface OpenCodeOptions {
  /**
   * Read only below this path instead of the user's home: a home (`<dir>/.local/share/opencode`), a data folder (holding
   * `opencode.db` or `storage`), the `storage` folder itself, or a database file.
   */
  dir?: string;
}

export interface Places {
  /** Database files, the one that wins first. */
  databases: string[];
  /** Folders of the older JSON store. */
  storage: string[];
}

/** Existence tests and one listing per data folder; the usual places are named even where nothing is. */
export function placesOf(options: OpenCodeOptions | undefined, env: AdapterEnv): Places {
  const dir = options?.dir;
  if (dir !== undefined) {
    if (isFile(dir)) return { databases: [dir], storage: [] };
    const home = join(dir, ".local", "share", "opencode");
    const storage = [join(home, "storage"), join(dir, "storage")];
    if (isFolder(join(dir, "session")) && isFolder(join(dir, "message"))) storage.push(dir);
    const direct = databasesIn(dir);
    const own = unique([join(home, "opencode.db"), ...databasesIn(home), ...direct]);
    return { databases: own, storage: unique(storage).filter((path) => path.startsWith(home) || isFolder(path)) };
  }
  const data = join(env.env.XDG_DATA_HOME || join(env.home, ".local", "share"), "opencode");
  const named = env.env.OPENCODE_DB;
  const chosen = named && named !== ":memory:" ? [isAbsolute(named) ? named : join(data, named)] : [];
  return {
    databases: unique([...chosen, join(data, "opencode.db"), ...databasesIn(data)]),
    storage: [join(data, "storage")],
  };
}

/** OpenCode's configuration folder, the same on every system. */
export const configFolder = (env: AdapterEnv) => join(env.env.XDG_CONFIG_HOME || join(env.home, ".config"), "opencode");

/** Development channels name their database otherwise. */
const DATABASE = /^opencode.*\.db$/;

function databasesIn(folder: string): string[] {
  const names = readFolder(folder).filter((entry) => entry.isFile() && DATABASE.test(entry.name));
  return names.map((entry) => join(folder, entry.name));
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const unique = (paths: string[]) => [...new Set(paths)];
