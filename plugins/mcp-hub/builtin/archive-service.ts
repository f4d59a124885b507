/** The archive as a service of the hub. */
import type { Kernel } from "sessarc";
import type { LocalService } from "../hub/catalog.ts";
import { METHOD_NOT_FOUND, RpcError } from "../upstream/rpc-error.ts";

export function createArchiveService(_kernel: Kernel): LocalService {
  const items = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
  return {
    listing: () => ({ items, instructions: "" }),
    async request() {
      throw new RpcError(METHOD_NOT_FOUND, "Method not found");
    },
  };
}
