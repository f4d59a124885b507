import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const grok: Driver = {
  name: "grok",
  package: "@xai-official/grok",
  command: "grok",
  async setUp({ home, url }) {
    await mkdir(join(home, ".grok"), { recursive: true });
    const config = `[models]
default = "bench"

[model.bench]
model = "bench-model"
base_url = "${url}/v1"
api_key = "bench"
context_window = 200000
`;
    await writeFile(join(home, ".grok", "config.toml"), config);
  },
  env: () => ({ XAI_API_KEY: "bench" }),
  args: ({ prompt, resume, fork, extra = [] }) => [
    ...["--always-approve", "--output-format", "json", "--model", "bench"],
    ...(resume ? ["--resume", resume] : []),
    ...(fork ? ["--fork-session"] : []),
    ...extra,
    ...["-p", prompt],
  ],
  sessionId: ({ stdout }) => /"session_?[iI]d":\s*"([^"]+)"/.exec(stdout)?.[1],
  cannot: {
    "sub-agents": "a first request of an agent, which no log holds, takes its first reply",
    cancel: "the figures of a turn, and its last result, are written at its end",
    kill: "the figures of a turn, and its last result, are written at its end",
    compaction: "without a screen grok has no command for it",
  },
  unlogged: ({ lane, prompts }) =>
    lane === SIDE || prompts.at(-1)?.includes("ultra-short dashboard line") ? "a title or a recap" : undefined,
  words: {
    shell: (command) => ({ name: "run_terminal_command", input: { command, description: "run" } }),
    write: ({ cwd }, path, content) => ({ name: "write", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "search_replace",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [[{ name: "spawn_subagent", input: { description: "look around", prompt, background: false } }]],
  },
};
