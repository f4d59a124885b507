/** gptme: a folder per conversation, one JSON-lines file in it. */
import { join } from "node:path";
import { defineAdapter, folderIn } from "sessarc/adapter";

export interface GptmeOptions {
  /** Replaces `~/.local/share/gptme`. It may also be a home, or the folder of logs. */
  dir?: string;
}

export default defineAdapter((options: GptmeOptions | undefined) => ({
  name: "gptme",
  label: "gptme",
  roots: ({ home, env }) =>
    options?.dir
      ? [folderIn(options.dir, "logs", ".local/share/gptme/logs")]
      : [env.GPTME_LOGS_HOME || join(env.XDG_DATA_HOME || join(home, ".local", "share"), "gptme", "logs")],
  async *scan(root) {
    const { scanSessions } = await import("./log.ts");
    yield* scanSessions(root);
  },
  async parse(ref) {
    const { createParser } = await import("./log.ts");
    return createParser(ref);
  },
  async peek(ref) {
    const { peek } = await import("./log.ts");
    return peek(ref);
  },
}));
