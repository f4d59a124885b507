/**
 * The system's own events of a tree of folders, by @parcel/watcher. On Linux that misses what is made at once inside a folder that is new
 * (`mkdir -p a/b`: the first session of a day), and all that happens there later. So each new folder is subscribed to by itself, and listed then: what
 * was there before the subscription is told too.
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
 * Tells what is made, changed and removed below `root`: now and then twice, of a file that is new its first changes as `create`, of a folder that is
 * removed or moved away perhaps the folder alone. Links are not followed. `onLost` is called once, when the system has no watch left for a folder that came later; nothing is told from then on.
 */
export async function watchTree(
  root: string,
  tell: (change: FileChange) => void,
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
        tell(change);
        if (process.platform !== "linux") continue;
        if (change.type === "delete") leave(change.path);
        // Removed and made again at once it is told as changed.
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
      tell({ type: "create", path });
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

/** A thread of Node could watch: asked once. */
let tried: Promise<void> | undefined;

/**
 * Throws where the user's watches or watchers are used up (`fs.inotify`): Node says so, and @parcel/watcher, which needs a watcher of its own as a thread does,
 * would block this thread for good. 30 ms the first time.
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
