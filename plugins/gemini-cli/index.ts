/** Gemini CLI: chats below `~/.gemini/tmp`. */

import { join } from "node:path";
import { toRecord, toText } from "sessarc";
import { type AdapterEnv, defineAdapter, documentSessions } from "sessarc/adapter";
import { guard } from "./guard.ts";
import { createHeads } from "./heads.ts";
import { peekChat } from "./peek.ts";
import { readChat } from "./read.ts";
import { rescue } from "./rescue.ts";
import { scanChats } from "./scan.ts";
import { mcp } from "./servers.ts";
import { readRetention } from "./settings.ts";
import { TOOLS } from "./tools.ts";
import { traces } from "./traces.ts";

export interface GeminiOptions {
  /** Stands for the home folder; it may also be the tool's own folder, or a folder of chats. */
  dir?: string;
}

export default defineAdapter((options: GeminiOptions | undefined) => {
  const dir = options?.dir;
  const homeOf = (env: AdapterEnv) => dir ?? (env.env.GEMINI_CLI_HOME || env.home);
  const toolDir = (env: AdapterEnv) => join(homeOf(env), ".gemini");
  const heads = createHeads();

  return {
    name: "gemini-cli",
    label: "Gemini CLI",
    tried: "0.61.0",
    roots: (env) =>
      dir === undefined ? [join(toolDir(env), "tmp")] : [join(toolDir(env), "tmp"), join(dir, "tmp"), dir],
    scan: (root) => scanChats(root, heads),
    peek: (ref) => peekChat(ref),
    // A chat is whole only after its last record.
    open: documentSessions({ read: readChat }).open,

    tools: TOOLS,
    resume: ({ key }) => ["gemini", "--resume", key],
    skills: {
      dirs: (env) => [
        { path: join(".gemini", "skills"), scope: "project" },
        { path: join(".agents", "skills"), scope: "project" },
        { path: join(toolDir(env), "skills"), scope: "user" },
        { path: join(homeOf(env), ".agents", "skills"), scope: "user" },
      ],
      used: ({ kind, tool_name, tool_input }) =>
        kind === "tool_use" && tool_name === "activate_skill" ? toText(toRecord(tool_input).name) : undefined,
    },
    mcp: mcp(toolDir),
    // The timeout is in ms; stdout must be JSON only; exit code 2 blocks, any other failure lets the call run.
    statusline: { none: "Gemini CLI's footer shows built-in items and runs no command" },
    guard: guard(toolDir),
    instructions: { file: "GEMINI.md" },
    retention: (env) => readRetention(join(toolDir(env), "settings.json")),
    rescue: rescue(toolDir, heads),
    traces: traces((env) => [join(toolDir(env), "tmp")]),
  };
});
