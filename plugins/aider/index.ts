/** Aider: a Markdown file per repository that holds all chats about it. */
import { join } from "node:path";
import { defineAdapter } from "sessarc/adapter";

export interface AiderOptions {
  /** A folder of repositories: histories are looked for in it and five levels below. */
  dir?: string;
}

const HISTORY = ".aider.chat.history.md";

export default defineAdapter((options: AiderOptions | undefined) => ({
  name: "aider",
  label: "Aider",
  // A history lies in its repository: the user adds the folders where those are.
  roots: ({ home, env }) =>
    options?.dir
      ? [options.dir]
      : [join(home, HISTORY), ...(env.AIDER_CHAT_HISTORY_FILE ? [env.AIDER_CHAT_HISTORY_FILE] : [])],
  async *scan(root) {
    const { scanHistories } = await import("./history.ts");
    yield* scanHistories(root, HISTORY);
  },
  async open(path) {
    const { openHistory } = await import("./history.ts");
    return openHistory(path);
  },
}));
