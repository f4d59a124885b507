/** What the adapter remembers between scans: an index per database, taken again only when the database changed. */

import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openSqliteFile, type SqliteFile, sqliteVersion } from "sessarc/adapter";
import { isGone, readRegular } from "sessarc/files";
import { type Chat, findChat, sidecarFolder } from "../stores/chat.ts";
import { type GlobalIndex, indexGlobal } from "../stores/global.ts";
import { indexWorkspace, type WorkspaceIndex } from "../stores/workspace.ts";
import { createKnownFolders, type KnownFolders, namesIn, toMd5 } from "./folders.ts";
import { globalBeside } from "./places.ts";

export interface Store {
  folders: KnownFolders;
  /** Undefined when there is no such database. Throws what openSqliteFile throws. */
  global(path: string): Promise<GlobalIndex | undefined>;
  /** The database of all windows beside a workspace's; undefined also when it cannot be opened: it reports that as its own root. */
  beside(workspaceDb: string): Promise<GlobalIndex | undefined>;
  workspace(path: string): Promise<WorkspaceIndex | undefined>;
  chat(path: string): Promise<(Chat & { mtime: number }) | undefined>;
}

/** Indexes kept: one per window and per chat of the command line, and one large one. */
const KEEP = 5_000;

export function createStore(): Store {
  const globals = createCache<GlobalIndex>(4);
  const workspaces = createCache<WorkspaceIndex>(KEEP);
  const chats = createCache<Chat & { mtime: number }>(KEEP);
  const global: Store["global"] = (path) => globals(path, (db, previous) => indexGlobal(db, previous));
  return {
    folders: createKnownFolders(),
    global,
    beside: (path) => global(globalBeside(path)).catch(() => undefined),
    workspace: (path) => workspaces(path, (db) => indexWorkspace(db)),
    chat: (path) =>
      chats(path, async (db) => {
        const chat = findChat(db, basename(dirname(path)));
        if (!chat) return undefined;
        const mtime = Math.max(...(await Promise.all([path, `${path}-wal`].map(readMtime))));
        chat.cwd ??= await fromSidecar(path);
        return { ...chat, mtime };
      }),
  };
}

type Take<T> = (db: SqliteFile, previous: T | undefined) => T | undefined | Promise<T | undefined>;

/** One that did not change (`sqliteVersion`) is not opened. The oldest entries go when there are more than `most`. */
function createCache<T>(most: number) {
  const kept = new Map<string, { token: string; value: T }>();
  return async (path: string, take: Take<T>): Promise<T | undefined> => {
    if (!(await isFile(path))) return undefined;
    const token = await sqliteVersion(path);
    const known = kept.get(path);
    if (known?.token === token) return known.value;
    const db = await openSqliteFile(path);
    try {
      const value = await take(db, known?.value);
      kept.delete(path);
      if (value !== undefined) kept.set(path, { token, value });
      const [oldest] = kept.size > most ? kept.keys() : [];
      if (oldest !== undefined) kept.delete(oldest);
      return value;
    } finally {
      db.close();
    }
  };
}

interface Transcript {
  /** Id of the conversation. */
  key: string;
  path: string;
  slug: string;
  parent?: string | undefined;
  size: number;
  mtime: number;
  version: string;
}

/** `<slug>/agent-transcripts/<id>.jsonl|.txt`, `…/<id>/<id>.jsonl|.txt` and `…/<id>/subagents/<id>.jsonl`. Links are not followed. */
export async function* transcriptsIn(root: string): AsyncGenerator<Transcript> {
  for (const slug of await namesIn(root)) {
    const folder = join(root, slug, "agent-transcripts");
    const seen = new Set<string>();
    const flat = await readFiles(folder);
    const nested = await namesIn(folder);
    const found: { key: string; path: string; parent?: string }[] = flat;
    for (const id of nested) {
      found.push(...(await readFiles(join(folder, id))).filter(({ key }) => key === id));
      const below = await readFiles(join(folder, id, "subagents"));
      found.push(...below.map((file) => ({ ...file, parent: id })));
    }
    // The JSON form says more than the text form of the same conversation.
    found.sort((a, b) => Number(a.path.endsWith(".txt")) - Number(b.path.endsWith(".txt")));
    for (const { key, path, parent } of found) {
      if (seen.has(key)) continue;
      const stats = await lstat(path).catch((error) => (isGone(error) ? undefined : Promise.reject(error)));
      if (!stats?.isFile()) continue;
      seen.add(key);
      yield {
        key,
        path,
        slug,
        parent,
        size: stats.size,
        mtime: stats.mtimeMs,
        version: `${stats.size}-${stats.mtimeMs}-${stats.ino}`,
      };
    }
  }
}

/** `store.db` files of the command line, with the bucket they lie in. */
export async function* chatsIn(root: string): AsyncGenerator<{ key: string; path: string; bucket: string }> {
  for (const bucket of await namesIn(root)) {
    for (const key of await namesIn(join(root, bucket)))
      yield { key, bucket, path: join(root, bucket, key, "store.db") };
  }
}

async function readFiles(folder: string): Promise<{ key: string; path: string }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) =>
    isGone(error) ? [] : Promise.reject(error),
  );
  const files = entries.filter((entry) => entry.isFile() && /\.(jsonl|txt)$/.test(entry.name));
  return files
    .map(({ name }) => ({ key: name.replace(/\.(jsonl|txt)$/, ""), path: join(folder, name) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The folder `meta.json` names, when it is the one the chat's bucket was made from. */
async function fromSidecar(store: string): Promise<string | undefined> {
  const path = join(dirname(store), "meta.json");
  const text = (await isFile(path)) ? await readRegular(path) : undefined;
  const folder = sidecarFolder(text);
  return folder && toMd5(folder) === basename(dirname(dirname(store))) ? folder : undefined;
}

export async function isFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

async function readMtime(path: string): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}
