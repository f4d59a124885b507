/** The configuration as everybody reads it. */
import type { DriverConfig } from "../storage/driver.ts";

/** The configuration in effect; the same object for the life of a kernel. */
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
}
