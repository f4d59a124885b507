/** Where Cursor keeps conversations on this machine. */

import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";

export interface CursorOptions {
  /**
   * Read only below this path instead of the user's home: a home (`<dir>/.config/Cursor/User`, `<dir>/.cursor`, the macOS and Windows
   * places too), a `User` folder (holding `globalStorage` or `workspaceStorage`), or a `.cursor` folder (holding `projects` or `chats`).
   */
  dir?: string;
}

export interface Places {
  /** Databases with the conversations of all windows. */
  global: string[];
  /** Folders with one folder per window's workspace. */
  workspaces: string[];
  /** Folders with agent transcripts per project. */
  projects: string[];
  /** Folders of the command line's chats. */
  chats: string[];
}

const LINUX = [".config", "Cursor", "User"];
const USER_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["Library", "Application Support", "Cursor", "User"],
  win32: ["AppData", "Roaming", "Cursor", "User"],
  linux: LINUX,
};

/** Existence tests only; the usual places are named even where nothing is. */
export function toPlaces(options: CursorOptions | undefined, env: AdapterEnv): Places {
  const dir = options?.dir;
  if (dir === undefined) return below([userFolder(env)], [join(env.home, ".cursor")]);
  const users = Object.values(USER_FOLDERS).map((parts) => join(dir, ...parts));
  const dots = [join(dir, ".cursor")];
  const isUser = has(dir, "globalStorage") || has(dir, "workspaceStorage");
  if (isUser) users.push(dir);
  if (has(dir, "projects") || has(dir, "chats")) dots.push(dir);
  const usual = new Set([join(dir, ...LINUX), dots[0]]);
  const real = (paths: string[]) => paths.filter((path) => usual.has(path) || has(path));
  return below(real(users), real(dots));
}

/** The database of all windows that goes with a workspace's database (`<User>/workspaceStorage/<id>/state.vscdb`). */
export const globalBeside = (workspaceDb: string) =>
  join(dirname(dirname(dirname(workspaceDb))), "globalStorage", "state.vscdb");

function userFolder(env: AdapterEnv): string {
  if (env.platform === "win32" && env.env.APPDATA) return join(env.env.APPDATA, "Cursor", "User");
  if (env.platform === "linux" && env.env.XDG_CONFIG_HOME) return join(env.env.XDG_CONFIG_HOME, "Cursor", "User");
  return join(env.home, ...(USER_FOLDERS[env.platform] ?? LINUX));
}

const below = (users: readonly string[], dots: readonly string[]): Places => ({
  global: users.map((user) => join(user, "globalStorage", "state.vscdb")),
  workspaces: users.map((user) => join(user, "workspaceStorage")),
  projects: dots.map((dot) => join(dot, "projects")),
  chats: dots.map((dot) => join(dot, "chats")),
});

const has = (...parts: string[]) => statSync(join(...parts), { throwIfNoEntry: false })?.isDirectory() ?? false;
