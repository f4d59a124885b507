/** Codex CLI: one rollout file per thread, plain or compressed. */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type AdapterEnv, defineAdapter, readLines, rowsIn, type ToolRole } from "sessarc/adapter";
import { mcp, skillDirs, usedSkill } from "./capabilities.ts";
import { guard } from "./guard.ts";
import { findOrigin } from "./origin.ts";
import { createParser } from "./parse.ts";
import { rescue } from "./rescue.ts";
import { createHeadCache, scanRollouts } from "./scan.ts";
import { createTitles } from "./titles.ts";
import { traces } from "./traces.ts";
import { readUsage } from "./usage.ts";

export interface CodexOptions {
  /** Replaces `~/.codex`; nothing outside it is read then. It may also be a home that holds `.codex`, or the folder `sessions`. */
  dir?: string;
  /** Another assistant that writes the same log; default `codex`. */
  variant?: keyof typeof VARIANTS;
}

const VARIANTS = {
  codex: { label: "Codex CLI", folder: ".codex", variable: "CODEX_HOME", command: "codex", tried: "0.171.0" },
  traex: { label: "TRAE CLI", folder: ".trae/cli", variable: undefined, command: "traex", tried: undefined },
  "open-interpreter": {
    label: "Open Interpreter",
    folder: ".openinterpreter",
    variable: "INTERPRETER_HOME",
    command: undefined,
    tried: undefined,
  },
} as const;

/** Its own tools by what they do. */
const TOOLS: Readonly<Record<string, ToolRole>> = {
  apply_patch: "patch",
  close_agent: "agent",
  container_exec: "shell",
  "container.exec": "shell",
  exec_command: "shell",
  followup_task: "agent",
  grep_files: "search",
  interrupt_agent: "agent",
  list_agents: "agent",
  list_dir: "search",
  local_shell: "shell",
  read_file: "read",
  resume_agent: "agent",
  send_input: "agent",
  send_message: "agent",
  shell: "shell",
  shell_command: "shell",
  spawn_agent: "agent",
  tool_search: "search",
  unified_exec: "shell",
  update_plan: "todo",
  view_image: "read",
  wait: "agent",
  wait_agent: "agent",
  web_search: "search",
  write_stdin: "shell",
};

/** Lines and bytes that `peek` reads: the first prompt follows some 50 KB of instructions. */
const PEEK_LINES = 40;
const PEEK = 256 * 1024;

export default defineAdapter((options: CodexOptions | undefined) => {
  const heads = createHeadCache();
  const titles = createTitles();
  const name = options?.variant ?? "codex";
  const { label, folder, variable, command, tried } = VARIANTS[name];
  const toBase = ({ home, env }: AdapterEnv) =>
    options?.dir ?? ((variable && env[variable]) || join(home, ...folder.split("/")));
  return {
    name,
    label,
    ...(tried && { tried }),
    roots: (env) => (options?.dir ? rolloutsIn(options.dir, folder) : rolloutFolders(toBase(env))),
    async *scan(root) {
      yield* scanRollouts(root, heads, await titles.below(root));
    },
    async parse(ref) {
      return createParser(ref, await findOrigin(ref.path));
    },
    usage: (ref) => readUsage(ref),
    tools: TOOLS,
    ...(command && { resume: ({ key }: { key: string }) => [command, "resume", key] }),
    // Of its relatives nothing but the log is known.
    ...(name === "codex" && {
      rescue: rescue((env) => (options?.dir ? rolloutsIn(options.dir, folder) : rolloutFolders(toBase(env)))),
      skills: {
        dirs: (env) => skillDirs(toBase(env), options?.dir === undefined ? env.home : undefined),
        used: usedSkill,
      },
      mcp: mcp(toBase),
      statusline: { none: "Codex CLI draws its line from built-in items (tui.status_line) and runs no command" },
      guard: guard(toBase),
      traces: traces(toBase),
    }),

    async peek(ref) {
      const parser = createParser(ref);
      let first: string | undefined;
      let count = 0;
      for await (const line of readLines(ref.path, { end: PEEK })) {
        for (const row of rowsIn(line)) {
          const events = [parser.row(row, { offset: 0, length: line.length }) ?? []].flat();
          first ??= events.find((event) => event.kind === "user")?.text;
        }
        if (first !== undefined || ++count >= PEEK_LINES) break;
      }
      const { title, cwd, startedAt, gitBranch } = parser.finish();
      return {
        title: title ?? first?.replace(/\s+/g, " ").trim().slice(0, 120),
        cwd,
        startedAt,
        gitBranch,
      };
    },
  };
});

const FOLDERS = ["sessions", "archived_sessions"];
const rolloutFolders = (base: string) => FOLDERS.map((name) => join(base, name));

/** The logs of a chosen folder, whichever of the three it is. */
function rolloutsIn(dir: string, folder: string): string[] {
  if (rolloutFolders(dir).some(existsSync)) return rolloutFolders(dir);
  const inHome = rolloutFolders(join(dir, folder));
  if (inHome.some(existsSync)) return inHome;
  return FOLDERS.includes(basename(dir)) ? [dir] : rolloutFolders(dir);
}
