/** What plugins brought, as other plugins see it. */
import type { Adapter } from "./adapter.ts";
import type { IndexerDefinition } from "./indexer.ts";
import type { PluginInfo, PluginProblem } from "./reports.ts";

/** What an adapter reads beside its own places, or (`own` false) instead of them. */
export interface AdapterFolders {
  own: boolean;
  dirs: readonly string[];
}

/** What the plugins of a kernel have registered: adapters, services, plugins and their problems. */
export interface Registry {
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** How a pool worker makes this adapter again; undefined for one written inline. */
  adapterSource(name: string): { specifier: string; options: unknown } | undefined;
  /** Folders that adapters read in addition to or instead of their default ones. */
  readonly folders: ReadonlyMap<string, AdapterFolders>;
  /** Sets them: from now on `adapters` has that adapter over these folders. Nothing happens where there is no such adapter. */
  setFolders(name: string, folders: AdapterFolders): void;
  /** Tools whose places could not be looked up just now (a dead mount, no descriptor left), with the reason. Asked again each time. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Indexers of all plugins, with the name of the plugin. */
  readonly indexers: readonly (IndexerDefinition & { plugin: string })[];
  readonly services: ReadonlyMap<string, unknown>;
  /** What was left out, and why. */
  readonly problems: readonly PluginProblem[];
  /** Adds to `problems`. The same one again, with a count, counts once more. */
  report(problem: PluginProblem): void;
  /** Every plugin with what it added. */
  describe(): PluginInfo[];
}
