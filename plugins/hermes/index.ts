/** Hermes: sessions of its profiles' databases. */
import { join } from "node:path";
import { defineAdapter, readFolderInSlices, sqliteSessions } from "sessarc/adapter";

export interface HermesOptions {
  /** Read only below this folder: a home, or one that holds `state.db` or `profiles`. */
  dir?: string;
}

/** Of sessions without a folder: those of chats, and of old versions. */
const PROJECT = { key: "hermes", name: "Hermes" };

export default defineAdapter((options: HermesOptions | undefined) => {
  const store = sqliteSessions({
    list: async (db) => (await import("./sessions.ts")).listSessions(db),
    async *read(db, ref, onBytes) {
      const summary = yield* (await import("./sessions.ts")).readSession(db, ref, onBytes);
      return summary && (summary.cwd === undefined ? { ...summary, virtualProject: PROJECT } : summary);
    },
  });
  return {
    name: "hermes",
    label: "Hermes",
    roots: ({ home, env }) =>
      options?.dir === undefined
        ? [env.HERMES_HOME || join(home, ".hermes")]
        : [join(options.dir, ".hermes"), options.dir],
    async *scan(root) {
      const profiles = (await readFolderInSlices(join(root, "profiles"))).filter((entry) => entry.isDirectory());
      const held = new Set<string>();
      for (const folder of [root, ...profiles.map(({ name }) => join(root, "profiles", name))]) {
        for (const ref of await store.list(join(folder, "state.db"))) {
          if (held.has(ref.key)) continue;
          held.add(ref.key);
          yield ref;
        }
      }
    },
    peek: async ({ cwd }) => (cwd === undefined ? { virtualProject: PROJECT } : { cwd }),
    open: store.open,

    tools: {
      read_file: "read",
      write_file: "write",
      patch: "edit",
      terminal: "shell",
      search_files: "search",
      web_search: "fetch",
      web_extract: "fetch",
      todo: "todo",
      delegate_task: "agent",
    },
    skills: {
      dirs: ({ home, env }) => [{ path: join(env.HERMES_HOME || join(home, ".hermes"), "skills"), scope: "user" }],
    },
  };
});
