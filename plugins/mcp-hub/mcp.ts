/** The parts of the hub, put together: service "mcp". */
import type { Kernel } from "sessarc";
import { createArchiveService } from "./builtin/archive-service.ts";
import { createEndpoint, type Endpoint } from "./endpoint/endpoint.ts";
import { type CallHistory, createCallHistory } from "./hub/calls.ts";
import { createHub, type Hub } from "./hub/hub.ts";
import { createServices, type Registry } from "./registry/registry.ts";
import { createRegistryStore } from "./registry/store.ts";
import { createVault, type Vault } from "./vault/seal.ts";

export interface Mcp {
  readonly services: Registry;
  readonly vault: Vault;
  readonly hub: Hub;
  readonly endpoint: Endpoint;
  readonly history: CallHistory;
  close(): Promise<void>;
}

export function createMcp(kernel: Kernel): Mcp {
  const vault = createVault(kernel.config.dataDir);
  const store = createRegistryStore(kernel.storage.db);
  const services = createServices(store, vault, async (id) => {
    await hub.replaced(id);
    await kernel.notify("mcp:changed", { id });
  });
  const hub = createHub(kernel, services, store, createArchiveService(kernel));
  const history = createCallHistory(kernel);
  const endpoint = createEndpoint(kernel, hub, services);
  return {
    services,
    vault,
    hub,
    endpoint,
    history,
    async close() {
      await endpoint.close();
      await hub.close();
    },
  };
}
