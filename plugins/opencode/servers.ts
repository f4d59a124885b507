/** Tool-protocol servers of `opencode.json` and its relatives: under `mcp`, since version 2 under `mcp.servers`. */
import { join } from "node:path";
import { type AdapterCapabilities, isRecord, type JsonRecord, toRecord, toText } from "sessarc";
import { configFolder, type Member } from "./family.ts";

type McpContract = AdapterCapabilities["mcp"];
type McpParts = Parameters<McpContract["servers"]>[1];
type McpServer = ReturnType<McpContract["servers"]>[number];

export const mcp = (member: Member): McpContract => ({
  files(env) {
    const chosen = member.config && env.env[member.config];
    const folder = configFolder(member, env);
    const names = member.configs;
    return [...(chosen ? [chosen] : []), ...[...names, "config.json"].map((name) => join(folder, name))]
      .map((path): ReturnType<McpContract["files"]>[number] => ({ path, scope: "user" }))
      .concat(
        [...names, ...names.map((name) => join(`.${member.folder}`, name))].map((path) => ({ path, scope: "project" })),
      );
  },
  syntax: "jsonc",
  // `${NAME}` is plain text here.
  variable: /\{env:([^}]+)\}/g,
  servers(config, read) {
    const path = isNew(config) ? ["mcp", "servers"] : ["mcp"];
    const servers = path.reduce<unknown>((at, key) => toRecord(at)[key], config);
    return Object.entries(toRecord(servers)).flatMap(([name, value]) =>
      toServer(read, [...path, name], toRecord(value)),
    );
  },
  into: (config) => (isNew(config) ? ["mcp", "servers"] : ["mcp"]),
  link: (url, path, headers) => ({
    type: "remote",
    url,
    ...(headers && { headers }),
    ...(path.length === 1 && { enabled: true, oauth: false }),
  }),
  off: (path) => (path.length === 1 ? { key: "enabled", value: false } : { key: "disabled", value: true }),
});

/** A server of version 1 may be called `servers`: then it says what type it is. */
function isNew(config: JsonRecord): boolean {
  const { servers } = toRecord(config.mcp);
  return isRecord(servers) && typeof servers.type !== "string";
}

/** One with nothing but a switch changes what an organisation set: it names no server. */
function toServer(read: McpParts, path: readonly string[], server: JsonRecord): McpServer[] {
  const own = {
    name: path.at(-1) ?? "",
    path,
    ...((server.enabled === false || server.disabled === true) && { disabled: true }),
  };
  const url = toText(server.url);
  const [headers, env, command] = [
    read.values(server.headers),
    read.values(server.environment),
    read.texts(server.command),
  ];
  const fields = [
    isRecord(server.oauth) && "oauth",
    headers.unreadable && "headers",
    env.unreadable && "environment",
    command.unreadable && "command",
  ];
  const only = fields.filter((field) => typeof field === "string");
  const rest = only.length > 0 ? { only } : {};
  if (url !== undefined)
    return [{ ...own, transport: "http", url, ...(headers.values && { headers: headers.values }), ...rest }];
  const [program, ...args] = command.texts ?? [];
  if (!program) return [];
  const cwd = toText(server.cwd);
  return [
    {
      ...own,
      transport: "stdio",
      command: program,
      args,
      ...(env.values && { env: env.values }),
      ...(cwd !== undefined && { cwd }),
      ...rest,
    },
  ];
}
