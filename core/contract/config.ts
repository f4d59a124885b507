/** The configuration as everybody reads it. */
import type { DriverConfig } from "../storage/driver.ts";

/** Keys that can change while the service runs, with what they may be. */
export interface SettingValues {
  /** Import new sessions without being asked. */
  autoImport: boolean;
  /** Bring imported sessions up to date by themselves. */
  sync: boolean;
  /** What the tool-call guard blocks. */
  "security.block": "definite" | "probable";
  /** Where feedback is sent on to; `""` nowhere. */
  "feedback.relay": string;
  /** Clients of the hub see a search for tools instead of all of them. */
  "mcp.toolSearch": boolean;
}
export type SettingKey = keyof SettingValues;

/** The configuration in effect; the same object for the life of a kernel, read where it is used: some keys change (`settings:changed`). */
export interface ResolvedConfig {
  mode: "standalone" | "dev";
  host: string;
  /** The first port to try. */
  port: number;
  /** True when the port was asked for by name: then it is that one or an error. */
  portFixed: boolean;
  dataDir: string;
  roots: Readonly<Record<string, readonly string[]>>;
  /** Folders beside those, by tool: what the user added in the dashboard (config/settings.ts). */
  sources: Readonly<Record<string, readonly string[]>>;
  autoImport: boolean;
  sync: boolean;
  prices: Readonly<Record<string, unknown>>;
  feedback: { relay: string | null };
  storage: { driver?: DriverConfig | undefined };
  security: { rules: readonly unknown[]; hosts: readonly string[]; block: "definite" | "probable" };
  mcp: Readonly<Record<string, unknown>>;
  auth: boolean;
  open: boolean;
  /** What stands behind the keys that can change. */
  settable: {
    /** Said on the command line: they hold for this run. */
    fixed: readonly SettingKey[];
    /** What file, flags and defaults say. */
    configured: SettingValues;
  };
}
