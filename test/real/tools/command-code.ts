import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const commandCode: Driver = {
  name: "command-code",
  package: "command-code",
  command: "command-code",
  node: "24",
  others: ["@opentelemetry/semantic-conventions@1.37.0"],
  async setUp({ home, url }) {
    await mkdir(join(home, ".commandcode"), { recursive: true });
    const bench = {
      name: "bench",
      api: "openai-completions",
      baseURL: `${url}/v1`,
      apiKey: false,
      models: { "bench-model": { name: "bench-model", contextWindow: 200_000 } },
    };
    await writeFile(join(home, ".commandcode", "providers.json"), JSON.stringify({ provider: { bench } }));
  },
  env: ({ url }) => ({
    COMMAND_CODE_API_KEY: "bench",
    COMMANDCODE_SANDBOX: "true",
    COMMANDCODE_API_URL: url,
    CMD_LOCAL_ONLY: "1",
    DO_NOT_TRACK: "1",
  }),
  args: ({ prompt, resume, fork, model = "bench/bench-model", extra = [] }) => [
    ...["--local-only", "--no-auto-update", "--skip-onboarding", "--trust", "--yolo", "--output-format", "json"],
    ...["--model", model],
    ...(resume ? ["--session", resume] : []),
    ...(fork ? ["--fork-session"] : []),
    ...extra,
    ...["--print", prompt],
  ],
  sessionId: ({ stdout }) => /"session_?[iI]d":\s*"([^"]+)"/.exec(stdout)?.[1],
  cannot: {
    "sub-agents": "nothing that they do is in a log",
    compaction: "without a screen there is no command for it",
  },
  unlogged: ({ lane }) => (lane === SIDE ? "a title or a summary" : undefined),
  words: {
    shell: (command) => ({ name: "shell_command", input: { command } }),
    read: ({ cwd }, path) => ({ name: "read_file", input: { file_path: join(cwd, path) } }),
    write: ({ cwd }, path, content) => ({ name: "write_file", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "edit_file",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [[{ name: "agent", input: { description: "look around", subagent_type: "general", prompt } }]],
  },
};
