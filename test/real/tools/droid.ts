import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

const MODEL = "custom:bench-model-0";

export const droid: Driver = {
  name: "droid",
  package: "droid",
  command: "droid",
  async setUp({ home, url }) {
    await mkdir(join(home, ".factory"), { recursive: true });
    const bench = {
      model: "bench-model",
      displayName: "bench-model",
      baseUrl: `${url}/v1`,
      apiKey: "bench",
      provider: "generic-chat-completion-api",
    };
    const settings = { customModels: [bench], model: MODEL };
    await writeFile(join(home, ".factory", "settings.json"), JSON.stringify(settings, null, 2));
  },
  env: () => ({ FACTORY_DISABLE_AUTO_UPDATE: "1" }),
  args: ({ prompt, resume, fork, extra = [] }) => [
    ...["exec", "--auto", "high", "--output-format", "json", "--model", MODEL],
    ...(resume ? [fork ? "--fork" : "--session-id", resume] : []),
    ...extra,
    prompt,
  ],
  sessionId: ({ stdout }) => /"session_?[iI]d":"([^"]+)"/.exec(stdout)?.[1],
  cannot: {
    "sub-agents": "they run in a daemon that wants an account",
    resume: "a run that is to go on with a session ends at once, without a word",
    compaction: "without a screen droid has no command for it",
  },
  unlogged: ({ lane }) => (lane === SIDE ? "a title" : undefined),
  words: {
    shell: (command) => ({
      name: "Execute",
      input: { command, summary: "run", riskLevel: "low", riskLevelReason: "harmless" },
    }),
    write: ({ cwd }, path, content) => ({ name: "Create", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_str, new_str) => ({
      name: "Edit",
      input: { file_path: join(cwd, path), old_str, new_str },
    }),
    agent: (prompt) => [[{ name: "Task", input: { subagent_type: "worker", description: "look around", prompt } }]],
  },
};
