/** Where editors made of VS Code keep what their extensions store. */
import { join } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";

const APPS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server"];

/**
 * `<User>` folders of the usual editors, then of `apps`, and of their servers on remote machines; they need not exist. `globalStorage`
 * in each holds a folder for every extension.
 */
export function editorFolders({ home, platform, env }: AdapterEnv, apps: readonly string[] = []): string[] {
  const base =
    platform === "win32"
      ? env.APPDATA || join(home, "AppData", "Roaming")
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : env.XDG_CONFIG_HOME || join(home, ".config");
  const portable = env.VSCODE_PORTABLE ? [join(env.VSCODE_PORTABLE, "user-data", "User")] : [];
  const folders = [...APPS, ...apps].map((app) => join(base, app, "User"));
  return [...portable, ...folders, ...SERVERS.map((server) => join(home, server, "data", "User"))];
}
