/** The parts of the hub, put together: service "mcp". */
import type { Kernel } from "sessarc";
import type { ServiceEntry, ServiceHealth } from "./entry.ts";
import { createServices, type Registry } from "./registry/registry.ts";
import { createRegistryStore } from "./registry/store.ts";
import { createVault, type Vault } from "./vault/seal.ts";

export interface Mcp {
  readonly services: Registry;
  readonly vault: Vault;
  /** How a service runs right now. */
  health(entry: ServiceEntry): ServiceHealth;
}

export function createMcp(kernel: Kernel): Mcp {
  const vault = createVault(kernel.config.dataDir);
  const store = createRegistryStore(kernel.storage.db);
  const services = createServices(store, vault, (id) => kernel.notify("mcp:changed", { id }));
  return {
    services,
    vault,
    health: (entry) => ({
      state: entry.enabled ? "idle" : "disabled",
      lastError: null,
      tools: null,
      calls: 0,
      p95Ms: null,
    }),
  };
}
