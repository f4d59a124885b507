/** What sessarc knows of Claude Code beside its logs, as data: where skills and servers live. */
import { join } from "node:path";
import { type AdapterCapabilities, type SessionEvent, toList, toRecord, toText } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

type McpContract = AdapterCapabilities["mcp"];
type SkillDir = ReturnType<AdapterCapabilities["skills"]["dirs"]>[number];

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
  // A command whose message comes before its name is a prompt as it was typed (rows.ts).
  if (kind === "user") return /^\/[\w:.-]+(?=\s|$)/.exec(text)?.[0];
  return kind === "note"
    ? /<command-name>\s*(\/[\w:.-]+)\s*<\/command-name>/.exec(text.slice(0, 2_000))?.[1]
    : undefined;
}

/** Servers of `.claude.json` (the user's, and those of single projects), of a project's `.mcp.json`, of the administrator. */
export const mcp = (settings: (env: AdapterEnv) => string, home: (env: AdapterEnv) => string): McpContract => ({
  files: (env) => [
    { path: settings(env), scope: "user" },
    { path: ".mcp.json", scope: "project" },
    { path: join(systemFolder(env), "managed-mcp.json"), scope: "system" },
  ],
  syntax: "json",
  variable: "braced",
  servers(config, read) {
    const projects = Object.entries(toRecord(config.projects));
    return [
      ...read.servers(config, ["mcpServers"], TOOL_ONLY),
      ...projects.flatMap(([project, settings]) => {
        const off = toList(toRecord(settings).disabledMcpServers);
        return read.servers(config, ["projects", project, "mcpServers"], TOOL_ONLY).map((server) => ({
          ...server,
          project,
          ...(off.includes(server.name) && { disabled: true }),
        }));
      }),
    ];
  },
  async unapproved(project, names, env, read) {
    const own = toRecord(toRecord((await read(settings(env))).projects)[project]);
    const user = await read(join(home(env), "settings.json"));
    // What comes with a project cannot agree for its user, who trusts it first.
    const local =
      own.hasTrustDialogAccepted === true ? await read(join(project, ".claude", "settings.local.json")) : {};
    const places = [own, user, local];
    if (places.some((place) => place.enableAllProjectMcpServers === true)) return [];
    const agreed = new Set(places.flatMap((place) => toList(place.enabledMcpjsonServers)));
    return names.filter((name) => !agreed.has(name));
  },
  into: () => ["mcpServers"],
  link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
});

/** Fields of a server that are answered by the tool itself. */
const TOOL_ONLY = ["headersHelper", "oauth"];

function systemFolder({ platform, env }: AdapterEnv): string {
  if (platform === "darwin") return "/Library/Application Support/ClaudeCode";
  return platform === "win32" ? join(env.PROGRAMFILES ?? "C:\\Program Files", "ClaudeCode") : "/etc/claude-code";
}
