/** Hub: every tool server behind one endpoint, and the archive as one of them. */
import { definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import "./errors.ts";
import { createMcp, type Mcp } from "./mcp.ts";
import { migrations } from "./registry/store.ts";
import { serviceRoutes } from "./routes/services.ts";

export type { ServiceEntry, ServiceInput, ServicePatch } from "./entry.ts";
export type { WireService } from "./routes/wire.ts";

export const routes = [...serviceRoutes] as const;

export default definePlugin({
  name: "mcp-hub",
  dependsOn: ["archive", "security"],
  routes,
  migrations,
  setup(kernel) {
    kernel.provide("mcp", createMcp(kernel));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    mcp: Mcp;
  }
  interface KernelHooks {
    /** A service was added, changed or removed. */
    "mcp:changed": (service: { id: string }) => MaybePromise<void>;
  }
}
