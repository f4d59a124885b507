/** Plugins: plain data that the kernel boots. Everything a user sees is a plugin, built in or not. */
import type { MaybePromise } from "../utils/async.ts";
import type { Adapter } from "./adapter.ts";
import type { Command, QuickCommand } from "./command.ts";
import type { ConfigKey } from "./config.ts";
import type { IndexerDefinition } from "./indexer.ts";
import type { Kernel, PluginHooks } from "./kernel.ts";
import type { AnyRoute } from "./route.ts";

export interface Plugin {
  /** kebab-case, unique: `security`, `adapter:codex`. */
  name: string;
  /** Shown to the user. Default: that of sessarc for the built-in ones, none for others. */
  version?: string;
  /** Versions of the plugin interface it was written for: `"^1"`. Checked when it is loaded; default: any. */
  compatibility?: string;
  /** Booted before this one. */
  dependsOn?: readonly string[];
  /** Its keys of the configuration file. The values are in `kernel.config`; their types, and those of `defineConfig`, are added by augmentation. */
  config?: Readonly<Record<string, ConfigKey>>;
  routes?: readonly AnyRoute[];
  hooks?: PluginHooks;
  /** SQL, run once each, in order, recorded per plugin. Never edit one that was released: append. */
  migrations?: readonly string[];
  /** What it wants to know of every session. */
  indexers?: readonly IndexerDefinition[];
  /** Sub commands of `sessarc`, loaded when called. */
  commands?: readonly Command[];
  /** Provide services, start watchers, register `onClose`. Limited to 10 s. */
  setup?(kernel: Kernel): MaybePromise<void>;
}

/** `options` is optional exactly when its type admits undefined. */
export type PluginFactory<O = void, P extends Plugin = Plugin> = undefined extends O
  ? (options?: O) => P
  : // biome-ignore lint/suspicious/noConfusingVoidType: it stands for no options
    [O] extends [void]
    ? () => P
    : (options: O) => P;

/** A plugin that is loaded by name when the kernel boots, and again inside pool workers. */
export interface PluginEntry {
  /** What `import()` takes: `sessarc/plugins/codex`, a package, or a file URL. The module's default export is the factory. */
  specifier: string;
  /** Loads the module in this process; default: `import(specifier)`. */
  load?: () => Promise<{ default: (options?: never) => Plugin }>;
  /** JSON-plain, handed to the factory. */
  options?: unknown;
  /** Names of the sub commands it adds: lets the command line find one without loading every plugin. */
  commands?: readonly string[];
  /** Commands that must start at once, by name: this code is tried first, and imports as little as it can. */
  quick?: Readonly<Record<string, () => Promise<QuickCommand>>>;
}

/** Names a plugin or a factory of one; returns a factory. The default export of a plugin is a factory, never an instance. */
export function definePlugin<O = void>(def: Plugin | ((options: O) => Plugin)): PluginFactory<O> {
  return (typeof def === "function" ? def : () => def) as PluginFactory<O>;
}

export interface AdapterPlugin extends Plugin {
  adapter: Adapter;
}
