/** What sessarc knows of Codex beside its logs, as data: where skills and servers live. */
import { join } from "node:path";
import { isRecord, type McpServerEntry, type SessionEvent, type SkillDir } from "sessarc";

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

/**
 * Servers under `mcp_servers` of `config.toml`; what the tool takes from its environment is written `${NAME}`. Throws a SyntaxError when
 * the text is not TOML. The parser is loaded by the first call (20 ms).
 */
export async function parseServers(text: string): Promise<McpServerEntry[]> {
  const { parse } = await import("@decimalturn/toml-patch");
  let config: unknown;
  try {
    config = parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw new SyntaxError("not TOML"); // its own message quotes the file, which may hold secrets
  }
  const servers = isRecord(config) && isRecord(config.mcp_servers) ? config.mcp_servers : {};
  return Object.entries(servers).flatMap(([name, value]) => (isRecord(value) ? (toServer(name, value) ?? []) : []));
}

function toServer(name: string, server: Record<string, unknown>): McpServerEntry | undefined {
  const { url, command, cwd, bearer_token_env_var: bearer } = server;
  const disabled = server.enabled === false ? { disabled: true } : {};
  if (typeof url === "string") {
    const headers = some({
      ...strings(server.http_headers),
      ...references(strings(server.env_http_headers)),
      ...(typeof bearer === "string" && { Authorization: `Bearer \${${bearer}}` }),
    });
    return { name, transport: "http", url, ...(headers && { headers }), ...disabled };
  }
  if (typeof command !== "string" || command === "") return undefined;
  const args = listOf(server.args).filter((arg) => typeof arg === "string");
  const env = some({ ...passed(server.env_vars), ...strings(server.env) });
  return {
    name,
    transport: "stdio",
    command,
    args,
    ...(env && { env }),
    ...(typeof cwd === "string" && { cwd }),
    ...disabled,
  };
}

/** Names of variables that are handed on: `["A", { name = "B" }]`. */
function passed(value: unknown): Record<string, string> {
  const names = listOf(value).map((one) => (isRecord(one) ? one.name : one));
  return references(Object.fromEntries(names.flatMap((name) => (typeof name === "string" ? [[name, name]] : []))));
}

const references = (names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([key, name]) => [key, `\${${name}}`]));

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const some = (pairs: Record<string, string>) => (Object.keys(pairs).length > 0 ? pairs : undefined);

function strings(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter(
      (pair): pair is [string, string] => typeof pair[1] === "string",
    ),
  );
}
