/** A service as the API answers it: no secret in it, and what is known of how it runs. */
import { BUILTIN_ID, type ServiceEntry, type ServiceHealth, type ServiceTransport } from "../entry.ts";
import type { ItemProblem } from "../hub/definitions.ts";
import type { Hub } from "../hub/hub.ts";
import { type DefinitionChange, toChanges } from "../policy/pins.ts";
import { exposedArgs, maskArgs, maskCredential, maskUrl, maskValues } from "../vault/mask.ts";

/** A tool that is held: its definition is not the one that was accepted. */
export interface WireHeld {
  tool: string;
  /** Sent as `policy.tools[tool].pin` it accepts the new definition. */
  digest: string;
  changes: DefinitionChange[];
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
  /** How many tools it has; null before its first list. */
  tools: number | null;
  /** Items of its lists that were repaired or left out because they are malformed. */
  problems: ItemProblem[];
  held: WireHeld[];
  /** What a person should know of the service as it is stored, each with its remedy. */
  warnings: string[];
  sources: { entryKey: string; file: string; tool: string; importedAt: string; takenOver: boolean }[];
}

/** The service with its last known lists; starts nothing. */
export async function toWire(hub: Hub, entry: ServiceEntry): Promise<WireService> {
  const [health, lists] = [hub.health(entry), await hub.lists(entry)];
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
    tools: lists?.items.tools.length ?? null,
    problems: [...(lists?.problems ?? [])],
    held: [...(lists?.changed ?? [])].map(([tool, change]) => ({
      tool,
      digest: change.digest,
      changes: toChanges(change),
    })),
    warnings: toWarnings(entry),
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

function toWarnings({ transport, args }: ServiceEntry): string[] {
  const exposed = transport === "stdio" ? exposedArgs(args) : [];
  return exposed.map(
    (at) =>
      `Argument ${at + 1} holds a secret. Every user of this machine can read the command line of the service while it runs. If the service accepts the secret in its environment, put it into env.`,
  );
}
