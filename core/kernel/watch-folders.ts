/**
 * Linux tells of folders, not of trees: each folder has a watch of its own, and a new one is watched first and listed then, so that
 * nothing falls between. (Listed first, or not at all, all below `mkdir -p a/b` is lost for good: the first session of a day.)
 */
import { type FSWatcher, watch } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChange } from "../contract/kernel.ts";
import { codeOf } from "../utils/gone.ts";

/** What the system tells within so many ms is looked at together. */
const GATHER = 10;

interface Folder {
  watcher: FSWatcher;
  /** Another one when it was removed and made again. */
  mark: string;
  /** Names of what is no folder. */
  files: Set<string>;
  folders: Set<string>;
}

/**
 * Tells what is made, changed and removed below `root`, links not followed. `onLost` is called once, when the system has no watch for a
 * folder that came later; nothing is told from then on. Costs: a watch and a listing for each folder, the names of all files in memory,
 * one `lstat` a change.
 */
export async function watchFolders(
  root: string,
  tell: (change: FileChange) => void,
  onLost: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const folders = new Map<string, Folder>();
  let dirty = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  let stopped = false;

  function close(): void {
    stopped = true;
    clearTimeout(timer);
    for (const { watcher } of folders.values()) watcher.close();
    folders.clear();
  }
  function lost(error: unknown): void {
    if (stopped) return;
    close();
    onLost(error);
  }
  function note(path: string): void {
    if (stopped) return;
    dirty.add(path);
    timer ??= setTimeout(() => {
      timer = undefined;
      working = working.then(flush).catch(lost);
    }, GATHER).unref();
  }
  async function flush(): Promise<void> {
    const paths = dirty;
    dirty = new Set();
    for (const path of paths) if (!stopped) await look(path);
  }

  async function look(path: string): Promise<void> {
    const found = await lstat(path).catch(() => undefined);
    const parent = folders.get(dirname(path));
    const name = basename(path);
    if (found?.isDirectory()) {
      const known = folders.get(path);
      if (known?.mark === markOf(found) || (!parent && path !== root)) return;
      leave(path);
      parent?.folders.add(name);
      tell({ type: "create", path });
      await enter(path, true);
    } else if (folders.has(path)) {
      leave(path);
      parent?.folders.delete(name);
      tell({ type: "delete", path });
    } else if (!found) {
      if (parent?.files.delete(name)) tell({ type: "delete", path });
    } else if (parent) {
      tell({ type: parent.files.has(name) ? "update" : "create", path });
      parent.files.add(name);
    }
  }

  /** Watches `path` and all folders in it; what is there is told when the folder `isNew`. */
  async function enter(path: string, isNew: boolean): Promise<void> {
    let folder: Folder;
    try {
      const mark = markOf(await lstat(path));
      if (stopped) return;
      const watcher = watch(path, { persistent: false }, (_, name) => name !== null && note(join(path, name)));
      watcher.on("error", lost);
      folder = { watcher, mark, files: new Set(), folders: new Set() };
      folders.set(path, folder);
      for await (const entry of await opendir(path)) {
        if (entry.isDirectory()) folder.folders.add(entry.name);
        else folder.files.add(entry.name);
      }
    } catch (error) {
      // Gone again, or not for us to read: the scan tells of the latter. Anything else is a lack of watches.
      if (path !== root && PASSED.has(codeOf(error))) return leave(path);
      throw error;
    }
    if (isNew) for (const name of folder.files) tell({ type: "create", path: join(path, name) });
    for (const name of folder.folders) {
      if (stopped) return;
      if (isNew) tell({ type: "create", path: join(path, name) });
      await enter(join(path, name), isNew);
    }
  }

  function leave(path: string): void {
    const folder = folders.get(path);
    if (!folder) return;
    folder.watcher.close();
    folders.delete(path);
    for (const name of folder.files) tell({ type: "delete", path: join(path, name) });
    for (const name of folder.folders) leave(join(path, name));
  }

  try {
    await enter(root, false);
  } catch (error) {
    close();
    throw error;
  }
  return async () => {
    close();
    await working;
  };
}

const PASSED = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"]);

const markOf = (found: { dev: number; ino: number; birthtimeMs: number }): string =>
  `${found.dev}:${found.ino}:${found.birthtimeMs}`;
