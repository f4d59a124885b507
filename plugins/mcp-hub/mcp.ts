/** The parts of the hub, put together: service "mcp". */
import type { Kernel } from "sessarc";
import { hasUnsettled } from "sessarc/files";
import { createArchiveService } from "./builtin/archive-service.ts";
import type { Configs } from "./configs/configs.ts";
import { takeoversIn } from "./configs/folder.ts";
import { isHubUrl } from "./configs/link.ts";
import { createEndpoint, type Endpoint } from "./endpoint/endpoint.ts";
import type { SignIn } from "./grants/contract.ts";
import { createGrants } from "./grants/grants.ts";
import { toAuth } from "./grants/provider.ts";
import { createSignIn } from "./grants/sign-in.ts";
import { type CallHistory, createCallHistory } from "./hub/calls.ts";
import { createHub, type Hub } from "./hub/hub.ts";
import { createServices, type Registry } from "./registry/registry.ts";
import { createRegistryStore } from "./registry/store.ts";
import { createStoreSkills } from "./skills/store.ts";
import { createVault, type Vault } from "./vault/seal.ts";

export interface Mcp {
  readonly services: Registry;
  readonly vault: Vault;
  readonly signIn: SignIn;
  readonly hub: Hub;
  readonly endpoint: Endpoint;
  readonly history: CallHistory;
  /** The tools' configuration files; loaded when first asked for. */
  configs(): Promise<Configs>;
  /** Takes back what a crash left of a takeover. Costs a look into one folder where nothing was ever taken over. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

export function createMcp(kernel: Kernel): Mcp {
  const vault = createVault(kernel.storage);
  const store = createRegistryStore(kernel.storage.db);
  const grants = createGrants(store, vault);
  const changed = async (id: string) => {
    grants.forget(id);
    await hub.replaced(id);
    await kernel.notify("mcp:changed", { id });
  };
  const services = createServices(store, vault, changed, (url) => isHubUrl(url, kernel));
  const hub = createHub(kernel, {
    registry: services,
    vault,
    store,
    local: createArchiveService(kernel),
    skills: createStoreSkills(kernel),
    authFor: (entry, url) => toAuth(grants, entry, url),
  });
  const history = createCallHistory(kernel);
  const endpoint = createEndpoint(kernel, hub, services);
  let configs: Promise<Configs> | undefined;
  const openConfigs = () => {
    configs ??= import("./configs/configs.ts").then((module) => module.createConfigs(kernel, { services, vault }));
    return configs;
  };
  return {
    services,
    vault,
    signIn: createSignIn(kernel, services, grants),
    configs: openConfigs,
    async recover() {
      const { storage } = kernel;
      if (storage.lock && (await hasUnsettled(takeoversIn(storage)))) await (await openConfigs()).recover();
    },
    hub,
    endpoint,
    history,
    async close() {
      await endpoint.close();
      await hub.close();
    },
  };
}
