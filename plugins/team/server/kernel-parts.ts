/** What the kernels of a server are made of: the one that imports, and those of people. */
import type { Plugin } from "sessarc";
import type { Adapter, AdapterDefinition } from "sessarc/adapter";
import type { PluginEntry } from "sessarc/serve";
import type { CommandContext } from "sessarc/terminal";
import type { TeamDatabase } from "../types.ts";
import type { Offers } from "./offers.ts";
import type { Bodies } from "./storage.ts";

/** What an assistant's real adapter says of it, without its logs. */
export type Facts = Pick<AdapterDefinition, "name" | "label" | "tools">;

export interface ServerPlugins {
  ingest: readonly (Plugin | PluginEntry)[];
  person: readonly (Plugin | PluginEntry)[];
  /** Names and tool roles of the assistants that sessarc knows. */
  assistants: readonly Facts[];
  /** Adapters that can read a pushed log, by assistant, each with its version. */
  readers: ReadonlyMap<string, LogReader>;
  /** Which of their routes the server answers. */
  offers: Offers;
  /** Schema steps of all of them, in the order in which they are needed. */
  migrations: readonly { plugin: string; steps: readonly string[] }[];
}

export interface LogReader {
  adapter: Pick<Adapter, "parseLines">;
  version: string;
}

export interface KernelParts {
  database: TeamDatabase;
  bodies: Bodies;
  plugins: ServerPlugins;
  /** Folder of repositories. */
  repositories?: string | undefined;
  config: CommandContext["config"];
  log(line: string): void;
}

/** A home that does not exist: nothing on the server's own disk is an assistant's log. */
export const NOBODY = { home: "/nonexistent", platform: process.platform, env: {} } as const;

/** What a kernel on a server goes by: nothing is listed, synchronised or written outside of the database. */
export const kernelConfig = (
  config: CommandContext["config"],
  { folder, driver }: Bodies,
): CommandContext["config"] => ({
  ...config,
  dataDir: folder,
  roots: {},
  sources: {},
  autoImport: false,
  sync: false,
  auth: false,
  // Named even for a folder: work in threads would open the bodies again for each person.
  storage: { driver: driver ?? { name: "fs" } },
  given: { ...config.given, keys: {}, flags: [], kept: {} },
});
