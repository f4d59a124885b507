/** VS Code's own files. The sessions of its chats are Copilot's to read; these are the editor's. */
import { readdir } from "node:fs/promises";
import { posix, win32 } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";
import type { McpContract, McpFile } from "./contract.ts";

const EDITIONS = ["Code", "Code - Insiders", "VSCodium"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscodium-server"];

/** The file for servers, and the settings, which held them in earlier versions and which the editor still reads. */
const NAMES = ["mcp.json", "settings.json"];
const PATHS = [["servers"], ["mcp", "servers"]];

/** Fields of a server that the editor answers itself. */
const TOOL_ONLY = ["envFile", "sandbox", "sandboxEnabled", "dev", "oauth"];

export const vscode: McpContract & { name: string; label: string } = {
  name: "vscode",
  label: "VS Code",
  files: (env) => [
    ...userFolders(env).flatMap((folder) => filesIn(folder, env)),
    ...NAMES.map((name): McpFile => ({ path: posix.join(".vscode", name), scope: "project" })),
  ],
  syntax: "jsonc",
  variable: "env",
  servers: (config, read) => PATHS.flatMap((path) => read.servers(config, path, TOOL_ONLY)),
  into: (_, path) => (/[\\/]mcp\.json$/.test(path) ? ["servers"] : undefined),
  link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
};

/** With the files of its profiles, which are folders that have to be looked for. */
export async function withProfiles(env: AdapterEnv): Promise<McpContract> {
  const { join } = toPaths(env);
  const found = await Promise.all(
    userFolders(env).map(async (user) => {
      const names = await readdir(join(user, "profiles")).catch(() => []);
      return names.sort().flatMap((name) => filesIn(join(user, "profiles", name), env));
    }),
  );
  const [user, profiles] = [vscode.files(env), found.flat()];
  return { ...vscode, files: () => [...user, ...profiles] };
}

const toPaths = ({ platform }: AdapterEnv) => (platform === "win32" ? win32 : posix);

const filesIn = (folder: string, env: AdapterEnv): McpFile[] =>
  NAMES.map((name) => ({ path: toPaths(env).join(folder, name), scope: "user" }));

function userFolders(of: AdapterEnv): string[] {
  const { home, platform, env } = of;
  const { join } = toPaths(of);
  const base =
    platform === "win32"
      ? env.APPDATA || join(home, "AppData", "Roaming")
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : env.XDG_CONFIG_HOME || join(home, ".config");
  const portable = env.VSCODE_PORTABLE ? [join(env.VSCODE_PORTABLE, "user-data", "User")] : [];
  const folders = [...portable, ...EDITIONS.map((edition) => join(env.VSCODE_APPDATA || base, edition, "User"))];
  return [...folders, ...SERVERS.map((name) => join(home, name, "data", "User"))];
}
