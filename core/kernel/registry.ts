/** What the plugins brought: routes, adapters, services, commands. Every name once. */

import { type AdapterFolders, withFolders } from "../adapter/folders.ts";
import type { Adapter } from "../contract/adapter.ts";
import type { Command } from "../contract/command.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import type { AnyRoute } from "../contract/route.ts";
import { SessarcError } from "../errors/error.ts";
import { VERSION } from "../utils/version.ts";

export interface RegisteredRoute {
  plugin: string;
  /** Full path: `/api/sessions/:id`, `/share/:token`. */
  fullPath: string;
  route: AnyRoute;
}

/** One row of GET /api/plugins. */
export interface PluginInfo {
  name: string;
  /** null for one that does not say. */
  version: string | null;
  dependsOn: string[];
  /** `GET /sessions/:id`, and full paths for other mounts. */
  routes: string[];
  hooks: string[];
  services: string[];
  commands: string[];
  adapter: string | null;
  /** Load time (migrations, routes, hooks, setup) in ms; null before it booted. */
  ms: number | null;
}

export interface Registry {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly routes: readonly RegisteredRoute[];
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** Folders that adapters read beside or instead of their own places. */
  readonly folders: ReadonlyMap<string, AdapterFolders>;
  /** Sets them: from now on `adapters` has that adapter over these folders. Nothing happens where there is no such adapter. */
  setFolders(name: string, folders: AdapterFolders): void;
  readonly commands: ReadonlyMap<string, Command>;
  readonly services: ReadonlyMap<string, unknown>;
  /** How a pool worker makes this adapter again; undefined for one written inline. */
  adapterSource(name: string): { specifier: string; options: unknown } | undefined;
  describe(): PluginInfo[];
}

/** The registry as the kernel itself uses it while booting. */
export interface WritableRegistry extends Registry {
  /** Takes the plugin's name, adapter, routes and commands; throws DUPLICATE_NAME and changes nothing. */
  add(plugin: Plugin, source?: PluginEntry): void;
  addService(name: string, service: unknown, plugin: string): void;
  booted(plugin: string, ms: number): void;
}

interface Row {
  plugin: Plugin;
  services: string[];
  ms: number | null;
  builtIn: boolean;
}

export function createRegistry(): WritableRegistry {
  const rows = new Map<string, Row>();
  const plugins = new Map<string, Plugin>();
  const adapters = new Map<string, Adapter>();
  /** As their plugins made them. */
  const bases = new Map<string, Adapter>();
  const folders = new Map<string, AdapterFolders>();
  const sources = new Map<string, { specifier: string; options: unknown }>();
  const commands = new Map<string, Command>();
  const services = new Map<string, unknown>();
  const routes: RegisteredRoute[] = [];
  /** Who has a name already, per kind. */
  const owners = new Map<string, string>();

  const claim = (claims: readonly (readonly [what: string, name: string])[], plugin: string) => {
    const seen = new Set<string>();
    for (const [what, name] of claims) {
      const key = `${what} ${name}`;
      const other = owners.get(key) ?? (seen.has(key) ? plugin : undefined);
      if (other !== undefined) throw new SessarcError("DUPLICATE_NAME", { what, name, plugin, other });
      seen.add(key);
    }
    for (const key of seen) owners.set(key, plugin);
  };

  return {
    plugins,
    routes,
    adapters,
    folders,
    commands,
    services,
    adapterSource: (name) => sources.get(name),

    add(plugin, source) {
      const adapter = adapterOf(plugin);
      const added = (plugin.routes ?? []).map((route) => ({ plugin: plugin.name, fullPath: fullPath(route), route }));
      claim(
        [
          ["plugin", plugin.name],
          ...(adapter ? [["adapter", adapter.name] as const] : []),
          ...added.map((it) => ["route", `${it.route.method} ${shape(it.fullPath)}`] as const),
          ...(plugin.commands ?? []).map((command) => ["command", command.name] as const),
        ],
        plugin.name,
      );
      const builtIn = plugin.name === "kernel" || source?.specifier.startsWith("sessarc/plugins/") === true;
      rows.set(plugin.name, { plugin, services: [], ms: null, builtIn });
      plugins.set(plugin.name, plugin);
      routes.push(...added);
      for (const command of plugin.commands ?? []) commands.set(command.name, command);
      if (!adapter) return;
      adapters.set(adapter.name, adapter);
      bases.set(adapter.name, adapter);
      if (source) sources.set(adapter.name, { specifier: source.specifier, options: source.options });
    },

    setFolders(name, set) {
      const base = bases.get(name);
      if (!base) return;
      folders.set(name, set);
      adapters.set(name, withFolders(base, set));
    },

    addService(name, service, plugin) {
      claim([["service", name]], plugin);
      services.set(name, service);
      rows.get(plugin)?.services.push(name);
    },

    booted(plugin, ms) {
      const row = rows.get(plugin);
      if (row) row.ms = ms;
    },

    describe: () => [...rows.values()].map(describe),
  };
}

function describe({ plugin, services, ms, builtIn }: Row): PluginInfo {
  return {
    name: plugin.name,
    version: plugin.version ?? (builtIn ? VERSION : null),
    dependsOn: [...(plugin.dependsOn ?? [])],
    routes: (plugin.routes ?? []).map((route) => `${route.method} ${route.path}`),
    hooks: hookNames(plugin.hooks),
    services,
    commands: (plugin.commands ?? []).map((command) => command.name),
    adapter: adapterOf(plugin)?.name ?? null,
    ms,
  };
}

export function adapterOf(plugin: Plugin): Adapter | undefined {
  return "adapter" in plugin ? (plugin as Plugin & { adapter: Adapter }).adapter : undefined;
}

export const fullPath = (route: AnyRoute): string => (route.mount === "/" ? route.path : `/api${route.path}`);

/** Two paths that differ in the names of their params alone are the same route. */
const shape = (path: string): string => path.replace(/\*\*:\w+$/, "**").replace(/:[^/]+/g, ":");

function hookNames(hooks: object | undefined, prefix = ""): string[] {
  return Object.entries(hooks ?? {}).flatMap(([name, value]) =>
    typeof value === "object" && value !== null ? hookNames(value, `${prefix}${name}:`) : [prefix + name],
  );
}
