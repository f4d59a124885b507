/** Zed: threads of its own agent. Agents that run inside Zed keep logs of their own. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, sqliteSessions } from "sessarc/adapter";

export interface ZedOptions {
  /** Read only below this folder: a home, or one that holds `threads`. */
  dir?: string;
}

const MAC = ["Library", "Application Support", "Zed"];
const LINUX = [".local", "share", "zed"];
const FLATPAK = [".var", "app", "dev.zed.Zed", "data", "zed"];
const WINDOWS = ["AppData", "Local", "Zed"];

export default defineAdapter((options: ZedOptions | undefined) => {
  const store = sqliteSessions({
    list: async (db) => (await import("./threads.ts")).listThreads(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./threads.ts")).readThread(db, ref, onBytes);
    },
  });
  return {
    name: "zed",
    label: "Zed",
    roots: (env) => dataFolders(options?.dir, env).map((folder) => join(folder, "threads", "threads.db")),
    async *scan(root) {
      yield* await store.list(root);
    },
    open: store.open,

    tools: {
      read_file: "read",
      edit_file: "edit",
      delete_path: "delete",
      move_path: "move",
      terminal: "shell",
      grep: "search",
      find_path: "search",
      list_directory: "search",
      diagnostics: "search",
      fetch: "fetch",
      web_search: "fetch",
      spawn_agent: "agent",
    },
  };
});

function dataFolders(dir: string | undefined, { home, platform, env }: AdapterEnv): string[] {
  if (dir !== undefined) return [...[LINUX, MAC, WINDOWS].map((parts) => join(dir, ...parts)), dir];
  if (platform === "darwin") return [join(home, ...MAC)];
  if (platform === "win32") return [env.LOCALAPPDATA ? join(env.LOCALAPPDATA, "Zed") : join(home, ...WINDOWS)];
  const data = env.FLATPAK_XDG_DATA_HOME || env.XDG_DATA_HOME;
  return [data ? join(data, "zed") : join(home, ...LINUX), join(home, ...FLATPAK)];
}
