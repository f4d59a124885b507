import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "./types.ts";

/** Driven with a provider of one's own, which needs no login; a model of GitHub's own cannot be played. */
export const copilot: Driver = {
  name: "copilot",
  package: "@github/copilot",
  command: "copilot",
  async setUp({ home }) {
    await mkdir(join(home, ".copilot"), { recursive: true });
  },
  env: ({ url }) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: "bench",
    COPILOT_MODEL: "gpt-4.1",
  }),
  args: ({ prompt, resume, model, extra = [] }) => [
    ...["--allow-all", "--no-auto-update"],
    ...(model ? ["--model", model] : []),
    ...(resume ? [`--resume=${resume}`] : []),
    ...extra,
    ...["--prompt", prompt],
  ],
  sessionId: ({ stdout, stderr }) => /--resume=(\S+)/.exec(stdout + stderr)?.[1],
  async hasWritten({ home }) {
    const sessions = join(home, ".copilot", "session-state");
    const names = await readdir(sessions, { recursive: true });
    const logs = names.filter((name) => name.endsWith("events.jsonl"));
    const texts = await Promise.all(logs.map((name) => readFile(join(sessions, name), "utf8")));
    return texts.some((text) => text.includes('"type":"assistant.message"'));
  },
  cannot: { fork: "copilot forks inside its screen only" },
  compaction: { prompt: "/compact", isCommand: true },
  agentsInside: true,
  words: {
    shell: (command) => ({ name: "bash", input: { command, description: "run" } }),
    write: ({ cwd }, path, file_text) => ({ name: "create", input: { path: join(cwd, path), file_text } }),
    edit: ({ cwd }, path, old_str, new_str) => ({ name: "edit", input: { path: join(cwd, path), old_str, new_str } }),
    agent: (prompt) => [
      [{ name: "task", input: { agent_type: "task", name: "look", description: "look", prompt, mode: "sync" } }],
    ],
  },
};
