/** Kimi Code, the older Kimi CLI and Kimi Work: a folder per session, a log per agent. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, documentSessions, folderIn, type ToolRole } from "sessarc/adapter";

export interface KimiOptions {
  /** Replaces `~/.kimi-code` and `~/.kimi`. It may also be a home that holds them, or the folder of sessions. */
  dir?: string;
  /** Which program; default `kimi`. */
  variant?: "kimi" | "kimi-work";
}

const TOOLS: Readonly<Record<string, ToolRole>> = {
  Agent: "agent",
  AgentSwarm: "agent",
  Bash: "shell",
  Edit: "edit",
  FetchURL: "fetch",
  Glob: "search",
  Grep: "search",
  Read: "read",
  ReadFile: "read",
  SearchWeb: "search",
  SetTodoList: "todo",
  Shell: "shell",
  StrReplaceFile: "edit",
  Task: "agent",
  TodoList: "todo",
  Write: "write",
  WriteFile: "write",
};

/** Logs of Kimi Code lie in a folder per agent and are appended to; the older CLI spreads a session over two files. */
const isNew = ({ path }: { path: string }) => /[\\/]agents[\\/][^\\/]+[\\/]wire\.jsonl$/.test(path);

export default defineAdapter((options: KimiOptions | undefined) => {
  const isWork = options?.variant === "kimi-work";
  const toBase = (env: AdapterEnv) =>
    options?.dir ?? (isWork ? workHome(env) : env.env.KIMI_CODE_HOME || join(env.home, ".kimi-code"));
  return {
    name: isWork ? "kimi-work" : "kimi",
    label: isWork ? "Kimi Work" : "Kimi Code",
    ...(!isWork && { tried: "2.1.0" }),
    roots: (env) => {
      if (options?.dir) return foldersIn(options.dir);
      const sessions = join(toBase(env), "sessions");
      return isWork ? [sessions] : [sessions, join(env.env.KIMI_SHARE_DIR || join(env.home, ".kimi"), "sessions")];
    },
    async *scan(root) {
      const { scanSessions } = await import("./scan.ts");
      yield* scanSessions(root, isWork);
    },
    appends: isNew,
    async parse(ref) {
      const { createParser } = await import("./parse.ts");
      return createParser(ref);
    },
    open: documentSessions({ read: async (ref) => (await import("./old.ts")).readOldSession(ref) }).open,
    async peek(ref) {
      if (!isNew(ref)) return {};
      const { peek } = await import("./parse.ts");
      return peek(ref);
    },
    tools: TOOLS,
    ...(!isWork && {
      resume: ({ key, path }: { key: string; path: string }) =>
        isNew({ path }) && !key.includes("/") ? ["kimi", "-S", key] : undefined,
      skills: { dirs: (env) => [{ path: join(toBase(env), "skills"), scope: "user" }] },
      mcp: {
        files: (env) => [
          { path: join(toBase(env), "mcp.json"), scope: "user" },
          { path: join(".kimi-code", "mcp.json"), scope: "project" },
        ],
        syntax: "json",
        variable: "braced",
        servers: (config, read) => read.servers(config, ["mcpServers"]),
        into: () => ["mcpServers"],
        link: (url, _, headers) => ({ url, ...(headers && { headers }) }),
      },
      guard: {
        home: toBase,
        settings: (env) => join(toBase(env), "config.toml"),
        format: "toml",
        list: ["hooks"],
        // Another field makes Kimi refuse the whole file. Without a matcher it matches every tool.
        entry: ({ command }) => ({ event: "PreToolUse", command, timeout: 10 }),
        // Its hooks are one list; each names its event.
        waiting: (
          [
            ["PermissionRequest", "permission"],
            ["Stop", "answer"],
            ["Interrupt", "answer"],
            ["SessionEnd", "ended"],
          ] as const
        ).map(([event, reports]) => ({ reports, list: ["hooks"], entry: ({ command }) => ({ event, command }) })),
      },
    }),
  };
});

function foldersIn(dir: string): string[] {
  const both = [".kimi-code", ".kimi"].map((name) => join(dir, name, "sessions")).filter((path) => existsSync(path));
  return both.length > 0 ? both : [folderIn(dir, "sessions")];
}

function workHome({ home, platform, env }: AdapterEnv): string {
  const data =
    platform === "darwin"
      ? join(home, "Library", "Application Support")
      : platform === "win32"
        ? env.APPDATA || join(home, "AppData", "Roaming")
        : env.XDG_CONFIG_HOME || join(home, ".config");
  return join(data, "kimi-desktop", "daimon-share", "daimon", "runtime", "kimi-code", "home");
}
