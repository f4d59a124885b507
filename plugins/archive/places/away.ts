/**
 * Added folders in WSL distributions, on Windows. Reading a file of a distribution starts it, so the folders of those that do not run are
 * taken out of the adapters' places until they run again. Nothing of their sessions counts as missing meanwhile.
 */
import type { Kernel } from "sessarc";
import { type NeighbourPlaces, PLACES, runningDistributions } from "./neighbours.ts";
import { spellingKey } from "./spelling.ts";

type AdapterFolders = Parameters<Kernel["registry"]["setFolders"]>[1];

export interface Away {
  /** Asks which distributions run, where a folder of one was added; else costs nothing. True: places changed. */
  refresh(): Promise<boolean>;
  /** Sets an adapter's folders, those that are away among them. */
  place(tool: string, folders: AdapterFolders): Promise<void>;
  /** Whether the path is in a folder that is away: it must not be read. */
  has(path: string): boolean;
  /** The folders that are away, of one tool or of all. */
  folders(tool?: string): string[];
  /** Whether the path is in a distribution, running or not: it is not watched, but checked now and then. */
  isDistribution(path: string): boolean;
}

/** What follows the folder in a path of Windows, however both are spelled; undefined: it is not in the folder. */
function below(folder: string, path: string): string | undefined {
  const [outer, inner] = [spellingKey(folder), spellingKey(path)];
  const rest = inner.slice(outer.length);
  return inner.startsWith(outer) && /^(?:$|[\\/])/.test(rest) ? rest : undefined;
}

export function createAway(kernel: Kernel, places: NeighbourPlaces = PLACES): Away {
  const { registry, env } = kernel;
  /** All folders of a tool that has some in distributions. */
  const wanted = new Map<string, AdapterFolders>();
  const away = new Map<string, string[]>();
  let asking: Promise<boolean> | undefined;

  const findName = (path: string): string | undefined => {
    if (env.platform !== "win32") return undefined;
    const [name = ""] = below(places.distributions, path)?.slice(1).split(/[\\/]/, 1) ?? [];
    return name.toLowerCase() || undefined;
  };

  async function ask(): Promise<boolean> {
    for (const [tool, folders] of registry.folders)
      if (!wanted.has(tool) && folders.dirs.some(findName)) wanted.set(tool, folders);
    if (wanted.size === 0) return false;
    const running = new Set((await runningDistributions(env)).map((name) => name.toLowerCase()));
    let changed = false;
    for (const [tool, folders] of wanted) {
      const isAway = (dir: string) => {
        const name = findName(dir);
        return name !== undefined && !running.has(name);
      };
      const dirs = folders.dirs.filter((dir) => !isAway(dir));
      away.set(tool, folders.dirs.filter(isAway));
      if (dirs.join("\0") === registry.folders.get(tool)?.dirs.join("\0")) continue;
      registry.setFolders(tool, { ...folders, dirs });
      changed = true;
    }
    return changed;
  }
  const refresh = (): Promise<boolean> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const list = (tool?: string) => (tool === undefined ? [...away.values()].flat() : (away.get(tool) ?? []));

  return {
    refresh,
    async place(tool, folders) {
      await asking;
      wanted.delete(tool);
      away.delete(tool);
      if (folders.dirs.some(findName)) {
        wanted.set(tool, folders);
        await refresh();
      } else registry.setFolders(tool, folders);
    },
    has: (path) => list().some((folder) => below(folder, path) !== undefined),
    folders: list,
    isDistribution: (path) => findName(path) !== undefined,
  };
}
