/** Sub commands of `sessarc`: data, with the code behind them loaded when called. */
import type { ParseArgsConfig } from "node:util";
import type { MaybePromise } from "../utils/async.ts";
import type { AdapterEnv } from "./adapter.ts";
import type { CoreConfig } from "./config.ts";
import type { Kernel } from "./kernel.ts";

export interface Command {
  name: string;
  summary: string;
  /** Usage lines after `sessarc <name>`. */
  usage: string;
  /** As `util.parseArgs` takes them; `help` and `json` are added. */
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
  out(text: string): void;
  err(text: string): void;
  /** True when `out` may hold colour. */
  colour: boolean;
  /** True when `err` is a terminal: progress may be shown. */
  tty: boolean;
  /** Columns of the terminal `out` is; undefined when it is not a terminal. */
  columns: number | undefined;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Raw text to stderr, no newline added: for lines that are rewritten. */
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
}
