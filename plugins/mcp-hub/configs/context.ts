/** The parts of the hub that its configurations need. */
import type { Registry } from "../registry/registry.ts";
import type { Vault } from "../vault/seal.ts";

export interface ConfigParts {
  services: Registry;
  vault: Vault;
}
