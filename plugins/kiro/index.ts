/** Kiro's command line, and Amazon Q's, from which it was made. */
import { join } from "node:path";
import { toRecord, toText } from "sessarc";
import {
  type AdapterEnv,
  defineAdapter,
  fileStamp,
  readDocument,
  readFolderInSlices,
  sqliteSessions,
  toTitle,
} from "sessarc/adapter";

export interface KiroOptions {
  /** Read only below this folder: a home, the folder of `data.sqlite3`, or one that holds `sessions/cli`. */
  dir?: string;
  /** Which assistant; default `kiro`. */
  variant?: "kiro" | "amazon-q";
}

const MEMBERS = {
  kiro: { name: "kiro", label: "Kiro", data: "kiro-cli" },
  "amazon-q": { name: "amazon-q", label: "Amazon Q", data: "amazon-q" },
} as const;

const DATABASE = "data.sqlite3";

export default defineAdapter((options: KiroOptions | undefined) => {
  const dir = options?.dir;
  const member = MEMBERS[options?.variant ?? "kiro"];
  const kiroFolder = (env: AdapterEnv) => (dir === undefined && env.env.KIRO_HOME) || join(dir ?? env.home, ".kiro");
  const store = sqliteSessions({
    list: async (db) => (await import("./database.ts")).listConversations(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./database.ts")).readConversation(db, ref, onBytes);
    },
  });

  return {
    name: member.name,
    label: member.label,
    roots(env) {
      const databases = toDatabases(member.data, dir, env);
      if (member.name !== "kiro") return databases;
      return [
        ...databases,
        join(kiroFolder(env), "sessions", "cli"),
        ...(dir === undefined ? [] : [join(dir, "sessions", "cli")]),
      ];
    },
    async *scan(root) {
      if (root.endsWith(DATABASE)) return yield* await store.list(root);
      for (const entry of await readFolderInSlices(root)) {
        if (!entry.isFile() || !entry.name.endsWith(".jsonl")) continue;
        const path = join(root, entry.name);
        const stamp = await fileStamp(path, [toSidecar(path)]);
        if (stamp) yield { key: entry.name.slice(0, -6), path, ...stamp };
      }
    },
    async peek(ref) {
      if (!ref.path.endsWith(".jsonl")) return {};
      const facts = toRecord((await readDocument(toSidecar(ref.path)))?.value);
      return { title: toTitle(toText(facts.title)), cwd: toText(facts.cwd) };
    },
    appends: ({ path }) => path.endsWith(".jsonl"),
    parse: async (ref) => (await import("./log.ts")).createLogParser(toSidecar(ref.path)),
    open: store.open,

    tools: {
      fs_read: "read",
      fs_write: "write",
      execute_bash: "shell",
      execute_cmd: "shell",
      grep: "search",
      glob: "search",
      todo_list: "todo",
      delegate: "agent",
      use_subagent: "agent",
      web_fetch: "fetch",
      web_search: "fetch",
    },
    ...(member.name === "kiro" && {
      skills: {
        dirs: (env) => [
          { path: join(".kiro", "skills"), scope: "project" },
          { path: join(kiroFolder(env), "skills"), scope: "user" },
        ],
      },
      mcp: {
        files: (env) => [
          { path: join(kiroFolder(env), "settings", "mcp.json"), scope: "user" },
          { path: join(".kiro", "settings", "mcp.json"), scope: "project" },
        ],
        syntax: "json",
        variable: "braced",
        servers: (config, read) => read.servers(config, ["mcpServers"]),
        into: () => ["mcpServers"],
        link: (url, _, headers) => ({ url, ...(headers && { headers }) }),
        off: () => ({ key: "disabled", value: true }),
      },
    }),
  };
});

/** Title and folder of a log. */
const toSidecar = (log: string) => `${log.slice(0, -"jsonl".length)}json`;

/** On macOS among the applications' data, elsewhere among the user's. */
function toDatabases(folder: string, dir: string | undefined, { home, platform, env }: AdapterEnv): string[] {
  const mac = join("Library", "Application Support", folder);
  const usual = join(".local", "share", folder);
  if (dir !== undefined) return [join(dir, usual), join(dir, mac), dir].map((path) => join(path, DATABASE));
  const data =
    platform === "darwin" ? join(home, mac) : env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, folder) : join(home, usual);
  return [join(data, DATABASE)];
}
