/** The configuration as everybody reads it. */
import type { DriverConfig } from "../storage/driver.ts";
import type { Schema } from "./schema.ts";

/** Keys that can change while the service runs, with what they may be. A plugin adds its own, `<key>.<member>`, by module augmentation. */
export interface SettingValues {
  /** Import new sessions without being asked. */
  autoImport: boolean;
  /** Keep imported sessions up to date automatically. */
  sync: boolean;
}
export type SettingKey = keyof SettingValues;

/** Keys of the configuration that plugins declare (`Plugin.config`), as their schemas answer them; added by module augmentation. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface PluginConfig {}

/** A key of the configuration file that a plugin declares. */
export interface ConfigKey {
  /** What it may hold: an object. Given `{}` where the file has none, so that its defaults hold. */
  schema: Schema;
  /** Members that can change while the service runs: listed and changed as `<key>.<member>`. */
  settings?: Readonly<Record<string, ConfigSetting>>;
}

/** A switch or a text; what it may be is said by the schema of its key. */
interface ConfigSetting {
  /** What of its value may be shown: an address without its password. */
  shown?(value: string): string;
}

/** What a plugin's keys are made from. */
interface GivenConfig {
  /** The path of the file that holds the keys. */
  where: string;
  /** Keys that core does not know, as file and flags have them. */
  keys: Readonly<Record<string, unknown>>;
  /** Keys of the command line, `key` or `key.member`: they hold for this run. */
  flags: readonly string[];
  /** Settings kept from earlier runs. */
  kept: Readonly<Record<string, unknown>>;
}

/** Core's part of the configuration in effect. */
export interface CoreConfig {
  mode: "standalone" | "dev";
  host: string;
  /** The first port to try. */
  port: number;
  /** True when the port was asked for by name: then it is that one or an error. */
  portFixed: boolean;
  /** More names this service answers to, `name` or `name:port`. */
  hosts: readonly string[];
  dataDir: string;
  roots: Readonly<Record<string, readonly string[]>>;
  /** Folders beside those, by tool: what the user added in the dashboard (config/settings.ts). */
  sources: Readonly<Record<string, readonly string[]>>;
  autoImport: boolean;
  sync: boolean;
  prices: Readonly<Record<string, unknown>>;
  storage: { driver?: DriverConfig | undefined };
  auth: boolean;
  open: boolean;
  given: GivenConfig;
}

/** The configuration in effect; the same object for the life of a kernel, read where it is used: some keys change (`settings:changed`). */
export interface ResolvedConfig extends CoreConfig, PluginConfig {}
