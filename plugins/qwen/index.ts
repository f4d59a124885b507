/** Qwen Code and iFlow: one JSON-lines file per session below `projects`, Qwen's sub-agents in files of their own. */
import { join } from "node:path";
import { type JsonRecord, toRecord, toText } from "sessarc";
import { type AdapterEnv, defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";
import { traces } from "./traces.ts";

export interface QwenOptions {
  /** Replaces `~/.qwen` (`~/.iflow`). It may also be a home that holds it, or the folder of projects. */
  dir?: string;
  /** Which assistant; default `qwen`. */
  variant?: keyof typeof VARIANTS;
}

const VARIANTS = {
  qwen: { label: "Qwen Code", folder: ".qwen", variables: ["QWEN_RUNTIME_DIR", "QWEN_HOME"], tried: "0.24.4" },
  iflow: { label: "iFlow", folder: ".iflow", variables: [] as string[], tried: undefined },
};

const TOOLS: Readonly<Record<string, ToolRole>> = {
  agent: "agent",
  edit: "edit",
  glob: "search",
  grep_search: "search",
  list_directory: "search",
  notebook_edit: "edit",
  read_file: "read",
  read_many_files: "read",
  replace: "edit",
  run_shell_command: "shell",
  search_file_content: "search",
  task: "agent",
  todo_write: "todo",
  web_fetch: "fetch",
  web_search: "search",
  write_file: "write",
};

export default defineAdapter((options: QwenOptions | undefined) => {
  const name = options?.variant ?? "qwen";
  const { label, folder, variables, tried } = VARIANTS[name];
  const isQwen = name === "qwen";
  const toBase = ({ home, env }: AdapterEnv) =>
    options?.dir ?? variables.map((variable) => env[variable]).find(Boolean) ?? join(home, folder);
  return {
    name,
    label,
    ...(tried && { tried }),
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "projects", `${folder}/projects`)] : [join(toBase(env), "projects")],
    async *scan(root) {
      const { scanProjects } = await import("./scan.ts");
      yield* scanProjects(root);
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
    ...(isQwen && {
      traces: traces(toBase),
      resume: ({ key }: { key: string }) => (key.startsWith("agent-") ? undefined : ["qwen", "--resume", key]),
      skills: {
        dirs: (env) => [
          { path: join(".qwen", "skills"), scope: "project" },
          { path: join(toBase(env), "skills"), scope: "user" },
        ],
      },
      mcp: {
        files: (env) => [
          { path: join(toBase(env), "settings.json"), scope: "user" },
          { path: join(".qwen", "settings.json"), scope: "project" },
        ],
        syntax: "jsonc",
        variable: "braced",
        servers: (config, read) => read.servers(withUrls(config), ["mcpServers"]),
        into: () => ["mcpServers"],
        link: (url, _, headers) => ({ httpUrl: url, ...(headers && { headers }) }),
      },
      guard: {
        home: toBase,
        settings: (env) => join(toBase(env), "settings.json"),
        format: "jsonc",
        // Without a time limit, as its versions differ in the unit. The command has its own.
        entry: ({ command }) => ({ matcher: "*", hooks: [{ name: "sessarc", type: "command", command }] }),
        waiting: [
          { reports: "notification", list: ["hooks", "Notification"] },
          { reports: "answer", list: ["hooks", "Stop"] },
          { reports: "ended", list: ["hooks", "SessionEnd"] },
        ],
      },
    }),
  };
});

/** An address over streamable HTTP has a name of its own. */
function withUrls(config: JsonRecord): JsonRecord {
  const servers = Object.entries(toRecord(config.mcpServers)).map(([name, value]) => {
    const server = toRecord(value);
    const url = toText(server.httpUrl) ?? toText(server.url);
    return [name, url === undefined ? server : { ...server, url }] as const;
  });
  return { mcpServers: Object.fromEntries(servers) };
}
