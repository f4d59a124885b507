/** Devin: sessions of its command line's database. */
import { join } from "node:path";
import { dataFolders, defineAdapter, sqliteSessions } from "sessarc/adapter";

export interface DevinOptions {
  /** Read only below this folder: a home, or one that holds `sessions.db`. */
  dir?: string;
}

export default defineAdapter((options: DevinOptions | undefined) => {
  const store = sqliteSessions({
    list: async (db) => (await import("./sessions.ts")).listSessions(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./sessions.ts")).readSession(db, ref, onBytes);
    },
  });
  return {
    name: "devin",
    label: "Devin CLI",
    unproved: true,
    roots: (env) => dataFolders(env, options?.dir, join("devin", "cli")).map((folder) => join(folder, "sessions.db")),
    async *scan(root) {
      yield* await store.list(root);
    },
    open: store.open,

    tools: {
      read: "read",
      write: "write",
      edit: "edit",
      str_replace: "edit",
      notebook_edit: "edit",
      exec: "shell",
      grep: "search",
      glob: "search",
      ls: "search",
      web_search: "fetch",
      webfetch: "fetch",
      fetch: "fetch",
      run_subagent: "agent",
    },
    resume: ({ key }) => ["devin", "--resume", key],
  };
});
