/** What sessarc knows of Codex beside its logs, as data: where skills and servers live. */
import { join } from "node:path";
import { type AdapterCapabilities, isRecord, type SessionEvent, toList, toRecord } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

type McpContract = AdapterCapabilities["mcp"];
type McpParts = Parameters<McpContract["servers"]>[1];
type McpServer = ReturnType<McpContract["servers"]>[number];
type SkillDir = ReturnType<AdapterCapabilities["skills"]["dirs"]>[number];

/** `base` is the tool's own folder; its `skills` is where versions before `.agents` looked. */
export function skillDirs(base: string, home: string | undefined): SkillDir[] {
  return [
    { path: join(".agents", "skills"), scope: "project" },
    ...(home === undefined ? [] : [{ path: join(home, ".agents", "skills"), scope: "user" as const }]),
    { path: join(base, "skills"), scope: "user" },
  ];
}

/** A skill that the user named comes as a note that holds all of it; others are read from the disk. */
export const usedSkill = ({ kind, text }: SessionEvent): string | undefined =>
  kind === "note" ? /^\s*<skill>\s*<name>\s*([^<\n]{1,200}?)\s*<\/name>/.exec(text.slice(0, 2_000))?.[1] : undefined;

/** Fields of a server that are answered by the tool itself; it asks before calls by some of them. */
const TOOL_ONLY = [
  "oauth",
  "oauth_resource",
  "scopes",
  "experimental_environment",
  "tools",
  "default_tools_approval_mode",
];

/** Servers under `mcp_servers` of `config.toml`; what the tool takes from its environment is written `${NAME}`. */
export const mcp = (base: (env: AdapterEnv) => string): McpContract => ({
  files: (env) => [
    { path: join(base(env), "config.toml"), scope: "user" },
    { path: join(".codex", "config.toml"), scope: "project" },
  ],
  syntax: "toml",
  variable: "braced",
  servers: (config, read) =>
    read
      .servers(config, ["mcp_servers"], TOOL_ONLY)
      .map((server) => withOwnFields(read, server, toRecord(config.mcp_servers))),
  into: () => ["mcp_servers"],
  link: (url, _, headers) => ({ url, ...(headers && { http_headers: headers }) }),
  off: () => ({ key: "enabled", value: false }),
});

function withOwnFields(read: McpParts, server: McpServer, servers: Record<string, unknown>): McpServer {
  const own = toRecord(servers[server.name]);
  const { bearer_token_env_var: bearer, tool_timeout_sec: seconds } = own;
  const [http, fromEnv] = [read.values(own.http_headers), read.values(own.env_http_headers)];
  const headers = some({
    ...http.values,
    ...references(fromEnv.values ?? {}),
    ...(typeof bearer === "string" && { Authorization: `Bearer \${${bearer}}` }),
  });
  const env = some({ ...passed(own.env_vars), ...server.env });
  const [allow, deny] = [read.texts(own.enabled_tools).texts, read.texts(own.disabled_tools).texts];
  const unreadable = [http.unreadable && "http_headers", fromEnv.unreadable && "env_http_headers"];
  const only = [...(server.only ?? []), ...unreadable.filter((field) => typeof field === "string")];
  return {
    ...server,
    ...(server.transport === "stdio" ? env && { env } : headers && { headers }),
    ...(typeof seconds === "number" && { timeoutMs: Math.round(seconds * 1_000) }),
    ...((allow || deny) && { tools: { ...(allow && { allow }), ...(deny && { deny }) } }),
    ...(only.length > 0 && { only }),
  };
}

/** Names of variables that are handed on: `["A", { name = "B" }]`. */
function passed(value: unknown): Record<string, string> {
  const names = toList(value).map((one) => (isRecord(one) ? one.name : one));
  return references(Object.fromEntries(names.flatMap((name) => (typeof name === "string" ? [[name, name]] : []))));
}

const references = (names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([key, name]) => [key, `\${${name}}`]));

const some = (pairs: Record<string, string>) => (Object.keys(pairs).length > 0 ? pairs : undefined);
