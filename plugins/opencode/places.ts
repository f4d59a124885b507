/** Where an assistant of the family keeps its sessions on this machine. */

import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type AdapterEnv, readFolder } from "sessarc/adapter";
import { dataFolder, type FAMILY, type Member } from "./family.ts";

export interface OpenCodeOptions {
  /**
   * Read only below this path instead of the user's home: a home (`<dir>/.local/share/opencode`), a data folder (holding
   * `opencode.db` or `storage`), the `storage` folder itself, or a database file.
   */
  dir?: string;
  /** Which assistant of the family; default `opencode`. */
  variant?: keyof typeof FAMILY;
}

interface Places {
  /** Database files, the one that wins first. */
  databases: string[];
  /** Folders of the older JSON store. */
  storage: string[];
}

/** Existence tests and one listing per data folder; the usual places are named even where nothing is. */
export function toPlaces(member: Member, dir: string | undefined, env: AdapterEnv): Places {
  const databasesIn = (folder: string) =>
    readFolder(folder)
      .filter((entry) => entry.isFile() && member.databases.test(entry.name))
      .map((entry) => join(folder, entry.name));
  if (dir !== undefined) {
    if (isFile(dir)) return { databases: [dir], storage: [] };
    const home = join(dir, member.place ?? join(".local", "share", member.folder));
    const storage = [join(home, "storage"), join(dir, "storage")];
    if (isFolder(join(dir, "session")) && isFolder(join(dir, "message"))) storage.push(dir);
    const direct = databasesIn(dir);
    const own = unique([join(home, member.database), ...databasesIn(home), ...direct]);
    return { databases: own, storage: unique(storage).filter((path) => path.startsWith(home) || isFolder(path)) };
  }
  const data = dataFolder(member, env);
  const named = member.files?.map((name) => env.env[name]).find(Boolean);
  const chosen = named && named !== ":memory:" ? [resolved(named, data, env)] : [];
  return {
    databases: unique([...chosen, join(data, member.database), ...databasesIn(data)]),
    storage: [join(data, "storage")],
  };
}

function resolved(named: string, data: string, { home }: AdapterEnv): string {
  if (named.startsWith("~/")) return join(home, named.slice(2));
  return isAbsolute(named) ? named : join(data, named);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const unique = (paths: string[]) => [...new Set(paths)];
