import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const kimi: Driver = {
  name: "kimi",
  package: "@moonshot-ai/kimi-code",
  command: "kimi",
  node: "24",
  setUp: async ({ home }) => {
    await mkdir(join(home, ".kimi-code"), { recursive: true });
  },
  env: ({ url }) => ({
    KIMI_MODEL_PROVIDER_TYPE: "openai",
    KIMI_MODEL_NAME: "bench-model",
    KIMI_MODEL_BASE_URL: `${url}/v1`,
    KIMI_MODEL_API_KEY: "bench",
  }),
  args: ({ prompt, resume, extra = [] }) => [
    ...["--output-format", "stream-json"],
    ...(resume ? ["--session", resume] : []),
    ...extra,
    ...["--prompt", prompt],
  ],
  sessionId: ({ stdout, stderr }) => /session_[0-9a-f-]{36}/.exec(stdout + stderr)?.[0],
  cannot: {
    fork: "a run cannot fork: `kimi fork` is a command of its own",
    compaction: "without a screen kimi has no command for it",
  },
  unlogged: ({ lane }) => (lane === SIDE ? "a title" : undefined),
  words: {
    shell: (command) => ({ name: "Bash", input: { command } }),
    write: ({ cwd }, path, content) => ({ name: "Write", input: { path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "Edit",
      input: { path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [[{ name: "Agent", input: { subagent_type: "coder", description: "look around", prompt } }]],
  },
};
