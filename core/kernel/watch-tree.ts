/**
 * The system's events of a tree of folders, by @parcel/watcher. On Linux the package misses what is created immediately inside a new
 * folder (`mkdir -p a/b`: the first session of a day), and every later change there. So each new folder gets its own subscription and is
 * then listed, which reports what was created before the subscription.
 */
import { watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { AsyncSubscription } from "@parcel/watcher";
import type { FileChange } from "../contract/kernel.ts";
import { codeOf } from "../utils/gone.ts";

/** A new folder may be gone again, or not for us to read. */
const PASSED = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"]);

/**
 * Reports what is created, changed and removed below `root`: sometimes twice; the first changes of a new file as `create`; of a removed
 * or moved folder perhaps the folder alone. Links are not followed. `onLost` is called once, when the system has no watch left for a folder that came later; no change is reported after that.
 */
export async function watchTree(
  root: string,
  report: (change: FileChange) => void,
  onLost: (error: unknown) => void,
): Promise<() => Promise<void>> {
  if (process.platform === "linux") await tryWatch(root);
  const { subscribe } = await import("@parcel/watcher");
  const subscriptions = new Map<string, Promise<AsyncSubscription>>();
  let stopped = false;

  async function stop(): Promise<void> {
    stopped = true;
    const open = [...subscriptions.values()];
    subscriptions.clear();
    for (const one of open) await one.then((it) => it.unsubscribe()).catch(() => {}); // it never began, or its folder is gone
  }
  function lost(error: unknown): void {
    if (stopped) return;
    void stop();
    onLost(error);
  }

  function follow(folder: string): Promise<AsyncSubscription> {
    const subscription = subscribe(folder, (error, changes) => {
      if (stopped) return;
      if (error) return lost(error);
      for (const change of changes) {
        report(change);
        if (process.platform !== "linux") continue;
        if (change.type === "delete") leave(change.path);
        // A folder that was removed and created again at once is reported as changed.
        else void enter(change.path).catch(lost);
      }
    });
    subscriptions.set(folder, subscription);
    return subscription;
  }

  /** A folder that is new. */
  async function enter(path: string): Promise<void> {
    if (subscriptions.has(path) || !(await isFolder(path)) || stopped || subscriptions.has(path)) return;
    try {
      await follow(path);
    } catch (error) {
      subscriptions.delete(path);
      if (await isFolder(path)) throw error;
      return;
    }
    await list(path);
  }

  async function list(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      if (PASSED.has(codeOf(error))) return [];
      throw error;
    });
    for (const entry of entries) {
      if (stopped) return;
      const path = join(folder, entry.name);
      report({ type: "create", path });
      if (entry.isDirectory()) await enter(path);
    }
  }

  function leave(path: string): void {
    const gone = [...subscriptions.keys()].filter((folder) => folder === path || folder.startsWith(`${path}/`));
    for (const folder of gone) {
      if (folder === root) continue;
      void subscriptions
        .get(folder)
        ?.then((it) => it.unsubscribe())
        .catch(() => {}); // the system ended it with the folder
      subscriptions.delete(folder);
    }
  }

  await follow(root);
  return stop;
}

/** Whether a thread of Node can watch: checked once. */
let tried: Promise<void> | undefined;

/**
 * Throws when the user's watches or watchers are used up (`fs.inotify`). Node reports that; @parcel/watcher, which also needs a new watcher,
 * would block this thread forever. Takes 30 ms the first time.
 */
async function tryWatch(root: string): Promise<void> {
  watch(root, { persistent: false }).close();
  tried ??= new Promise((resolve, reject) => {
    const thread = new Worker('require("node:fs").watch("/").close()', { eval: true });
    thread.once("error", reject);
    thread.once("exit", () => resolve());
  });
  await tried.catch((error) => {
    tried = undefined;
    throw error;
  });
}

const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
