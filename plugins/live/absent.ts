/** Roots that do not exist yet: the nearest folder above each is watched, so that an assistant's first session is seen at once. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";

/** Several folders are usually created together. */
const SETTLE_MS = 50;

interface Absent {
  /** The roots that do not exist now. */
  set(roots: readonly string[]): Promise<void>;
  stop(): void;
}

/**
 * `onAppeared` is called when a folder on the way to a root appears. Each folder that is watched is watched for its own entries alone.
 * A folder that cannot be watched is left to the regular check of all roots.
 */
export function watchAbsent(onAppeared: () => void): Absent {
  /** By folder: its watch, and the names that lead to a root. */
  const watches = new Map<string, { watcher: FSWatcher; names: Set<string> }>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function appeared(): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(onAppeared, SETTLE_MS);
    timer.unref();
  }

  function follow(folder: string, names: Set<string>): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || watches.get(folder)?.names.has(name)) appeared();
      });
      // The folder was removed, or the system ended the watch: the regular check finds the roots.
      watcher.on("error", () => drop(folder));
      watches.set(folder, { watcher, names });
    } catch {
      // No watch is left, or the folder is gone: the regular check finds the roots.
    }
  }

  function drop(folder: string): void {
    watches.get(folder)?.watcher.close();
    watches.delete(folder);
  }

  return {
    async set(roots) {
      const wanted = new Map<string, Set<string>>();
      for (const root of roots) {
        const folder = await nearest(dirname(root));
        if (folder === undefined) continue;
        const [name = ""] = relative(folder, root).split(sep);
        wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name));
      }
      if (stopped) return;
      for (const folder of [...watches.keys()]) if (!wanted.has(folder)) drop(folder);
      for (const [folder, names] of wanted) {
        const known = watches.get(folder);
        if (known) known.names = names;
        else follow(folder, names);
      }
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const folder of [...watches.keys()]) drop(folder);
    },
  };
}

/** The nearest folder at or above `path` that exists; undefined where none can be read. */
async function nearest(path: string): Promise<string | undefined> {
  for (let at = path; ; at = dirname(at)) {
    const info = await stat(at).catch(() => undefined);
    if (info?.isDirectory()) return at;
    if (dirname(at) === at) return undefined;
  }
}
