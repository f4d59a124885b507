/** From what a configuration names to plugins and adapters, in this thread and in pool workers. */
import { importModule } from "../config/module.ts";
import type { Adapter } from "../contract/adapter.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import { toMessage, withLimit } from "../utils/async.ts";
import { codeOf, isGone } from "../utils/gone.ts";
import { heedAdapter, watchAdapter } from "./adapter-door.ts";
import { checkPlugin } from "./check.ts";
import { withDeadlines } from "./deadline.ts";
import type { Owner } from "./stray.ts";
import { inSection, makePlace as pathOf } from "./watchdog.ts";

export interface LoadedPlugin {
  plugin: Plugin;
  /** Where it came from; undefined for a value written in place. */
  source: PluginEntry | undefined;
}

/** Limit of importing one plugin's module. */
const LOAD_MS = 10_000;

/** Takes what could not be loaded; without one the first failure is thrown. */
type OnBroken = (specifier: string, error: unknown) => void;

/** Imports the entries (at the same time) and makes their plugins. A broken one is PLUGIN_INVALID naming it. */
export async function loadPlugins(
  list: readonly (Plugin | PluginEntry)[],
  onBroken?: OnBroken,
  limitMs = LOAD_MS,
  refuse: (entry: PluginEntry) => Error | undefined = () => undefined,
): Promise<LoadedPlugin[]> {
  const loaded = list.map(async (it): Promise<LoadedPlugin | undefined> => {
    const source = isEntry(it) ? it : undefined;
    try {
      const refused = source && onBroken && !isBuiltIn(source) ? refuse(source) : undefined;
      if (refused) throw refused;
      return { plugin: source ? await loadPlugin(source, limitMs) : inPlace(it as Plugin), source };
    } catch (error) {
      if (!onBroken || isBuiltIn(source)) throw error;
      onBroken(source ? toPlace(source) : toName(it), error);
      return undefined;
    }
  });
  return (await Promise.all(loaded)).filter((it) => it !== undefined);
}

/** Those that come with sessarc: without them nothing works, so that they are never left out. */
export const isBuiltIn = (source: PluginEntry | undefined): boolean =>
  source?.specifier.startsWith("sessarc/plugins/") === true;

const isEntry = (it: Plugin | PluginEntry): it is PluginEntry => "specifier" in it;

/** As people write it: a path, or the name of a package. */
const toPlace = ({ specifier }: PluginEntry): string => pathOf(specifier);

/** Who a plugin's code belongs to: its name, and its file. */
export const toOwner = ({ plugin, source }: LoadedPlugin): Owner => ({
  plugin: plugin.name,
  file: source && toPlace(source),
});

const inPlace = (plugin: Plugin): Plugin => withChecks(checkPlugin(plugin, "a plugin of the list"));

const toName = (it: unknown): string =>
  typeof it === "object" && it !== null && "name" in it ? String(it.name) : "a plugin of the list";

/** Imports one entry and makes its plugin: PLUGIN_INVALID, PLUGIN_INCOMPATIBLE or PLUGIN_TIMEOUT when that cannot be. */
export async function loadPlugin(entry: PluginEntry, limitMs = LOAD_MS): Promise<Plugin> {
  const { specifier, options } = entry;
  const load: () => Promise<{ default?: unknown }> = entry.load ?? (() => importModule(specifier));
  const place = toPlace(entry);
  const late = new SessarcError("PLUGIN_TIMEOUT", { plugin: place, step: "its import", ms: limitMs });
  let plugin: unknown;
  try {
    let module: { default?: unknown } = {};
    const take = async () => {
      module = await (isBuiltIn(entry)
        ? load()
        : inSection({ plugin: place, file: place, member: "its import" }, load));
    };
    // No limit for built-in plugins: they end even on a slow machine.
    await (isBuiltIn(entry) ? take() : withLimit(limitMs, () => late, take));
    if (typeof module.default !== "function") throw new TypeError("it has no default export that is a function");
    const make = module.default;
    plugin = isBuiltIn(entry)
      ? make(options)
      : inSection({ plugin: place, file: place, member: "its default export" }, () => make(options));
  } catch (cause) {
    if (cause === late) throw late;
    throw new SessarcError("PLUGIN_INVALID", { specifier: place, ...whyBroken(specifier, cause) }, { cause });
  }
  const checked = checkPlugin(plugin, place);
  return isBuiltIn(entry) ? checked : withChecks(checked, place);
}

/** The adapter of an entry's plugin: what a pool worker makes again from its source. */
export async function loadAdapter(entry: PluginEntry): Promise<Adapter> {
  const adapter = findAdapter(await loadPlugin(entry));
  if (adapter) return withDeadlines(adapter);
  throw new SessarcError("PLUGIN_INVALID", { specifier: entry.specifier, reason: "it is no adapter" });
}

export function findAdapter(plugin: Plugin): Adapter | undefined {
  return "adapter" in plugin ? (plugin as Plugin & { adapter: Adapter }).adapter : undefined;
}

/** A plugin with checks around its adapter. `file`: where it was loaded from. */
function withChecks(plugin: Plugin, file?: string): Plugin {
  const adapter = findAdapter(plugin);
  if (!adapter) return plugin;
  return { ...plugin, adapter: heedAdapter(watchAdapter(adapter, { plugin: plugin.name, file }), file) } as Plugin;
}

function whyBroken(specifier: string, cause: unknown): { reason: string; remedy?: string } {
  const reason = toMessage(cause);
  const code = codeOf(cause);
  if (specifier.startsWith("file:") && isGone(cause)) {
    return {
      reason: "there is no such file",
      remedy: "Paths are relative to the configuration file, or to where the command runs.",
    };
  }
  if (!specifier.includes(":") && code === "ERR_MODULE_NOT_FOUND") {
    return { reason: "it is not installed", remedy: `\`npm install ${specifier}\` beside the configuration file.` };
  }
  return { reason };
}
