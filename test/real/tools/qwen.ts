import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const qwen: Driver = {
  name: "qwen",
  package: "@qwen-code/qwen-code",
  command: "qwen",
  node: "24",
  async setUp({ home }) {
    await mkdir(join(home, ".qwen"), { recursive: true });
    const settings = {
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: "openai" } },
    };
    await writeFile(join(home, ".qwen", "settings.json"), JSON.stringify(settings, null, 2));
  },
  env: ({ url }) => ({ OPENAI_API_KEY: "bench", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "bench-model" }),
  args: ({ prompt, resume, fork, model, extra = [] }) => [
    ...["--yolo", "--output-format", "json"],
    ...(model ? ["--model", model] : []),
    ...(resume ? ["--resume", resume] : []),
    ...(fork ? ["--fork-session"] : []),
    ...extra,
    ...["--prompt", prompt],
  ],
  sessionId: ({ stdout }) => /"session_id":"([^"]+)"/.exec(stdout)?.[1],
  unlogged: ({ lane }) => (lane === SIDE ? "a title or a summary" : undefined),
  cannot: {
    kill: "rows are written with a delay: one that is killed at once has written none",
  },
  compaction: { prompt: "/compress", isCommand: true },
  words: {
    shell: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    read: ({ cwd }, path) => ({ name: "read_file", input: { file_path: join(cwd, path) } }),
    write: ({ cwd }, path, content) => ({ name: "write_file", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "edit",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [
      [{ name: "agent", input: { subagent_type: "general-purpose", description: "look around", prompt } }],
    ],
  },
};
