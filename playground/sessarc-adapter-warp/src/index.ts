/** Warp: conversations of its agent, rows of the terminal's database. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, sqliteSessions } from "sessarc/adapter";
import { listConversations, readConversation } from "./conversations.ts";

export interface WarpOptions {
  /** The folder that holds `warp.sqlite`. */
  dir?: string;
}

const DATABASE = "warp.sqlite";

export default defineAdapter((options: WarpOptions | undefined) => {
  const store = sqliteSessions({ list: listConversations, read: readConversation });
  return {
    name: "warp",
    label: "Warp",
    compatibility: "^1",
    roots: (env) => [join(options?.dir ?? dataFolder(env), DATABASE)],
    async *scan(root) {
      yield* await store.list(root);
    },
    open: store.open,
  };
});

function dataFolder({ home, platform, env }: AdapterEnv): string {
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "warp", "Warp", "data");
  if (platform === "darwin")
    return join(home, "Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application Support/dev.warp.Warp-Stable");
  return join(env.XDG_STATE_HOME || join(home, ".local", "state"), "warp-terminal");
}
