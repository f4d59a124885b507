/** Codebuff and Freebuff: chats of their command lines, which share a folder. */
import { basename, join } from "node:path";
import { type AdapterEnv, defineAdapter, documentSessions, findLogs, withUniqueKeys } from "sessarc/adapter";

export interface CodebuffOptions {
  /** Read only below this folder: a home, or one that holds `projects`. */
  dir?: string;
}

const CHAT = "chat-messages.json";
/** Of the product, and of its makers. */
const FOLDERS = ["manicode", "manicode-dev", "manicode-staging"];

export default defineAdapter((options: CodebuffOptions | undefined) => {
  const documents = documentSessions({
    beside: ({ path }) => [stateOf(path)],
    read: async (ref) => (await import("./chat.ts")).readChat(ref, stateOf(ref.path)),
  });
  return {
    name: "codebuff",
    label: "Codebuff",
    unproved: true,
    roots: ({ home }: AdapterEnv) => {
      const { dir } = options ?? {};
      const all = FOLDERS.map((folder) => join(dir ?? home, ".config", folder, "projects"));
      return dir === undefined ? all : [...all, join(dir, "projects")];
    },
    async *scan(root) {
      const refs = [];
      for await (const { path, folders } of findLogs(root, isWanted, 3)) {
        const [, , key = ""] = folders;
        const stamp = await documents.stamp({ key, path });
        if (stamp) refs.push({ key, path, ...stamp, exclusive: true, companions: [stateOf(path)] });
      }
      yield* withUniqueKeys(root, refs);
    },
    peek: async ({ path }) => (await import("./chat.ts")).placeOf(path, stateOf(path)),
    token: documents.token,
    open: documents.open,

    tools: {
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
    },
    resume: ({ path }) => ["codebuff", "--continue", basename(join(path, ".."))],
  };
});

const stateOf = (chat: string) => join(chat, "..", "run-state.json");

/** `<project>/chats/<time>/chat-messages.json` */
const isWanted = (name: string, folders: readonly string[]): boolean =>
  name.endsWith("/") ? folders.length !== 1 || name === "chats/" : name === CHAT && folders.length === 3;
