/** Auggie, Augment's command line: one document per session below `~/.augment/sessions`, rewritten whole. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, documentSessions, folderIn, readFolderInSlices } from "sessarc/adapter";

export interface AuggieOptions {
  /** Replaces `~/.augment`. It may also be a home that holds `.augment`, or the folder of sessions. */
  dir?: string;
}

const SESSION = /^(?!.*-backup\d+\.json$)(.+)\.json$/;

export default defineAdapter((options: AuggieOptions | undefined) => {
  const documents = documentSessions({
    async read(ref) {
      return (await import("./session.ts")).readSession(ref);
    },
  });
  const base = ({ home }: AdapterEnv) => options?.dir ?? join(home, ".augment");

  return {
    name: "auggie",
    label: "Auggie",
    tried: "0.36.0",
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "sessions", ".augment/sessions")] : [join(base(env), "sessions")],
    async *scan(root) {
      for (const entry of await readFolderInSlices(root)) {
        const [, key] = SESSION.exec(entry.name) ?? [];
        if (!entry.isFile() || key === undefined) continue;
        const path = join(root, entry.name);
        const stamp = await documents.stamp({ key, path });
        if (stamp) yield { key, path, ...stamp, exclusive: true };
      }
    },
    token: documents.token,
    open: documents.open,
    tools: {
      add_tasks: "todo",
      apply_patch: "patch",
      "codebase-retrieval": "search",
      "kill-process": "shell",
      "launch-process": "shell",
      "list-processes": "shell",
      "read-process": "shell",
      "remove-files": "delete",
      reorganize_tasklist: "todo",
      "save-file": "write",
      "search-untruncated": "search",
      "str-replace-editor": "edit",
      "sub-agent-explore": "agent",
      "sub-agent-plan": "agent",
      update_tasks: "todo",
      view: "read",
      "view-range-untruncated": "read",
      view_tasklist: "todo",
      "web-fetch": "fetch",
      "web-search": "search",
      "write-process": "shell",
    },
    resume: ({ key }) => ["auggie", "--resume", key],
  };
});
