/** From a list of plugins to the order they start in. */
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import { messageOf, withLimit } from "../utils/async.ts";

export interface LoadedPlugin {
  plugin: Plugin;
  /** Where it came from; undefined for a value written in place. */
  source: PluginEntry | undefined;
}

/** Imports the entries (at the same time) and makes their plugins. A broken module is PLUGIN_INVALID naming it. */
export function loadPlugins(list: readonly (Plugin | PluginEntry)[]): Promise<LoadedPlugin[]> {
  return Promise.all(list.map(async (it) => (isEntry(it) ? { plugin: await loadEntry(it), source: it } : inPlace(it))));
}

const isEntry = (it: Plugin | PluginEntry): it is PluginEntry => "specifier" in it;

function inPlace(plugin: Plugin): LoadedPlugin {
  if (typeof plugin === "function" || typeof plugin.name !== "string") {
    throw new SessarcError("PLUGIN_INVALID", {
      specifier: "a plugin of the list",
      reason: typeof plugin === "function" ? "it is a factory: call it" : "it has no name",
    });
  }
  return { plugin, source: undefined };
}

async function loadEntry(entry: PluginEntry): Promise<Plugin> {
  const { specifier, options } = entry;
  const load = entry.load ?? (() => import(specifier) as ReturnType<NonNullable<PluginEntry["load"]>>);
  let plugin: unknown;
  try {
    const { default: factory } = await load();
    if (typeof factory !== "function") throw new TypeError("it has no default export that is a function");
    plugin = factory(options as never);
  } catch (cause) {
    throw new SessarcError("PLUGIN_INVALID", { specifier, reason: messageOf(cause) }, { cause });
  }
  if (isPlugin(plugin)) return plugin;
  throw new SessarcError("PLUGIN_INVALID", { specifier, reason: "its factory makes something without a name" });
}

const isPlugin = (it: unknown): it is Plugin =>
  typeof it === "object" && it !== null && "name" in it && typeof it.name === "string";

/**
 * Every plugin after those it depends on, otherwise in the given order. PLUGIN_MISSING and PLUGIN_CYCLE name the chain
 * that led there.
 */
export function sortPlugins(list: readonly LoadedPlugin[]): LoadedPlugin[] {
  const byName = new Map(list.map((it) => [it.plugin.name, it]));
  const sorted = new Set<LoadedPlugin>();

  function visit(it: LoadedPlugin, chain: readonly string[]): void {
    const { name, dependsOn = [] } = it.plugin;
    if (chain.includes(name)) {
      throw new SessarcError("PLUGIN_CYCLE", { chain: [...chain.slice(chain.indexOf(name)), name] });
    }
    if (sorted.has(it)) return;
    for (const needed of dependsOn) {
      const next = byName.get(needed);
      if (!next) throw new SessarcError("PLUGIN_MISSING", { name: needed, chain: [...chain, name, needed] });
      visit(next, [...chain, name]);
    }
    sorted.add(it);
  }

  for (const it of list) visit(it, []);
  return [...sorted];
}

/** One step of a plugin's start. What it throws is PLUGIN_FAILED with the cause; when it is late, PLUGIN_TIMEOUT. */
export async function runStep(plugin: string, step: string, ms: number, run: () => unknown): Promise<void> {
  const late = new SessarcError("PLUGIN_TIMEOUT", { plugin, step, ms });
  try {
    await withLimit(ms, () => late, run);
  } catch (cause) {
    if (cause === late) throw late;
    throw new SessarcError("PLUGIN_FAILED", { plugin, step, reason: messageOf(cause) }, { cause });
  }
}
