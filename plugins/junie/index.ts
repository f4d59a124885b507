/** Junie's command line: a folder per session below `~/.junie/sessions` and an index of them. */
import { join } from "node:path";
import { defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";

export interface JunieOptions {
  /** Replaces `~/.junie`. It may also be a home that holds `.junie`, or the folder of sessions. */
  dir?: string;
}

/** Its log has kinds of blocks instead of tool names. */
const TOOLS: Readonly<Record<string, ToolRole>> = {
  FileChanges: "edit",
  Terminal: "shell",
  ViewFiles: "read",
};

export default defineAdapter((options: JunieOptions | undefined) => ({
  name: "junie",
  label: "Junie",
  roots: ({ home, env }) =>
    options?.dir
      ? [folderIn(options.dir, "sessions", ".junie/sessions")]
      : [join(env.JUNIE_HOME || join(home, ".junie"), "sessions")],
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
  tools: TOOLS,
  resume: ({ key }) => ["junie", "--resume", "--session-id", key],
}));
