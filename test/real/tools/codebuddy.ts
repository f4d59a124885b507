import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

/** Its command line is on npm as a part of the SDK. */
export const codebuddy: Driver = {
  name: "codebuddy",
  package: "@tencent-ai/agent-sdk",
  command: "codebuddy",
  folder: "cli/bin",
  async setUp({ home, url }) {
    await mkdir(join(home, ".codebuddy"), { recursive: true });
    const bench = {
      id: "bench-model",
      name: "bench-model",
      vendor: "OpenAI",
      apiKey: "bench",
      url: `${url}/v1/chat/completions`,
      maxInputTokens: 200_000,
      maxOutputTokens: 8192,
      supportsToolCall: true,
    };
    await writeFile(join(home, ".codebuddy", "models.json"), JSON.stringify({ models: [bench] }));
  },
  env: () => ({ CODEBUDDY_API_KEY: "bench", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" }),
  args: ({ prompt, resume, fork, model = "bench-model", extra = [] }) => [
    ...["-p", "--output-format", "json", "--dangerously-skip-permissions", "--model", model],
    ...(resume ? ["--resume", resume] : []),
    ...(fork ? ["--fork-session"] : []),
    ...extra,
    prompt,
  ],
  sessionId: ({ stdout }) => /"session_?[iI]d":\s*"([^"]+)"/.exec(stdout)?.[1],
  unlogged: ({ lane }) => (lane === SIDE ? "a title or a summary" : undefined),
  compaction: { prompt: "/compact", isCommand: true },
  words: {
    shell: (command) => ({ name: "Bash", input: { command, description: "run" } }),
    read: ({ cwd }, path) => ({ name: "Read", input: { file_path: join(cwd, path) } }),
    write: ({ cwd }, path, content) => ({ name: "Write", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "Edit",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [
      [{ name: "Agent", input: { subagent_type: "general-purpose", description: "look around", prompt } }],
    ],
  },
};
