/** A service as the API answers it: no secret in it, and what is known of how it runs. */
import type { ServiceEntry, ServiceTransport } from "../registry/entry.ts";
import { BUILTIN_ID } from "../registry/entry.ts";
import { maskArgs, maskCredential, maskUrl, maskValues } from "../vault/mask.ts";

export type ServiceState = "idle" | "starting" | "running" | "failed" | "disabled";

/** How a service runs. */
export interface ServiceHealth {
  state: ServiceState;
  /** Why it failed the last time, with secrets hidden; null when it did not, or works again. */
  lastError: string | null;
  /** How many tools it has; null while nobody asked it. */
  tools: number | null;
  calls: number;
  p95Ms: number | null;
}

export interface WireService extends ServiceHealth {
  id: string;
  name: string;
  /** `builtin` is the archive itself. */
  transport: ServiceTransport | "builtin";
  command: string | null;
  args: string[];
  env: Record<string, string>;
  cwd: string | null;
  url: string | null;
  headers: Record<string, string>;
  enabled: boolean;
  scope: ServiceEntry["scope"];
  credential: ReturnType<typeof maskCredential>;
  policy: ServiceEntry["policy"];
  timeoutMs: number;
  guard: boolean;
  sources: { entryKey: string; file: string; tool: string; importedAt: string; takenOver: boolean }[];
}

export function toWire(entry: ServiceEntry, health: ServiceHealth): WireService {
  const { id, name, command, cwd, enabled, scope, policy, timeoutMs, guard } = entry;
  return {
    id,
    name,
    transport: id === BUILTIN_ID ? "builtin" : entry.transport,
    command,
    args: maskArgs(entry.args),
    env: maskValues(entry.env),
    cwd,
    url: entry.url === null ? null : maskUrl(entry.url),
    headers: maskValues(entry.headers),
    enabled,
    scope,
    credential: maskCredential(entry.credential),
    policy,
    timeoutMs,
    guard,
    sources: entry.sources.map(({ entryKey, file, tool, importedAt, takenOver = false }) => ({
      entryKey,
      file,
      tool,
      importedAt,
      takenOver,
    })),
    ...health,
  };
}
