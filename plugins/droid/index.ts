/** Factory Droid: one JSON-lines file per session below `~/.factory/sessions`, its tokens in a settings file beside it. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";

export interface DroidOptions {
  /** Replaces `~/.factory`. It may also be a home that holds `.factory`, or the folder of sessions. */
  dir?: string;
}

const TOOLS: Readonly<Record<string, ToolRole>> = {
  ApplyPatch: "patch",
  Create: "write",
  Edit: "edit",
  Execute: "shell",
  FetchUrl: "fetch",
  Glob: "search",
  Grep: "search",
  LS: "search",
  MultiEdit: "edit",
  Read: "read",
  Task: "agent",
  TodoWrite: "todo",
  WebSearch: "search",
};

export default defineAdapter((options: DroidOptions | undefined) => {
  const toBase = ({ home }: AdapterEnv) => options?.dir ?? join(home, ".factory");
  return {
    name: "droid",
    label: "Factory Droid",
    tried: "0.215.0",
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "sessions", ".factory/sessions")] : [join(toBase(env), "sessions")],
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
    resume: ({ key }) => ["droid", "--resume", key],
    skills: { dirs: (env) => [{ path: join(toBase(env), "skills"), scope: "user" }] },
    mcp: {
      files: (env) => [{ path: join(toBase(env), "mcp.json"), scope: "user" }],
      syntax: "json",
      variable: "braced",
      servers: (config, read) => read.servers(config, ["mcpServers"]),
      into: () => ["mcpServers"],
      link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
      off: () => ({ key: "disabled", value: true }),
    },
    guard: {
      home: toBase,
      settings: (env) => join(toBase(env), "settings.json"),
      format: "json",
      waiting: [
        { reports: "notification", list: ["hooks", "Notification"] },
        { reports: "answer", list: ["hooks", "Stop"] },
        { reports: "ended", list: ["hooks", "SessionEnd"] },
      ],
    },
  };
});
