/** Continue: sessions of its extensions and of its command line, which share one folder. */
import { join } from "node:path";
import { toList, toRecord, toText } from "sessarc";
import {
  type AdapterEnv,
  defineAdapter,
  documentSessions,
  readDocument,
  readFolderInSlices,
  uriToPath,
} from "sessarc/adapter";

export interface ContinueOptions {
  /** Read only below this folder: a home, or one that holds `sessions`. */
  dir?: string;
}

const INDEX = "sessions.json";

export default defineAdapter((options: ContinueOptions | undefined) => {
  const documents = documentSessions({
    async read(ref) {
      return (await import("./session.ts")).readSession(ref);
    },
  });
  const folder = ({ home, env }: AdapterEnv) =>
    (options?.dir === undefined && env.CONTINUE_GLOBAL_DIR) || join(options?.dir ?? home, ".continue");

  return {
    name: "continue",
    label: "Continue",
    tried: "1.5.47",
    roots: (env) => {
      const own = join(folder(env), "sessions");
      return options?.dir === undefined ? [own] : [own, join(options.dir, "sessions")];
    },
    async *scan(root) {
      const entries = (await readFolderInSlices(root)).filter(
        (entry) => entry.isFile() && entry.name.endsWith(".json"),
      );
      if (entries.length === 0) return;
      const index = toList((await readDocument(join(root, INDEX)))?.value).map(toRecord);
      const listed = new Map(index.map((row) => [row.sessionId, row]));
      for (const { name } of entries) {
        if (name === INDEX) continue;
        const key = name.slice(0, -".json".length);
        const path = join(root, name);
        const stamp = await documents.stamp({ key, path });
        const row = listed.get(key);
        if (stamp) yield { key, path, ...stamp, title: toText(row?.title), cwd: uriToPath(row?.workspaceDirectory) };
      }
    },
    token: documents.token,
    open: documents.open,

    tools: {
      Read: "read",
      Edit: "edit",
      MultiEdit: "edit",
      Write: "write",
      Bash: "shell",
      List: "search",
      Search: "search",
      Fetch: "fetch",
      Checklist: "todo",
      Subagent: "agent",
    },
    resume: ({ key }) => ["cn", "--fork", key],
  };
});
