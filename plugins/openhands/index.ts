/** OpenHands: conversations of its command line and of agents made with its kit. */
import { join } from "node:path";
import { toRecord, toText } from "sessarc";
import { type AdapterEnv, defineAdapter, documentSessions, readDocument, readFolderInSlices } from "sessarc/adapter";

export interface OpenHandsOptions {
  /** Read only below this folder: a home, or one that holds `conversations`. */
  dir?: string;
}

const STATE = "base_state.json";
const EVENTS = "events";

export default defineAdapter((options: OpenHandsOptions | undefined) => {
  const documents = documentSessions({
    beside: ({ path }) => [join(path, "..", EVENTS)],
    async read(ref) {
      return (await import("./conversation.ts")).readConversation(ref);
    },
  });
  const folders = ({ home, env }: AdapterEnv): string[] => {
    if (options?.dir !== undefined)
      return [join(options.dir, ".openhands", "conversations"), join(options.dir, "conversations")];
    if (env.OPENHANDS_CONVERSATIONS_DIR) return [env.OPENHANDS_CONVERSATIONS_DIR];
    return [join(env.OPENHANDS_PERSISTENCE_DIR || join(home, ".openhands"), "conversations")];
  };

  return {
    name: "openhands",
    label: "OpenHands",
    roots: folders,
    async *scan(root) {
      for (const entry of (await readFolderInSlices(root)).filter((one) => one.isDirectory())) {
        const key = toId(entry.name);
        const path = join(root, entry.name, STATE);
        const stamp = await documents.stamp({ key, path });
        if (stamp) yield { key, path, ...stamp, companions: [join(root, entry.name, EVENTS)] };
      }
    },
    async peek({ path }) {
      const { workspace } = toRecord((await readDocument(path))?.value);
      return { cwd: toText(toRecord(workspace).working_dir) };
    },
    token: documents.token,
    open: documents.open,

    tools: {
      terminal: "shell",
      execute_bash: "shell",
      file_editor: "edit",
      str_replace_editor: "edit",
      apply_patch: "patch",
      grep: "search",
      glob: "search",
      browser_navigate: "fetch",
      task_tracker: "todo",
      delegate: "agent",
    },
    resume: ({ key }) => ["openhands", "--resume", key],
    skills: {
      dirs: ({ home }) => [
        { path: join(".openhands", "skills"), scope: "project" },
        { path: join(".agents", "skills"), scope: "project" },
        { path: join(home, ".openhands", "skills"), scope: "user" },
      ],
    },
    mcp: {
      files: ({ home }) => [{ path: join(home, ".openhands", "mcp.json"), scope: "user" }],
      syntax: "json",
      variable: "braced",
      servers: (config, read) => read.servers(config, ["mcpServers"]),
      into: () => ["mcpServers"],
      link: (url, _, headers) => ({ url, ...(headers && { headers }) }),
    },
  };
});

/** The folder is named by the id without its dashes. */
const toId = (name: string) => name.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, "$1-$2-$3-$4-$5");
