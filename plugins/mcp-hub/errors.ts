/** Error codes of the hub. None of them may hold a secret: messages of upstreams go through `hideSecrets` first. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SERVICE_NOT_FOUND: { id: string };
    SERVICE_INVALID: { id: string; reason: string };
    SERVICE_BUILT_IN: { id: string };
    VAULT_UNREADABLE: { reason: string };
    TOOL_NOT_FOUND: { name: string };
    TOOL_DENIED: { name: string; reason: string };
    UPSTREAM_FAILED: { service: string; reason: string };
    UPSTREAM_TIMEOUT: { service: string; ms: number };
    MCP_SESSIONS_FULL: { limit: number };
    SIGN_IN_UNAVAILABLE: { id: string; reason: string };
    SIGN_IN_FAILED: { id: string; reason: string };
    MCP_ENTRY_NOT_FOUND: { ids: readonly string[] };
    MCP_ENTRY_REFUSED: { name: string; reason: string; remedy?: string | undefined };
    MCP_CONFIG_CHANGED: { path: string; remedy: string };
    MCP_BACKUP_NOT_FOUND: { ids: readonly string[] };
    MCP_BACKUP_DAMAGED: { id: string };
  }
}

export const errors = defineErrors({
  SERVICE_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No service ${id}`,
    fix: () => "`sessarc mcp list` (GET /mcp/services) lists the services.",
  },
  SERVICE_INVALID: { status: 422, why: ({ id, reason }) => `The service ${id} cannot be stored: ${reason}` },
  SERVICE_BUILT_IN: {
    status: 409,
    why: ({ id }) => `The service ${id} is built in`,
    fix: () => "Disable it instead: PATCH { enabled: false }.",
  },
  VAULT_UNREADABLE: {
    status: 500,
    why: ({ reason }) => `The stored services cannot be opened: ${reason}`,
    fix: () => "Put the file vault.key of the data directory back, or remove the services and add them again.",
  },
  TOOL_NOT_FOUND: { status: 404, why: ({ name }) => `No tool ${name}` },
  TOOL_DENIED: { status: 403, why: ({ name, reason }) => `The tool ${name} is not allowed: ${reason}` },
  UPSTREAM_FAILED: { status: 502, why: ({ service, reason }) => `The service ${service} failed: ${reason}` },
  UPSTREAM_TIMEOUT: {
    status: 504,
    why: ({ service, ms }) => `The service ${service} did not answer within ${ms} ms`,
    fix: () => "Try again, or raise the service's timeoutMs.",
  },
  SIGN_IN_UNAVAILABLE: { status: 409, why: ({ id, reason }) => `Cannot sign in to the service ${id}: ${reason}` },
  SIGN_IN_FAILED: {
    status: 502,
    why: ({ id, reason }) => `Signing in${id && ` to the service ${id}`} failed: ${reason}`,
    fix: () => "Begin again: sessarc mcp sign-in <service>.",
  },
  MCP_SESSIONS_FULL: {
    status: 429,
    why: ({ limit }) => `${limit} clients are connected already`,
    fix: () => "Close clients that are not in use; idle ones are forgotten after a while.",
  },
  MCP_ENTRY_NOT_FOUND: {
    status: 404,
    why: ({ ids }) => `No such entry in any configuration: ${ids.join(", ")}`,
    fix: () => "Scan again: GET /api/mcp/scan.",
  },
  MCP_ENTRY_REFUSED: {
    status: 422,
    why: ({ name, reason }) => `${name} cannot be taken over: ${reason}; nothing was changed`,
    fix: ({ remedy }) => remedy,
  },
  MCP_CONFIG_CHANGED: {
    status: 409,
    why: ({ path }) => `${path} changed in between; nothing was changed`,
    fix: ({ remedy }) => remedy,
  },
  MCP_BACKUP_NOT_FOUND: {
    status: 404,
    why: ({ ids }) => `No such backup: ${ids.join(", ")}`,
    fix: () => "See those there are: GET /api/mcp/backups.",
  },
  MCP_BACKUP_DAMAGED: {
    status: 500,
    why: ({ id }) => `The backup ${id} is damaged: its files differ from what was stored; nothing was changed`,
    fix: () => "Choose an older backup: GET /api/mcp/backups.",
  },
});
