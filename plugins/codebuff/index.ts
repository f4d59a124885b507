/** Codebuff and Freebuff: chats of their command lines, which share a folder, and threads of Freebuff's desktop program. */
import { basename, join } from "node:path";
import {
  type AdapterDefinition,
  type AdapterEnv,
  defineAdapter,
  documentSessions,
  findLogs,
  readFolderInSlices,
  sqliteSessions,
  withUniqueKeys,
} from "sessarc/adapter";

export interface CodebuffOptions {
  /** Read only below this folder: a home, or one that holds `projects`. */
  dir?: string;
  /** Which program; default `codebuff`, its command line and Freebuff's. */
  variant?: "codebuff" | "freebuff-desktop";
}

const CHAT = "chat-messages.json";
/** Of the product, and of its makers. */
const FOLDERS = ["manicode", "manicode-dev", "manicode-staging"];

const TOOLS = {
  read_files: "read",
  write_file: "write",
  str_replace: "edit",
  run_terminal_command: "shell",
  code_search: "search",
  find_files: "search",
  glob: "search",
  list_directory: "search",
  web_search: "fetch",
  read_docs: "fetch",
  read_url: "fetch",
  write_todos: "todo",
  spawn_agents: "agent",
} as const;

export default defineAdapter(
  ({ variant, dir }: CodebuffOptions = {}): AdapterDefinition =>
    variant === "freebuff-desktop" ? desktop(dir) : commandLine(dir),
);

function commandLine(dir: string | undefined): AdapterDefinition {
  const documents = documentSessions({
    beside: ({ path }) => [toState(path)],
    read: async (ref) => (await import("./chat.ts")).readChat(ref, toState(ref.path)),
  });
  return {
    name: "codebuff",
    label: "Codebuff",
    unproved: true,
    roots: (env) => toProjects(FOLDERS, dir, env),
    async *scan(root) {
      const refs = [];
      for await (const { path, folders } of findLogs(root, isWanted, 3)) {
        const [, , key = ""] = folders;
        const stamp = await documents.stamp({ key, path });
        if (stamp) refs.push({ key, path, ...stamp, exclusive: true, companions: [toState(path)] });
      }
      yield* withUniqueKeys(root, refs);
    },
    peek: async ({ path }) => (await import("./chat.ts")).toPlace(path, toState(path)),
    token: documents.token,
    open: documents.open,
    tools: TOOLS,
    resume: ({ path }) => ["codebuff", "--continue", basename(join(path, ".."))],
  };
}

function desktop(dir: string | undefined): AdapterDefinition {
  const store = sqliteSessions({
    list: async (db) => (await import("./desktop.ts")).listThreads(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./desktop.ts")).readThread(db, ref, onBytes);
    },
  });
  return {
    name: "freebuff-desktop",
    label: "Freebuff Desktop",
    unproved: true,
    roots: (env) => toProjects(["freebuff-desktop"], dir, env),
    async *scan(root) {
      for (const entry of await readFolderInSlices(root))
        if (entry.isDirectory()) yield* await store.list(join(root, entry.name, "desktop-v2.db"));
    },
    open: store.open,
    tools: TOOLS,
  };
}

function toProjects(folders: readonly string[], dir: string | undefined, { home }: AdapterEnv): string[] {
  const all = folders.map((folder) => join(dir ?? home, ".config", folder, "projects"));
  return dir === undefined ? all : [...all, join(dir, "projects")];
}

const toState = (chat: string) => join(chat, "..", "run-state.json");

/** `<project>/chats/<time>/chat-messages.json` */
const isWanted = (name: string, folders: readonly string[]): boolean =>
  name.endsWith("/") ? folders.length !== 1 || name === "chats/" : name === CHAT && folders.length === 3;
