/** Grok Build: a folder per session below `~/.grok/sessions`, with the log of updates and small files of facts and tokens. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";

export interface GrokOptions {
  /** Replaces `~/.grok`. It may also be a home that holds `.grok`, or the folder of sessions. */
  dir?: string;
}

const TOOLS: Readonly<Record<string, ToolRole>> = {
  grep: "search",
  list_dir: "search",
  read_file: "read",
  run_terminal_command: "shell",
  search_replace: "edit",
  spawn_subagent: "agent",
  todo_write: "todo",
  web_search: "search",
  write: "write",
};

export default defineAdapter((options: GrokOptions | undefined) => {
  const toBase = ({ home, env }: AdapterEnv) => options?.dir ?? (env.GROK_HOME || join(home, ".grok"));
  return {
    name: "grok",
    label: "Grok Build",
    tried: "1.0.41",
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "sessions", ".grok/sessions")] : [join(toBase(env), "sessions")],
    async *scan(root) {
      const { scanSessions } = await import("./scan.ts");
      yield* scanSessions(root);
    },
    async parse(ref) {
      const { createParser } = await import("./parse.ts");
      return createParser(ref);
    },
    async peek(ref) {
      const { peek } = await import("./parse.ts");
      return peek(ref);
    },
    tools: TOOLS,
    resume: ({ key }) => ["grok", "--resume", key],
    skills: { dirs: (env) => [{ path: join(toBase(env), "skills"), scope: "user" }] },
    mcp: {
      files: (env) => [{ path: join(toBase(env), "config.toml"), scope: "user" }],
      syntax: "toml",
      variable: "braced",
      servers: (config, read) => read.servers(config, ["mcp_servers"]),
      into: () => ["mcp_servers"],
      link: (url, _, headers) => ({ url, ...(headers && { headers }) }),
      off: () => ({ key: "enabled", value: false }),
    },
    // Every file of the folder is read.
    guard: {
      home: toBase,
      settings: (env) => join(toBase(env), "hooks", "sessarc.json"),
      format: "json",
      waiting: [
        { reports: "notification", list: ["hooks", "Notification"] },
        { reports: "answer", list: ["hooks", "Stop"] },
        { reports: "ended", list: ["hooks", "SessionEnd"] },
      ],
    },
  };
});
