/** What the plugins brought: routes, adapters, services, commands. Every name once. */
import { withFolders } from "../adapter/folders.ts";
import type { Adapter } from "../contract/adapter.ts";
import type { ConfigKey } from "../contract/config.ts";
import type { IndexerDefinition } from "../contract/indexer.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import type { AdapterFolders, Registry } from "../contract/registry.ts";
import type { PluginInfo, PluginProblem } from "../contract/reports.ts";
import { SessarcError } from "../errors/error.ts";
import { fullPath, type RegisteredRoute, shape } from "../http/paths.ts";
import { VERSION } from "../utils/version.ts";
import { keepRoots } from "./adapter-door.ts";
import { withDeadlines } from "./deadline.ts";
import { findAdapter, isBuiltIn } from "./load.ts";
import { owned } from "./stray.ts";
import { makePlace } from "./watchdog.ts";

/** The registry as the kernel itself uses it. */
export interface WritableRegistry extends Registry {
  readonly routes: readonly RegisteredRoute[];
  /** Takes the plugin's name, adapter, routes and commands; throws DUPLICATE_NAME and changes nothing. */
  add(plugin: Plugin, source?: PluginEntry): void;
  /** Takes all of it out again. */
  remove(plugin: string): void;
  /** Keys of the configuration that plugins declare. */
  readonly configKeys: ReadonlyMap<string, ConfigKey>;
  addService(name: string, service: unknown, plugin: string): void;
  booted(plugin: string, ms: number): void;
}

interface Row {
  plugin: Plugin;
  services: string[];
  ms: number | null;
  builtIn: boolean;
}

/** `silenceMs`: how long an adapter may give nothing. */
export function createRegistry(silenceMs?: number): WritableRegistry {
  const rows = new Map<string, Row>();
  const adapters = new Map<string, Adapter>();
  /** As their plugins made them. */
  const bases = new Map<string, Adapter>();
  const folders = new Map<string, AdapterFolders>();
  const sources = new Map<string, { specifier: string; options: unknown }>();
  const unreadable = new Map<string, string>();
  const services = new Map<string, unknown>();
  const configKeys = new Map<string, ConfigKey>();
  const problems: PluginProblem[] = [];
  const routes: RegisteredRoute[] = [];
  const indexers: (IndexerDefinition & { plugin: string })[] = [];
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
    routes,
    adapters,
    folders,
    unreadable,
    services,
    problems,
    configKeys,
    indexers,
    adapterSource: (name) => sources.get(name),

    add(plugin, source) {
      const adapter = findAdapter(plugin);
      const builtIn = plugin.name === "kernel" || isBuiltIn(source);
      const file = source && makePlace(source.specifier);
      const added = (plugin.routes ?? []).map((route) => ({
        plugin: plugin.name,
        fullPath: fullPath(route),
        route: builtIn
          ? route
          : { ...route, handler: owned({ plugin: plugin.name, file }, `${route.method} ${route.path}`, route.handler) },
      }));
      claim(
        [
          ["plugin", plugin.name],
          ...(adapter ? [["adapter", adapter.name] as const] : []),
          ...added.map((it) => ["route", `${it.route.method} ${shape(it.fullPath)}`] as const),
          ...(plugin.commands ?? []).map((command) => ["command", command.name] as const),
          ...(plugin.indexers ?? []).map((indexer) => ["indexer", indexer.name] as const),
          ...Object.keys(plugin.config ?? {}).map((key) => ["configuration key", key] as const),
        ],
        plugin.name,
      );
      rows.set(plugin.name, { plugin, services: [], ms: null, builtIn });
      routes.push(...added);
      indexers.push(...(plugin.indexers ?? []).map((indexer) => ({ ...indexer, plugin: plugin.name })));
      for (const [key, declared] of Object.entries(plugin.config ?? {})) configKeys.set(key, declared);
      if (!adapter) return;
      const kept = keepRoots(withDeadlines(adapter, silenceMs, undefined, builtIn ? undefined : file), (reason) => {
        if (reason === undefined) unreadable.delete(adapter.name);
        else unreadable.set(adapter.name, reason);
      });
      adapters.set(adapter.name, kept);
      bases.set(adapter.name, kept);
      if (source) sources.set(adapter.name, { specifier: source.specifier, options: source.options });
    },

    remove(name) {
      const row = rows.get(name);
      if (!row) return;
      rows.delete(name);
      for (const [key, owner] of owners) if (owner === name) owners.delete(key);
      for (const service of row.services) services.delete(service);
      routes.splice(0, routes.length, ...routes.filter((route) => route.plugin !== name));
      indexers.splice(0, indexers.length, ...indexers.filter((indexer) => indexer.plugin !== name));
      for (const key of Object.keys(row.plugin.config ?? {})) configKeys.delete(key);
      const adapter = findAdapter(row.plugin)?.name;
      if (adapter !== undefined) for (const map of [adapters, bases, folders, sources, unreadable]) map.delete(adapter);
    },

    report(problem) {
      const known = problem.count === undefined ? undefined : problems.find((one) => isSame(one, problem));
      if (known) known.count = (known.count ?? 0) + 1;
      else if (problems.length < PROBLEMS) problems.push(problem);
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

/** Kept at most. */
const PROBLEMS = 1_000;

const isSame = (a: PluginProblem, b: PluginProblem) =>
  a.plugin === b.plugin && a.code === b.code && a.message === b.message;

function describe({ plugin, services, ms, builtIn }: Row): PluginInfo {
  return {
    name: plugin.name,
    version: plugin.version ?? (builtIn ? VERSION : null),
    dependsOn: [...(plugin.dependsOn ?? [])],
    routes: (plugin.routes ?? []).map((route) => `${route.method} ${route.path}`),
    hooks: hookNames(plugin.hooks),
    services,
    commands: (plugin.commands ?? []).map((command) => command.name),
    adapter: findAdapter(plugin)?.name ?? null,
    builtIn,
    ms,
  };
}

function hookNames(hooks: object | undefined, prefix = ""): string[] {
  return Object.entries(hooks ?? {}).flatMap(([name, value]) =>
    typeof value === "object" && value !== null ? hookNames(value, `${prefix}${name}:`) : [prefix + name],
  );
}
