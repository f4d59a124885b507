/** What commands of the core are handed. */
import type { Command, CommandContext } from "../contract/command.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import type { SessarcError } from "../errors/error.ts";
import type { CliIo } from "./io.ts";

/** What a core command gets beside the context of every command. */
export interface CoreContext extends CommandContext {
  io: CliIo;
  plugins: readonly PluginSource[];
  /** Why the configuration file is left out, for commands that work all the same. */
  configError: SessarcError | undefined;
  /** All commands there are; loads every plugin that has some. */
  commands(): Promise<Command[]>;
}

export type PluginSource = Plugin | PluginEntry;
