/** Tool-protocol servers in `mcp-config.json` (CLI) and `mcp.json` (VS Code). */
import type { McpServerEntry } from "sessarc";
import { type Fields, fieldsOf, isFields, stringOf } from "./_shape.ts";

/** Servers under `mcpServers` or `servers`; throws SyntaxError when the text is not strict JSON. */
export function parseServers(text: string): McpServerEntry[] {
  const config = fieldsOf(JSON.parse(text));
  const servers = isFields(config.mcpServers) ? config.mcpServers : fieldsOf(config.servers);
  return Object.entries(servers).flatMap(([name, value]) => (isFields(value) ? entryOf(name, value) : []));
}

function entryOf(name: string, server: Fields): McpServerEntry[] {
  const { type } = server;
  const url = stringOf(server.url);
  const command = stringOf(server.command);
  const disabled = server.disabled === true ? { disabled: true } : {};
  if (url !== undefined && command === undefined) {
    const headers = isFields(server.headers) ? { headers: stringMap(server.headers) } : {};
    return [{ name, transport: type === "sse" ? "sse" : "http", url, ...headers, ...disabled }];
  }
  if (command === undefined) return [];
  const cwd = stringOf(server.cwd);
  const args = Array.isArray(server.args) ? server.args.filter((arg) => typeof arg === "string") : undefined;
  return [
    {
      name,
      transport: "stdio",
      command,
      ...(args && { args }),
      ...(isFields(server.env) && { env: stringMap(server.env) }),
      ...(cwd !== undefined && { cwd }),
      ...disabled,
    },
  ];
}

function stringMap(value: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (typeof item === "string" ? [[key, item]] : [])),
  );
}
