/** Servers as most tools write them: an object of names, each with `type`, `command`, `args`, `env`, `cwd`, `url`, `headers`. */
import type { McpServerEntry } from "../contract/mcp-config.ts";
import { isRecord, toList, toNumber, toRecord, toText } from "../utils/json.ts";

/** `${NAME}` and `${NAME:-default}`. */
export const BRACED_VARIABLE = /\$\{([A-Za-z_]\w*)(?::-(?<default>[^}]*))?\}/g;
/** `${env:NAME}`. */
export const ENV_VARIABLE = /\$\{env:([^}]+)\}/g;

/**
 * The servers below `path`. `only`: names of fields that nobody but the tool can honour. What names neither a command nor an address
 * is left out.
 */
export function mcpServers(config: unknown, path: readonly string[], only: readonly string[] = []): McpServerEntry[] {
  const servers = path.reduce<unknown>((at, key) => toRecord(at)[key], config);
  return Object.entries(toRecord(servers)).flatMap(([name, value]) => {
    const server = isRecord(value) ? mcpServer([...path, name], value) : undefined;
    if (!server) return [];
    const fields = only.filter((field) => isSet(toRecord(value)[field]));
    return [fields.length > 0 ? { ...server, only: [...(server.only ?? []), ...fields] } : server];
  });
}

function mcpServer(path: readonly string[], server: Record<string, unknown>): McpServerEntry | undefined {
  const [url, command, cwd, timeoutMs] = [
    toText(server.url),
    toText(server.command),
    toText(server.cwd),
    toNumber(server.timeout),
  ];
  const [env, headers, args] = [mcpValues(server.env), mcpValues(server.headers), mcpTexts(server.args)];
  if (url === undefined && command === undefined) return undefined;
  const problems = [env.unreadable && "env", headers.unreadable && "headers", args.unreadable && "args"];
  const only = problems.filter((field) => typeof field === "string");
  const own: Pick<McpServerEntry, "name" | "path"> = { name: path.at(-1) ?? "", path };
  const common = {
    ...((server.disabled === true || server.enabled === false) && { disabled: true }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(only.length > 0 && { only }),
  };
  if (url !== undefined && command === undefined)
    return {
      ...own,
      transport: server.type === "sse" ? "sse" : "http",
      url,
      ...(headers.values && { headers: headers.values }),
      ...common,
    };
  return {
    ...own,
    transport: "stdio",
    ...(command !== undefined && { command }),
    ...(args.texts && { args: args.texts }),
    ...(env.values && { env: env.values }),
    ...(cwd !== undefined && { cwd }),
    ...common,
  };
}

/** Texts by name; numbers and switches are written out, as tools do. Undefined when there are none. */
export function mcpValues(value: unknown): { values: Record<string, string> | undefined; unreadable: boolean } {
  const pairs = Object.entries(toRecord(value));
  const read = pairs.flatMap(([name, one]) => (isPlain(one) ? [[name, String(one)] as const] : []));
  const unreadable = read.length < pairs.length || (isSet(value) && !isRecord(value));
  return { values: read.length > 0 ? Object.fromEntries(read) : undefined, unreadable };
}

/** A list of texts; undefined when there is none. */
export function mcpTexts(value: unknown): { texts: string[] | undefined; unreadable: boolean } {
  const items = toList(value);
  const texts = items.filter(isPlain).map(String);
  const unreadable = texts.length < items.length || (isSet(value) && !Array.isArray(value));
  return { texts: Array.isArray(value) ? texts : undefined, unreadable };
}

const isPlain = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);
const isSet = (value: unknown) => value !== undefined && value !== null && value !== false;
