/** Mistral Vibe: a folder per session below `~/.vibe/logs/session`, messages and facts in two files. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";

export interface VibeOptions {
  /** Replaces `~/.vibe`. It may also be a home that holds `.vibe`, or the folder of sessions. */
  dir?: string;
}

const TOOLS: Readonly<Record<string, ToolRole>> = {
  bash: "shell",
  edit: "edit",
  grep: "search",
  read: "read",
  read_file: "read",
  search_replace: "edit",
  task: "agent",
  todo: "todo",
  webfetch: "fetch",
  write_file: "write",
};

export default defineAdapter((options: VibeOptions | undefined) => {
  const toBase = ({ home, env }: AdapterEnv) => options?.dir ?? (env.VIBE_HOME || join(home, ".vibe"));
  return {
    name: "vibe",
    label: "Mistral Vibe",
    roots: (env) =>
      options?.dir
        ? [folderIn(options.dir, "logs/session", ".vibe/logs/session")]
        : [join(toBase(env), "logs", "session")],
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
    resume: ({ key }) => ["vibe", "--resume", key],
    skills: { dirs: (env) => [{ path: join(toBase(env), "skills"), scope: "user" }] },
    guard: {
      home: toBase,
      settings: (env) => join(toBase(env), "hooks.toml"),
      format: "toml",
      list: ["hooks"],
      // A hook with `strict` blocks when it fails.
      entry: ({ command, onFailure }) => ({
        name: "sessarc",
        type: "pre_tool",
        match: "*",
        command,
        timeout: 10,
        strict: onFailure === "block",
      }),
      deny: (reason) => ({ decision: "deny", reason }),
    },
  };
});
