/** Servers as most tools write them: an object of names, each with `type`, `command`, `args`, `env`, `cwd`, `url`, `headers`. */
import { isRecord, toList, toNumber, toRecord, toText } from "sessarc";
import type { McpParts, McpServerEntry } from "./contract.ts";

/** The forms a contract names by a word. */
export const VARIABLES = {
  braced: /\$\{([A-Za-z_]\w*)(?::-(?<default>[^}]*))?\}/,
  env: /\$\{env:([^}]+)\}/,
} as const;

export const parts: McpParts = { servers, values, texts };

function servers(config: unknown, path: readonly string[], only: readonly string[] = []): McpServerEntry[] {
  const found = path.reduce<unknown>((at, key) => toRecord(at)[key], config);
  return Object.entries(toRecord(found)).flatMap(([name, value]) => {
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
  const [env, headers, args] = [values(server.env), values(server.headers), texts(server.args)];
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

function values(value: unknown): { values: Record<string, string> | undefined; unreadable: boolean } {
  const pairs = Object.entries(toRecord(value));
  const read = pairs.flatMap(([name, one]) => (isPlain(one) ? [[name, String(one)] as const] : []));
  const unreadable = read.length < pairs.length || (isSet(value) && !isRecord(value));
  return { values: read.length > 0 ? Object.fromEntries(read) : undefined, unreadable };
}

function texts(value: unknown): { texts: string[] | undefined; unreadable: boolean } {
  const items = toList(value);
  const read = items.filter(isPlain).map(String);
  const unreadable = read.length < items.length || (isSet(value) && !Array.isArray(value));
  return { texts: Array.isArray(value) ? read : undefined, unreadable };
}

const isPlain = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);
const isSet = (value: unknown) => value !== undefined && value !== null && value !== false;
