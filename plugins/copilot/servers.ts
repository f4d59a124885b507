/** Tool-protocol servers in `mcp-config.json` (CLI) and `mcp.json` (VS Code). */
import { isRecord, type JsonRecord, type McpServerEntry, toRecord, toText } from "sessarc";

/** Servers under `mcpServers` or `servers`; throws SyntaxError when the text is not strict JSON. */
export function parseServers(text: string): McpServerEntry[] {
  const config = toRecord(JSON.parse(text));
  const servers = isRecord(config.mcpServers) ? config.mcpServers : toRecord(config.servers);
  return Object.entries(servers).flatMap(([name, value]) => (isRecord(value) ? entryOf(name, value) : []));
}

function entryOf(name: string, server: JsonRecord): McpServerEntry[] {
  const { type } = server;
  const url = toText(server.url);
  const command = toText(server.command);
  const disabled = server.disabled === true ? { disabled: true } : {};
  if (url !== undefined && command === undefined) {
    const headers = isRecord(server.headers) ? { headers: stringMap(server.headers) } : {};
    return [{ name, transport: type === "sse" ? "sse" : "http", url, ...headers, ...disabled }];
  }
  if (command === undefined) return [];
  const cwd = toText(server.cwd);
  const args = Array.isArray(server.args) ? server.args.filter((arg) => typeof arg === "string") : undefined;
  return [
    {
      name,
      transport: "stdio",
      command,
      ...(args && { args }),
      ...(isRecord(server.env) && { env: stringMap(server.env) }),
      ...(cwd !== undefined && { cwd }),
      ...disabled,
    },
  ];
}

function stringMap(value: JsonRecord): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (typeof item === "string" ? [[key, item]] : [])),
  );
}
