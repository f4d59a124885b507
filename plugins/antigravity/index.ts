/** Antigravity: conversations of its command line, its desktop application and its IDE. */
import { basename, dirname, join } from "node:path";
import { type JsonRecord, type SessionRef, toRecord } from "sessarc";
import { type AdapterEnv, defineAdapter, documentSessions, readFolderInSlices, sqliteVersion } from "sessarc/adapter";
import { isGone } from "sessarc/files";
import { traces } from "./traces.ts";

export interface AntigravityOptions {
  /** Read only below this folder: a home, or one of Antigravity's folders (with `conversations` or `brain`). */
  dir?: string;
}

type Facts = Pick<SessionRef, "title" | "cwd">;

const PROGRAMS = ["antigravity-cli", "antigravity", "antigravity-ide"];

export default defineAdapter((options: AntigravityOptions | undefined) => {
  const listed = new Map<string, { token: string; facts: ReadonlyMap<string, Facts> }>();
  const documents = documentSessions({
    beside: ({ key, path }) => [`${path}-wal`, ...toTranscripts(toFolder(path), key)],
    async read(ref) {
      const folder = toFolder(ref.path);
      const { readConversation } = await import("./read.ts");
      return readConversation(ref, folder, toTranscripts(folder, ref.key));
    },
  });

  /** Titles and folders of conversations, read when their database changed. */
  async function loadFacts(folder: string): Promise<ReadonlyMap<string, Facts>> {
    const path = join(folder, "conversation_summaries.db");
    try {
      const token = await sqliteVersion(path);
      const known = listed.get(folder);
      if (known?.token === token) return known.facts;
      const facts = await (await import("./read.ts")).readFacts(path);
      listed.set(folder, { token, facts });
      return facts;
    } catch (error) {
      if (isGone(error)) return new Map();
      throw error;
    }
  }

  const foldersOf = ({ home }: AdapterEnv) => PROGRAMS.map((name) => join(options?.dir ?? home, ".gemini", name));

  return {
    name: "antigravity",
    label: "Antigravity",
    roots: (env) => [...foldersOf(env), ...(options?.dir === undefined ? [] : [options.dir])],
    traces: traces(foldersOf),
    async *scan(root) {
      const facts = await loadFacts(root);
      for (const [key, path] of await conversationsIn(root)) {
        const stamp = await documents.stamp({ key, path });
        const own = facts.get(key);
        if (stamp) yield { key, path, ...stamp, ...own, version: `${stamp.version}-${own?.title ?? ""}` };
      }
    },
    token: documents.token,
    open: documents.open,

    tools: {
      view_file: "read",
      view_file_outline: "read",
      view_code_item: "read",
      replace_file_content: "edit",
      multi_replace_file_content: "edit",
      write_to_file: "write",
      run_command: "shell",
      list_dir: "search",
      grep_search: "search",
      find_by_name: "search",
      codebase_search: "search",
      search_web: "fetch",
      read_url_content: "fetch",
    },
    resume: ({ key, path }) => (path.includes("antigravity-cli") ? ["agy", "--conversation", key] : undefined),
    skills: {
      dirs: ({ home }) => [
        { path: join(".agents", "skills"), scope: "project" },
        { path: join(home, ".gemini", "antigravity-cli", "skills"), scope: "user" },
      ],
    },
    mcp: {
      files: ({ home }) => [
        { path: join(home, ".gemini", "config", "mcp_config.json"), scope: "user" },
        { path: join(".agents", "mcp_config.json"), scope: "project" },
      ],
      syntax: "json",
      variable: "env",
      // An address is `serverUrl`.
      servers: (config, read) => read.servers(withUrls(config), ["mcpServers"]),
      into: () => ["mcpServers"],
      link: (url, _, headers) => ({ serverUrl: url, ...(headers && { headers }) }),
      off: () => ({ key: "disabled", value: true }),
    },
  };
});

/** By id: its database, else its transcript, which is all that some versions leave readable. */
async function conversationsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readFolderInSlices(join(folder, "brain"))) {
    if (!entry.isDirectory()) continue;
    const logs = await readFolderInSlices(dirname(toTranscripts(folder, entry.name)[0] ?? ""));
    const names = new Set(logs.flatMap((log) => (log.isFile() ? [log.name] : [])));
    const path = toTranscripts(folder, entry.name).find((log) => names.has(basename(log)));
    if (path) found.set(entry.name, path);
  }
  for (const entry of await readFolderInSlices(join(folder, "conversations")))
    if (entry.isFile() && entry.name.endsWith(".db"))
      found.set(entry.name.slice(0, -3), join(folder, "conversations", entry.name));
  return found;
}

/** The whole one first. */
const toTranscripts = (folder: string, key: string): string[] =>
  ["transcript_full.jsonl", "transcript.jsonl"].map((name) =>
    join(folder, "brain", key, ".system_generated", "logs", name),
  );

/** Antigravity's folder that a log is in. */
const toFolder = (path: string): string => {
  const up = path.endsWith(".db") ? 2 : 5;
  return Array.from({ length: up }).reduce<string>((at) => dirname(at), path);
};

function withUrls({ mcpServers }: JsonRecord): JsonRecord {
  const servers = Object.entries(toRecord(mcpServers)).map(([name, server]) => {
    const own = toRecord(server);
    return [name, own.serverUrl === undefined ? own : { ...own, url: own.serverUrl }];
  });
  return { mcpServers: Object.fromEntries(servers) };
}
