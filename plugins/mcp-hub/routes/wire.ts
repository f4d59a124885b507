/** A service as the API answers it: no secret in it, and what is known of how it runs. */
import { BUILTIN_ID, type ServiceEntry, type ServiceHealth, type ServiceTransport } from "../entry.ts";
import { exposedArgs, maskArgs, maskCredential, maskUrl, maskValues } from "../vault/mask.ts";

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
  /** What a person should know of the service as it is stored, each with its remedy. */
  warnings: string[];
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
    warnings: warningsOf(entry),
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

function warningsOf({ transport, args }: ServiceEntry): string[] {
  const exposed = transport === "stdio" ? exposedArgs(args) : [];
  return exposed.map(
    (at) =>
      `Argument ${at + 1} holds a secret. Arguments stand on the service's command line, which everybody on this machine can read while it runs: put it into env, if the service can take it from there.`,
  );
}
