/** VS Code's own files. The sessions of its chats are Copilot's to read; these are the editor's, whoever asks in it. */
import { posix, win32 } from "node:path";
import { type AdapterEnv, ENV_VARIABLE, type McpContract, mcpServers } from "sessarc";

const EDITIONS = ["Code", "Code - Insiders", "VSCodium"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscodium-server"];

/** Fields of a server that the editor answers itself. */
const TOOL_ONLY = ["envFile", "sandbox", "sandboxEnabled", "dev", "oauth"];

export const vscode: McpContract & { name: string; label: string } = {
  name: "vscode",
  label: "VS Code",
  files: (env) => [
    ...userFiles(env).map((path) => ({ path, scope: "user" as const })),
    { path: posix.join(".vscode", "mcp.json"), scope: "project" },
  ],
  syntax: "jsonc",
  variable: ENV_VARIABLE,
  servers: (config) => mcpServers(config, ["servers"], TOOL_ONLY),
  link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
};

function userFiles({ home, platform, env }: AdapterEnv): string[] {
  const { join } = platform === "win32" ? win32 : posix;
  const base =
    platform === "win32"
      ? env.APPDATA || join(home, "AppData", "Roaming")
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : env.XDG_CONFIG_HOME || join(home, ".config");
  const portable = env.VSCODE_PORTABLE ? [join(env.VSCODE_PORTABLE, "user-data", "User")] : [];
  const folders = [...portable, ...EDITIONS.map((edition) => join(env.VSCODE_APPDATA || base, edition, "User"))];
  return [...folders, ...SERVERS.map((name) => join(home, name, "data", "User"))].map((user) => join(user, "mcp.json"));
}
