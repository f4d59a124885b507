/** Tool-protocol servers of `settings.json`. */
import { join } from "node:path";
import { type AdapterCapabilities, type JsonRecord, toList, toRecord, toText } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

type McpContract = AdapterCapabilities["mcp"];
type McpParts = Parameters<McpContract["servers"]>[1];
type McpServer = ReturnType<McpContract["servers"]>[number];

/** Fields of a server that are answered by the tool itself. */
const TOOL_ONLY = ["tcp", "oauth", "authProviderType", "targetAudience", "targetServiceAccount"];

/** Servers under `mcpServers`; `mcp.allowed` and `mcp.excluded` switch them off. */
export const mcp = (toolDir: (env: AdapterEnv) => string): McpContract => ({
  files: (env) => [
    { path: join(toolDir(env), "settings.json"), scope: "user" },
    { path: join(".gemini", "settings.json"), scope: "project" },
    ...systemFiles(env).map((path) => ({ path, scope: "system" as const })),
  ],
  syntax: "jsonc",
  // `$NAME` as well.
  variable: /\$\{([A-Za-z_]\w*)(?::-(?<default>[^}]*))?\}|\$([A-Za-z_]\w*)/g,
  servers(config, read) {
    const rules = toRecord(config.mcp);
    const excluded = toList(rules.excluded);
    const isOff = (name: string) =>
      excluded.includes(name) || (rules.allowed !== undefined && !toList(rules.allowed).includes(name));
    const servers = toRecord(config.mcpServers);
    return read.servers(withUrls(servers), ["mcpServers"], TOOL_ONLY).map((server) => ({
      ...withOwnFields(read, server, toRecord(servers[server.name])),
      ...(isOff(server.name) && { disabled: true }),
    }));
  },
  into: () => ["mcpServers"],
  link: (url, _, headers) => ({ httpUrl: url, ...(headers && { headers }) }),
});

/** An address over streamable HTTP has a name of its own. */
function withUrls(servers: JsonRecord): JsonRecord {
  const entries = Object.entries(servers).map(([name, value]) => {
    const server = toRecord(value);
    const url = toText(server.httpUrl) ?? toText(server.url);
    return [name, url === undefined ? server : { ...server, url }] as const;
  });
  return { mcpServers: Object.fromEntries(entries) };
}

/** A bare `url` is SSE, unless `type` says otherwise. */
function withOwnFields(read: McpParts, server: McpServer, own: JsonRecord): McpServer {
  const isSse = server.url !== undefined && toText(own.httpUrl) === undefined && own.type !== "http";
  const [allow, deny] = [read.texts(own.includeTools).texts, read.texts(own.excludeTools).texts];
  return {
    ...server,
    ...(isSse && server.transport !== "stdio" && { transport: "sse" as const }),
    ...((allow || deny) && { tools: { ...(allow && { allow }), ...(deny && { deny }) } }),
  };
}

function systemFiles({ platform, env }: AdapterEnv): string[] {
  const folder =
    platform === "darwin"
      ? "/Library/Application Support/GeminiCli"
      : platform === "win32"
        ? "C:\\ProgramData\\gemini-cli"
        : "/etc/gemini-cli";
  return [
    env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || join(folder, "settings.json"),
    env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH || join(folder, "system-defaults.json"),
  ];
}
