/** Hub: every tool server behind one endpoint, and the archive as one of them. */

import { definePlugin, type JsonRecord, type MaybePromise, type RoutesOf } from "sessarc";
import "./errors.ts";
import { commands } from "./commands/index.ts";
import { config, type HubConfig, type HubSettings } from "./config.ts";
import type { McpContract } from "./configs/contract.ts";
import { createMcp, type Mcp } from "./mcp.ts";
import { migrations } from "./registry/store.ts";
import { configRoutes } from "./routes/configs.ts";
import { endpointRoutes } from "./routes/endpoint.ts";
import { hubRoutes } from "./routes/hub.ts";
import { serviceRoutes } from "./routes/services.ts";
import { signInRoutes } from "./routes/sign-in.ts";

export type { ServiceEntry, ServiceInput, ServicePatch } from "./entry.ts";
export type { JoinedCall, ToolFigures } from "./hub/calls.ts";
export type { WireBackup, WireDiff, WireMatrix, WireScan, WireScanEntry } from "./routes/config-wire.ts";
export type { WireService } from "./routes/wire.ts";

export const routes = [...serviceRoutes, ...hubRoutes, ...configRoutes, ...signInRoutes, ...endpointRoutes] as const;

/** Changes of a skill in which its files stay as they are. */
const QUIET: ReadonlySet<string> = new Set(["linked", "unlinked", "described"]);

export default definePlugin({
  name: "mcp-hub",
  dependsOn: ["archive", "security"],
  config,
  routes,
  migrations,
  commands,
  setup(kernel) {
    const mcp = createMcp(kernel);
    kernel.provide("mcp", mcp);
    kernel.hooks.hook("session:replaced", async ({ id }) => {
      await mcp.hub.flush();
      await mcp.history.join(id);
    });
    kernel.hooks.hook("skill:changed", ({ id, what }) => (QUIET.has(what) ? undefined : mcp.hub.skillChanged(id)));
    kernel.hooks.hook("kernel:ready", () => mcp.recover());
    kernel.onClose(() => mcp.close());
  },
});

declare module "sessarc" {
  interface PluginConfig {
    mcp: HubSettings;
  }
  interface UserConfig {
    /**
     * `toolSearch`: clients search for tools instead of seeing all (default false). `idleMinutes`: an unused server ends after this time
     * (default 15). `profiles`: groups of tools by name, each with its `clients`, its `tools` (patterns of `<service>__<tool>`) and
     * whether `search` reaches the others.
     */
    mcp?: HubConfig | undefined;
  }
  interface SettingValues {
    /** Clients of the hub see a search for tools instead of all of them. */
    "mcp.toolSearch": boolean;
  }
  interface AdapterCapabilities {
    mcp: McpContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    mcp: Mcp;
    /** Optional: where people open this service, without a slash at the end, if that is not where it listens. */
    "public-address": () => string;
  }
  interface KernelHooks {
    /** Before a tool is called: may change its arguments; a throw refuses the call. */
    "mcp:call": (call: { service: string; tool: string; arguments: JsonRecord }) => MaybePromise<void>;
    "mcp:called": (call: { service: string; tool: string; ms: number; ok: boolean }) => MaybePromise<void>;
    /** A service was added, changed or removed. */
    "mcp:changed": (service: { id: string }) => MaybePromise<void>;
  }
}
