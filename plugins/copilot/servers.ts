/** Tool-protocol servers of the command line: `mcp-config.json`, and files of a project. */
import { join } from "node:path";
import { type AdapterCapabilities, toRecord } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

type McpContract = AdapterCapabilities["mcp"];

/** Fields of a server that are answered by the tool itself. */
const TOOL_ONLY = ["oauthClientId", "oauthPublicClient", "auth", "oidc"];

/** VS Code keeps its own: they are the hub's to know. `.mcp.json` is Claude Code's as well. */
export const mcp = (cliHome: (env: AdapterEnv) => string): McpContract => ({
  files: (env) => [
    { path: join(cliHome(env), "mcp-config.json"), scope: "user" },
    { path: join(".github", "mcp.json"), scope: "project" },
    { path: ".mcp.json", scope: "project" },
  ],
  syntax: "json",
  variable: "braced",
  servers: (config, read) =>
    read.servers(config, ["mcpServers"], TOOL_ONLY).map((server) => {
      const own = toRecord(toRecord(config.mcpServers)[server.name]);
      const [shown, deny] = [read.texts(own.tools).texts, read.texts(own.excludeTools).texts];
      // An empty list shows none.
      const allow = shown && !shown.includes("*") ? shown : undefined;
      const tools = { ...(allow && { allow }), ...(deny && { deny }), ...(allow?.length === 0 && { deny: ["*"] }) };
      return Object.keys(tools).length > 0 ? { ...server, tools } : server;
    }),
  into: () => ["mcpServers"],
  link: (url, _, headers) => ({ type: "http", url, tools: ["*"], ...(headers && { headers }) }),
});
