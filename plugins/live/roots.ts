/** Watching the places that hold logs: those that are there, and those that appear later. */
import { stat } from "node:fs/promises";
import { isSessarcError, type Kernel, type Polling } from "sessarc";
import { watchAbsent } from "./absent.ts";

export interface WatchedRoot {
  tool: string;
  path: string;
  watched: boolean;
  /** Set when the system reports no changes here: why, and how late one is seen. */
  polling?: Polling;
}

export interface Roots {
  /** Looks for roots that came or went. */
  check(): Promise<void>;
  list(): WatchedRoot[];
  stop(): Promise<void>;
}

type Stop = () => void | Promise<void>;

/** `onPaths` receives what may have changed; `told` is true if an event or a comparison reported it. `everyMs`: how often `check` is called. */
export function createRoots(kernel: Kernel, onPaths: (paths: string[], told: boolean) => void, everyMs: number): Roots {
  const watched = new Map<string, { stop: Stop; mark: string }>();
  const polled = new Map<string, Polling>();
  let stopped = false;
  let checking: Promise<void> | undefined;
  const absent = watchAbsent(() => {
    check().catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "sync" }));
  });

  /** As of the last check. */
  let known: { tool: string; path: string }[] | undefined;
  const all = () =>
    [...kernel.registry.adapters.values()].flatMap((adapter) =>
      adapter.roots(kernel.env).map((path) => ({ tool: adapter.name, path })),
    );

  async function look(): Promise<void> {
    const away = kernel.find("importer")?.away;
    await away?.refresh();
    known = all();
    const wanted = new Set(known.map(({ path }) => path));
    for (const path of [...watched.keys(), ...polled.keys()]) if (!wanted.has(path)) await drop(path);
    const missing: string[] = [];
    for (const path of wanted) {
      // Its changes come without events, and polling it would keep the distribution from stopping.
      if (away?.isDistribution(path)) {
        onPolling(path, { reason: "it is in a distribution of WSL", recentMs: everyMs, allMs: everyMs });
        onPaths([path], false);
        continue;
      }
      const found = await stat(path).catch(() => undefined);
      if (stopped) return;
      // A folder that was removed and recreated is another folder: the old watch reports nothing for it.
      const mark = found && `${found.dev}:${found.ino}:${found.birthtimeMs}`;
      const before = watched.get(path);
      if (before && before.mark !== mark) {
        await drop(path);
        onPaths([path], false); // what was in it may be gone
      }
      if (!found || mark === undefined) missing.push(path);
      if (!found || mark === undefined || watched.has(path)) continue;
      const stop = await follow(path);
      if (!stop) continue;
      watched.set(path, { stop, mark });
      onPaths([path], false); // what was written before the watch stood
    }
    await absent.set(missing);
  }

  function check(): Promise<void> {
    checking ??= look().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  /** Undefined: nothing is there any more. The next check decides. */
  const follow = (path: string): Promise<Stop | undefined> =>
    kernel
      .watch(
        path,
        (changes) =>
          onPaths(
            changes.map((change) => change.path),
            true,
          ),
        (polling) => onPolling(path, polling),
      )
      .catch((error: unknown) => {
        if (isSessarcError(error) && error.code === "WATCH_FAILED") return undefined;
        throw error;
      });

  function onPolling(path: string, polling: Polling): void {
    if (stopped) return;
    // Something may have been written between the last event and the first check.
    if (!polled.has(path)) onPaths([path], false);
    polled.set(path, polling);
  }

  async function drop(path: string): Promise<void> {
    const one = watched.get(path);
    watched.delete(path);
    await one?.stop();
    polled.delete(path);
  }

  return {
    check,
    list: () =>
      (known ?? all()).map((root) => {
        const polling = polled.get(root.path);
        return { ...root, watched: watched.has(root.path), ...(polling && { polling }) };
      }),
    async stop() {
      stopped = true;
      absent.stop();
      await checking;
      for (const path of [...watched.keys()]) await drop(path);
    },
  };
}
