/** Plugins: plain data that the kernel boots. Everything a user sees is a plugin, built in or not. Their sub commands are data, too: the code is loaded when called. */
import type { ParseArgsConfig } from "node:util";
import type { MaybePromise } from "../utils/async.ts";
import type { Adapter, AdapterEnv } from "./adapter.ts";
import type { ConfigKey, CoreConfig } from "./config.ts";
import type { IndexerDefinition } from "./indexer.ts";
import type { Kernel, PluginHooks } from "./kernel.ts";
import type { AnyRoute } from "./route.ts";

/** A plugin as data: all members but `name` are optional. */
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

/** A plugin with an adapter: what the factory of `defineAdapter` returns. */
export interface AdapterPlugin extends Plugin {
  adapter: Adapter;
}

/** What a command is for: looking at sessions, their cost, the code they wrote, keeping them, the tools of the assistants. */
export type CommandGroup = "look" | "cost" | "code" | "keep" | "tools";

/** A command of the command line, as data; its code is behind `load`. */
export interface Command {
  name: string;
  /** At most 66 columns: `--help` shows it in one line. */
  summary: string;
  /** Where `sessarc --help` lists it. Without one only `sessarc --help --all` does. */
  group?: CommandGroup;
  /** Words after `sessarc <name>` that show what it is for. The first of a group is the example of the group. */
  example?: string;
  /** A former name that still works: no list, page or shell shows it. */
  hidden?: boolean;
  /** Usage lines after `sessarc <name>`. */
  usage: string;
  /**
   * As `util.parseArgs` takes them; `help` and `json` are added. `n` is short for `limit` alone, a number as in git log, tail and head, and only
   * where nothing is written; `dry-run` is spelled out.
   */
  options: NonNullable<ParseArgsConfig["options"]>;
  /** One line per option, for --help. */
  help: Readonly<Record<string, string>>;
  /** Words the first operand may be; `[]`: there are no operands. Anything else ends with exit code 2; shells complete these. Default: anything. */
  operands?: readonly string[] | "folder";
  /** What the value of an option may be, by its name: checked and completed as `operands`. Default: anything. */
  values?: Readonly<Record<string, readonly string[] | "file" | "folder">>;
  /**
   * Names of the built-in plugins this command's own kernel over the archive needs, when with these flags it needs few: the others are
   * not loaded then, unless the configuration brings plugins. Default: all, as in `scratch`.
   */
  needs?(flags: CommandContext["flags"]): readonly string[] | undefined;
  /**
   * Whether, with these flags, it answers from the archive: without a service what the logs have new is then imported first, for a second
   * at most. Adds the flag `--no-sync`. Default: no.
   */
  current?(flags: CommandContext["flags"]): boolean;
  load(): Promise<{ run: (ctx: CommandContext) => MaybePromise<number | undefined> }>;
}

/** What the quick way of a command gets. */
export interface QuickIo {
  /** The words after the command's name. */
  args: readonly string[];
  /** A path below the data directory. */
  path(...parts: string[]): string;
  env: AdapterEnv;
  /** Undefined where nothing is piped in. */
  stdin: (() => AsyncIterable<Uint8Array>) | undefined;
  out(text: string): void;
  err(text: string): void;
  /** False where the environment asks for no colour. */
  colour: boolean;
}

/** Code of a command that runs without plugins, configuration and client. */
export interface QuickCommand {
  /** Answers the exit code; undefined leaves it to the command itself. Nothing may be written then. */
  run(io: QuickIo): Promise<number | undefined>;
}

/** What a command is handed. It writes results with `out`, notices with `err`; its return value is the exit code (default 0). */
export interface CommandContext {
  args: readonly string[];
  flags: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  json: boolean;
  config: CoreConfig;
  /** The machine it runs on: home and variables. */
  env: AdapterEnv;
  /** A path below the data directory. */
  path(...parts: string[]): string;
  /** Where the command runs: relative paths of its words and flags begin there. The folder may have been deleted meanwhile. */
  cwd: string;
  /** The built-in plugins and those of the configuration, for a command that starts kernels over another storage. Nothing is loaded. */
  plugins: readonly (Plugin | PluginEntry)[];
  /** Control characters and direction marks are removed, in JSON escaped: text of logs cannot steer a terminal. */
  out(text: string): void;
  err(text: string): void;
  /** Prints what `--json` asks for. An object gets `asOf` and `behind`, when the command is `current` and there is an archive. */
  answer(value: unknown): void;
  /** True when `out` may hold colour. */
  colour: boolean;
  /** True when `err` is a terminal: progress may be shown. */
  tty: boolean;
  /** Columns of the terminal `out` is; undefined when it is not a terminal. */
  columns: number | undefined;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Raw text to stdout or stderr, no newline added: for lines that are rewritten. It must not hold text of logs. */
  outRaw(text: string): void;
  errRaw(text: string): void;
  /**
   * The answer of GET `path` (relative to /api), as JSON; throws ApiError for what the API refuses. Far quicker than `fetch`, which loads
   * the HTTP app when no service runs. Undefined values of `query` are left out.
   */
  get<T>(path: string, query?: Record<string, string | undefined>, signal?: AbortSignal): Promise<T>;
  /**
   * Calls the API: the running service when there is one, else this process opens the archive itself.
   * `path` is relative to /api.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The kernel over the archive in this process; throws ARCHIVE_LOCKED when a service has it open. */
  kernel(): Promise<Kernel>;
  /** From now on a kernel over an empty archive, in a folder that is gone when the command ends, is what this command calls. */
  scratch(): Promise<Kernel>;
  /**
   * Closes what this command opened, so that other commands, or the service, may open the archive; the next request finds the service or opens
   * the archive again. For a command that waits between requests.
   */
  release(): Promise<void>;
}
