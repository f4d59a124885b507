/** Goose: sessions of its database, and of the JSON lines that preceded it. */
import { basename, join } from "node:path";
import { toText } from "sessarc";
import {
  type AdapterEnv,
  dataFolders,
  defineAdapter,
  fileStamp,
  headRows,
  readFolderInSlices,
  sqliteSessions,
} from "sessarc/adapter";

export interface GooseOptions {
  /** Read only below this folder: a home, or one that holds `sessions`. */
  dir?: string;
}

const DATABASE = "sessions.db";

export default defineAdapter((options: GooseOptions | undefined) => {
  const store = sqliteSessions({
    list: async (db) => (await import("./database.ts")).listSessions(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./database.ts")).readSession(db, ref, onBytes);
    },
  });
  return {
    name: "goose",
    label: "Goose",
    roots: (env) => sessionFolders(options?.dir, env),
    async *scan(root) {
      const rows = await store.list(join(root, DATABASE));
      yield* rows;
      // The database imported them once and left the files.
      const held = new Set(rows.map((ref) => ref.key));
      for (const entry of await readFolderInSlices(root)) {
        const key = basename(entry.name, ".jsonl");
        if (!entry.isFile() || !entry.name.endsWith(".jsonl") || held.has(key)) continue;
        const path = join(root, entry.name);
        const stamp = await fileStamp(path);
        if (stamp) yield { key, path, ...stamp, exclusive: true };
      }
    },
    async peek({ path }) {
      const [header] = path.endsWith(".jsonl") ? headRows(path) : [];
      return { title: toText(header?.description), cwd: toText(header?.working_dir) };
    },
    appends: ({ path }) => path.endsWith(".jsonl"),
    parse: async ({ key }) => (await import("./log.ts")).createLogParser(key),
    open: store.open,

    tools: { developer__shell: "shell", developer__text_editor: "edit", todo__write: "todo", todo__read: "todo" },
    resume: ({ key }) => ["goose", "session", "-r", "--session-id", key],
  };
});

function sessionFolders(dir: string | undefined, on: AdapterEnv): string[] {
  if (dir === undefined && on.env.GOOSE_PATH_ROOT) return [join(on.env.GOOSE_PATH_ROOT, "data", "sessions")];
  return dataFolders(on, dir, "goose", join("Block", "goose", "data")).map((folder) => join(folder, "sessions"));
}
