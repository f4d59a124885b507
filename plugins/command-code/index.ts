/** Command Code: one JSON-lines file per session below `~/.commandcode/projects`, and small files of facts beside it. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn } from "sessarc/adapter";

export interface CommandCodeOptions {
  /** Replaces `~/.commandcode`. It may also be a home that holds `.commandcode`, or the folder of projects. */
  dir?: string;
}

export default defineAdapter((options: CommandCodeOptions | undefined) => {
  const toBase = ({ home }: AdapterEnv) => options?.dir ?? join(home, ".commandcode");
  return {
    name: "command-code",
    label: "Command Code",
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "projects", ".commandcode/projects")] : [join(toBase(env), "projects")],
    async *scan(root) {
      const { scanSessions } = await import("./log.ts");
      yield* scanSessions(root);
    },
    async parse(ref) {
      const { createParser } = await import("./log.ts");
      return createParser(ref);
    },
    async peek(ref) {
      const { peek } = await import("./log.ts");
      return peek(ref);
    },
    tools: {
      agent: "agent",
      edit_file: "edit",
      glob: "search",
      grep: "search",
      read_directory: "search",
      read_file: "read",
      read_multiple_files: "read",
      shell_command: "shell",
      todo_write: "todo",
      web_fetch: "fetch",
      web_search: "search",
      write_file: "write",
    },
    resume: ({ key }) => ["command-code", "--session", key],
  };
});
