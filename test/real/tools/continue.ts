import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "./types.ts";

const CONFIG = join(".continue", "config.yaml");

export const continueCli: Driver = {
  name: "continue",
  package: "@continuedev/cli",
  command: "cn",
  async setUp({ home, url }) {
    await mkdir(join(home, ".continue"), { recursive: true });
    const config = `name: bench
version: 1.0.0
schema: v1
models:
  - name: bench-model
    provider: openai
    model: bench-model
    apiKey: bench
    apiBase: ${url}/v1
    roles: [chat]
`;
    await writeFile(join(home, CONFIG), config);
  },
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
  // It goes on with the last session, whichever that is: the one of a fresh home.
  args: ({ prompt, resume, fork, extra = [] }, { home }) => [
    ...["-p", "--auto", "--config", join(home, CONFIG)],
    ...(resume ? (fork ? ["--fork", resume] : ["--resume"]) : []),
    ...extra,
    prompt,
  ],
  async sessionId(_, { home }) {
    const names = await readdir(join(home, ".continue", "sessions"));
    return names.find((name) => name !== "sessions.json")?.replace(/\.json$/, "");
  },
  cannot: {
    "sub-agents": "its agents are a trial that is off",
    cancel: "a session is written when a turn ends",
    kill: "a session is written when a turn ends",
  },
  unlogged: ({ prompts }) =>
    prompts.at(-1)?.startsWith("Please provide a concise summary") ? "the summary of a compaction" : undefined,
  compaction: { prompt: "/compact", isCommand: true },
  words: {
    shell: (command) => ({ name: "Bash", input: { command } }),
    read: ({ cwd }, path) => ({ name: "Read", input: { filepath: join(cwd, path) } }),
    write: ({ cwd }, path, content) => ({ name: "Write", input: { filepath: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "Edit",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: () => [],
  },
};
