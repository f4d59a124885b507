/** What commands of the core are handed. */
import type { Command, CommandContext, Plugin, PluginEntry } from "../contract/plugin.ts";
import type { SessarcError } from "../errors/error.ts";
import type { CliIo } from "./io.ts";

/** What a core command gets beside the context of every command. */
export interface CoreContext extends CommandContext {
  io: CliIo;
  /** For commands that work all the same: why the configuration file, or what plugins have in it, is left out. Known once a kernel is open. */
  problems: { configError: SessarcError | undefined };
  /** All commands there are; loads every plugin that has some. */
  commands(): Promise<Command[]>;
}

export type PluginSource = Plugin | PluginEntry;
