/** Watching the places that hold logs: those that are there, and those that appear later. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isSessarcError, type Kernel } from "sessarc";

export interface WatchedRoot {
  tool: string;
  path: string;
  watched: boolean;
}

export interface Roots {
  /** Looks for roots that came or went. */
  check(): Promise<void>;
  list(): WatchedRoot[];
  /** True when the system has no events for some root, so that it is compared now and then. */
  readonly polling: boolean;
  stop(): Promise<void>;
}

type Stop = () => void | Promise<void>;

/** `onPaths`: told what may have changed, `told` where an event said so. */
export function createRoots(kernel: Kernel, onPaths: (paths: string[], told: boolean) => void): Roots {
  const watched = new Map<string, { stop: Stop; mark: string }>();
  let polling = false;
  let stopped = false;
  let checking: Promise<void> | undefined;
  const forget = kernel.hooks.hook("listener:failed", (error) => {
    if (isSessarcError(error) && error.code === "WATCH_FAILED") polling = true;
  });

  const all = () =>
    [...kernel.registry.adapters.values()].flatMap((adapter) =>
      adapter.roots(kernel.env).map((path) => ({ tool: adapter.name, path })),
    );

  async function look(): Promise<void> {
    const wanted = new Set(all().map(({ path }) => path));
    for (const path of [...watched.keys()]) if (!wanted.has(path)) await drop(path);
    for (const path of wanted) {
      const found = await stat(path).catch(() => undefined);
      if (stopped) return;
      // One that was removed and made again is another folder: nothing tells of it any more.
      const mark = found && `${found.dev}:${found.ino}:${found.birthtimeMs}`;
      if (watched.get(path)?.mark !== mark) await drop(path);
      if (!found || mark === undefined || watched.has(path)) continue;
      const stop = found.isDirectory() ? await onFolder(path) : onFile(path);
      if (!stop) continue;
      watched.set(path, { stop, mark });
      onPaths([path], false); // what was written before the watch stood
    }
  }

  /** Undefined: it went, or became a file, since it was looked at. The next look tells. */
  async function onFolder(path: string): Promise<Stop | undefined> {
    const watching = kernel.watch(path, (changes) =>
      onPaths(
        changes.filter(({ type }) => type !== "delete").map((change) => change.path),
        true,
      ),
    );
    return watching.catch((error: unknown) => {
      if (isSessarcError(error) && error.code === "WATCH_FAILED") return undefined;
      throw error;
    });
  }

  /** A database: its folder may hold much that is not ours, so only its own files are heeded. */
  function onFile(path: string): Stop {
    const name = basename(path);
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(dirname(path), { persistent: false }, (_, file) => {
        if (file === null || file === name || file.startsWith(`${name}-`))
          onPaths([join(dirname(path), file ?? name)], true);
      });
      watcher.on("error", () => void drop(path));
    } catch {
      polling = true; // found by the full pass
    }
    return () => watcher?.close();
  }

  async function drop(path: string): Promise<void> {
    const one = watched.get(path);
    watched.delete(path);
    await one?.stop();
  }

  return {
    get polling() {
      return polling;
    },
    check() {
      checking ??= look().finally(() => {
        checking = undefined;
      });
      return checking;
    },
    list: () => all().map((root) => ({ ...root, watched: watched.has(root.path) })),
    async stop() {
      stopped = true;
      forget();
      await checking;
      for (const path of [...watched.keys()]) await drop(path);
    },
  };
}
