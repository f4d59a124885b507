/** What sessarc knows of Claude Code beside its logs, as data: where skills and servers live. */
import { join } from "node:path";
import { isRecord, type McpServerEntry, type SessionEvent, type SkillDir, toRecord, toText } from "sessarc";

/** `homes`: the tool's configuration folders. A skill of a project is looked for below the project. */
export function skillDirs(homes: readonly string[]): SkillDir[] {
  return [
    { path: join(".claude", "skills"), scope: "project" },
    ...homes.map((home): SkillDir => ({ path: join(home, "skills"), scope: "user" })),
  ];
}

/** Calls of the tool `Skill` (`command` before 2.0), and what the user typed after a slash, which may be one. */
export function usedSkill({ kind, tool_name, tool_input, text }: SessionEvent): string | undefined {
  if (kind === "tool_use" && tool_name === "Skill") {
    const { skill, command } = toRecord(tool_input);
    return toText(skill) ?? toText(command);
  }
  return kind === "note"
    ? /<command-name>\s*(\/[\w:.-]+)\s*<\/command-name>/.exec(text.slice(0, 2_000))?.[1]
    : undefined;
}

/**
 * Servers under `mcpServers`, of `.claude.json` for all projects or of a project's `.mcp.json`. Throws a SyntaxError when the text is not
 * strict JSON: the tool does not read such a file either.
 */
export function parseServers(text: string): McpServerEntry[] {
  const config: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  const servers = isRecord(config) && isRecord(config.mcpServers) ? config.mcpServers : {};
  return Object.entries(servers).flatMap(([name, value]) => (isRecord(value) ? (toServer(name, value) ?? []) : []));
}

function toServer(name: string, server: Record<string, unknown>): McpServerEntry | undefined {
  const { type, url, command } = server;
  if (typeof url === "string") {
    const headers = strings(server.headers);
    return { name, transport: type === "sse" ? "sse" : "http", url, ...(headers && { headers }) };
  }
  if (typeof command !== "string" || command === "") return undefined;
  const args = Array.isArray(server.args) ? server.args.filter((arg) => typeof arg === "string") : [];
  const env = strings(server.env);
  return { name, transport: "stdio", command, args, ...(env && { env }) };
}

function strings(value: unknown): Record<string, string> | undefined {
  const pairs = Object.entries(isRecord(value) ? value : {}).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}
