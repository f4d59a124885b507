/** Where programs of the command line keep their data on each system. */
import { join } from "node:path";
import type { AdapterEnv } from "../contract/adapter.ts";

/**
 * Folders that may hold a program's data: `unix` below `$XDG_DATA_HOME` or `~/.local/share` (macOS, too), `windows` below `%APPDATA%`. With
 * `dir`, a folder that the user chose, those below it as a home, and itself. No file is read.
 */
export function dataFolders(env: AdapterEnv, dir: string | undefined, unix: string, windows: string = unix): string[] {
  const usual = join(".local", "share", unix);
  const roaming = join("AppData", "Roaming");
  if (dir !== undefined) return [join(dir, usual), join(dir, roaming, windows), dir];
  if (env.platform === "win32") return [join(env.env.APPDATA || join(env.home, roaming), windows)];
  return [env.env.XDG_DATA_HOME ? join(env.env.XDG_DATA_HOME, unix) : join(env.home, usual)];
}
