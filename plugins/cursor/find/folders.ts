/** Which project a conversation belongs to. Folder names are never decoded: paths that are known are encoded and compared. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type JsonRecord, parseRecord, toRecord } from "sessarc";
import { isGone, readRegular } from "sessarc/files";
import { folderOfResource, pathOfUri } from "../stores/uri.ts";

/** Folders of the windows this machine knows, by workspace id. `workspace.json` is written once per workspace. */
export interface KnownFolders {
  of(workspaceStorage: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Most `workspace.json` files kept in mind. */
const KEEP = 20_000;

export function createKnownFolders(): KnownFolders {
  const seen = new Map<string, string>();
  return {
    async of(roots) {
      const folders = new Map<string, string>();
      for (const root of roots) {
        for (const id of await namesIn(root)) {
          const path = join(root, id, "workspace.json");
          const folder = seen.get(path) ?? folderOfWorkspace(await readText(path));
          if (folder === undefined) continue;
          if (seen.size < KEEP) seen.set(path, folder);
          folders.set(id, folder);
        }
      }
      return folders;
    },
  };
}

function folderOfWorkspace(text: string | undefined): string | undefined {
  const fields: JsonRecord = parseRecord(text) ?? {};
  const folder = pathOfUri(fields.folder);
  if (folder) return folder;
  const file = pathOfUri(fields.workspace) ?? folderOfResource(toRecord(fields.workspace));
  return file && dirname(file);
}

/** The known folder whose MD5 names a chat bucket. */
export const folderOfMd5 = (md5: string, folders: Iterable<string>): string | undefined => {
  for (const folder of folders) if (toMd5(folder) === md5) return folder;
  return undefined;
};

export const toMd5 = (path: string) => createHash("md5").update(path).digest("hex");

/** The known folder a project slug was made from; undefined when none or several could be meant. */
export function folderOfSlug(slug: string, folders: Iterable<string>): string | undefined {
  const wanted = toSlug(slug);
  const matches = new Set<string>();
  for (const folder of folders) if (toSlug(folder) === wanted) matches.add(folder);
  return matches.size === 1 ? [...matches][0] : undefined;
}

const toSlug = (path: string) => path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");

/**
 * The project of the paths a conversation's tools named: the deepest known folder that holds most of them, else the repository
 * around the first one. Undefined rather than a guess.
 */
export function folderOfPaths(paths: Iterable<string>, folders: Iterable<string>): string | undefined {
  const list = [...paths];
  let best: { folder: string; hits: number } | undefined;
  for (const folder of new Set(folders)) {
    const hits = list.filter(
      (path) => path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`),
    ).length;
    if (hits * 2 <= list.length) continue;
    if (!best || hits > best.hits || (hits === best.hits && folder.length > best.folder.length))
      best = { folder, hits };
  }
  if (best) return best.folder;
  const [first] = list;
  for (let folder = first && dirname(first), i = 0; folder && i < 32; folder = dirname(folder), i++) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
  return undefined;
}

/** Names of the real folders in a folder, sorted; empty when it is not there. */
export async function namesIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readRegular(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
