/** DeepSeek Harness: a folder per session below `~/.dsh/sessions`, with a compressed or a plain log of events. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn, type ToolRole } from "sessarc/adapter";

export interface DshOptions {
  /** Replaces `~/.dsh`. It may also be a home that holds `.dsh`, or the folder of sessions. */
  dir?: string;
}

const TOOLS: Readonly<Record<string, ToolRole>> = {
  bash: "shell",
  edit: "edit",
  glob: "search",
  grep: "search",
  read: "read",
  write: "write",
};

export default defineAdapter((options: DshOptions | undefined) => {
  const toBase = ({ home, env }: AdapterEnv) => options?.dir ?? (env.DSH_HOME || join(home, ".dsh"));
  return {
    name: "dsh",
    label: "DeepSeek Harness",
    roots: (env) =>
      options?.dir ? [folderIn(options.dir, "sessions", ".dsh/sessions")] : [join(toBase(env), "sessions")],
    async *scan(root) {
      const { scanSessions } = await import("./log.ts");
      yield* scanSessions(root);
    },
    async parse() {
      const { createParser } = await import("./log.ts");
      return createParser();
    },
    async peek(ref) {
      const { peek } = await import("./log.ts");
      return peek(ref);
    },
    tools: TOOLS,
    // The terminal program takes the option; other front ends have no command for it.
    resume: ({ key }) => ["dsh", "--resume", key],
    skills: {
      dirs: (env) => [
        { path: join(toBase(env), "skills"), scope: "user" },
        { path: join(options?.dir ?? env.home, ".agents", "skills"), scope: "user" },
      ],
    },
  };
});
