/** Which plugins take part. What is broken is thrown, or left out and reported while everything else works. */
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { sortPlugins } from "./boot.ts";
import { isBuiltIn, type LoadedPlugin, loadPlugins } from "./load.ts";
import type { WritableRegistry } from "./registry.ts";

export interface Door {
  /** Loads, checks and sorts the plugins and puts them into the registry, in the order they start. */
  admit(
    list: readonly (Plugin | PluginEntry)[],
    limitMs: number,
    refuse?: (entry: PluginEntry) => Error | undefined,
  ): Promise<LoadedPlugin[]>;
  /** Runs one plugin's start, or `undo` when it fails. True when it has started; what needs a plugin that was left out is left out too. */
  start(it: LoadedPlugin, run: () => Promise<void>, undo: () => void): Promise<boolean>;
}

/** `report` takes what is left out; without it the first failure is thrown. Built-in plugins are never left out. */
export function createDoor(registry: WritableRegistry, report?: (plugin: string, error: unknown) => void): Door {
  /** Names of what was left out, as others depend on it. */
  const gone = new Set<string>();

  function leaveOut(it: LoadedPlugin, error: unknown): void {
    if (!report || isBuiltIn(it.source) || it.plugin.name === "kernel") throw error;
    gone.add(it.plugin.name);
    report(it.plugin.name, error);
  }

  function sort(loaded: readonly LoadedPlugin[]): LoadedPlugin[] {
    try {
      return sortPlugins(loaded);
    } catch (error) {
      const culprit = findCulprit(error, loaded);
      if (!culprit) throw error;
      leaveOut(culprit, error);
      return sort(loaded.filter((it) => it !== culprit));
    }
  }

  function add(it: LoadedPlugin, added: Map<string, LoadedPlugin>): void {
    try {
      registry.add(it.plugin, it.source);
      added.set(it.plugin.name, it);
    } catch (error) {
      // A built-in plugin keeps its names, whichever came first.
      const other = isBuiltIn(it.source) ? added.get(pickOther(error)) : undefined;
      leaveOut(other ?? it, error);
      if (!other) return;
      added.delete(other.plugin.name);
      registry.remove(other.plugin.name);
      add(it, added);
    }
  }

  return {
    async admit(list, limitMs, refuse) {
      const sorted = sort(await loadPlugins(list, report, limitMs, refuse));
      const added = new Map<string, LoadedPlugin>();
      for (const it of sorted) add(it, added);
      // One that only had another's name is there all the same.
      for (const name of added.keys()) gone.delete(name);
      return [...added.values()];
    },
    async start(it, run, undo) {
      const { name, dependsOn } = it.plugin;
      try {
        const missing = dependsOn?.find((needed) => gone.has(needed));
        if (missing !== undefined) throw new SessarcError("PLUGIN_MISSING", { name: missing, chain: [name, missing] });
        await run();
        return true;
      } catch (error) {
        leaveOut(it, error);
        undo();
        registry.remove(name);
        return false;
      }
    },
  };
}

/** Whom to leave out so that the rest can be sorted. */
function findCulprit(error: unknown, loaded: readonly LoadedPlugin[]): LoadedPlugin | undefined {
  if (!isSessarcError(error) || (error.code !== "PLUGIN_MISSING" && error.code !== "PLUGIN_CYCLE")) return undefined;
  const { chain } = (error as SessarcError<"PLUGIN_MISSING" | "PLUGIN_CYCLE">).params;
  const names = error.code === "PLUGIN_MISSING" ? chain.slice(-2, -1) : chain;
  return loaded.find((it) => names.includes(it.plugin.name) && !isBuiltIn(it.source));
}

const pickOther = (error: unknown): string =>
  isSessarcError(error) && error.code === "DUPLICATE_NAME"
    ? (error as SessarcError<"DUPLICATE_NAME">).params.other
    : "";
