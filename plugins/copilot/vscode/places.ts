/** Where VS Code keeps chats, on each system and for each of its editions. */

import { posix, win32 } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";

const EDITIONS = ["Code", "Code - Insiders", "VSCodium"] as const;
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscodium-server"] as const;
/** Folders of a `<User>` folder that hold chats. */
const CHAT_FOLDERS = ["emptyWindowChatSessions", "transferredChatSessions"] as const;

/** `<User>` folders, whether they exist or not. */
export function userFolders({ home, platform, env }: AdapterEnv): string[] {
  const { join } = platform === "win32" ? win32 : posix;
  const base =
    env.VSCODE_APPDATA ||
    (platform === "win32"
      ? env.APPDATA || join(home, "AppData", "Roaming")
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : env.XDG_CONFIG_HOME || join(home, ".config"));
  const folders = EDITIONS.map((edition) => join(base, edition, "User"));
  if (env.VSCODE_PORTABLE) folders.unshift(join(env.VSCODE_PORTABLE, "user-data", "User"));
  return [...folders, ...SERVERS.map((server) => join(home, server, "data", "User"))];
}

/** The roots of one `<User>` folder: its other folders hold no chats and change all the time. */
export function chatRoots(user: string, platform: NodeJS.Platform): string[] {
  const { join } = platform === "win32" ? win32 : posix;
  return [join(user, "workspaceStorage"), ...CHAT_FOLDERS.map((name) => join(user, "globalStorage", name))];
}

/** `<User>` folders below a folder that stands for a home, for the folder of all editions, for one edition or for `<User>`. */
export function userFoldersBelow(dir: string): string[] {
  const { join } = posix;
  const editions = EDITIONS.map((edition) => join(dir, edition, "User"));
  const homes = (["linux", "darwin", "win32"] as const).flatMap((platform) =>
    userFolders({ home: dir.replaceAll("\\", "/"), platform, env: {} }).map((path) => path.replaceAll("\\", "/")),
  );
  return [...new Set([...homes, ...editions, join(dir, "User"), dir])];
}

/**
 * The folder a URI of `workspace.json` names: percent-decoded; `/c%3A/x` is `C:\x`, a host is a UNC path. Remote folders
 * (WSL, SSH, containers) give their path there; a `.code-workspace` file gives its folder. Undefined for anything else.
 */
export function findFolder(uri: string, isFile = false): string | undefined {
  const [, scheme, host = "", encoded = ""] = uri.match(/^(file|vscode-remote):\/\/([^/]*)(\/[^?#]*)/) ?? [];
  if (scheme === undefined) return undefined;
  let path = decode(encoded);
  if (isFile) {
    // Unnamed workspaces live in VS Code's own folder.
    if (/\/Workspaces\/\d+\/workspace\.json$/.test(path)) return undefined;
    path = path.slice(0, Math.max(1, path.lastIndexOf("/")));
  }
  if (scheme === "file" && host !== "" && host !== "localhost")
    return `\\\\${decode(host)}${path.replaceAll("/", "\\")}`;
  const drive = path.match(/^\/([A-Za-z]):(.*)$/s);
  if (drive) return `${drive[1]?.toUpperCase()}:${(drive[2] || "/").replaceAll("/", "\\")}`;
  return path.length > 1 ? path.replace(/\/$/, "") : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % sign: taken as written
  }
}
