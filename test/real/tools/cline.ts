import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "./types.ts";

export const cline: Driver = {
  name: "cline",
  package: "cline",
  command: "cline",
  async setUp({ home, url }) {
    const folder = join(home, ".cline", "data", "settings");
    await mkdir(folder, { recursive: true });
    const provider = "openai-compatible";
    const settings = { provider, apiKey: "bench", model: "bench-model", baseUrl: `${url}/v1` };
    const entry = { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" };
    const file = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } };
    await writeFile(join(folder, "providers.json"), JSON.stringify(file, null, 2));
  },
  // In its own process: a daemon for all sessions would outlive the run.
  env: () => ({ CLINE_SESSION_BACKEND_MODE: "local" }),
  args: ({ prompt, resume, model, extra = [] }) => [
    ...["--json", "--auto-approve", "true"],
    ...(model ? ["--model", model] : []),
    ...(resume ? ["--id", resume] : []),
    ...extra,
    prompt,
  ],
  // It prints no id: the only folder of a fresh home is the session.
  sessionId: async (_, { home }) => (await readdir(join(home, ".cline", "data", "sessions")))[0],
  cannot: {
    resume: "only its screen goes on with a session",
    fork: "cline forks inside its screen only",
    compaction: "without a screen cline has no command for it",
  },
  words: {
    shell: (command) => ({ name: "run_commands", input: { commands: [command] } }),
    write: ({ cwd }, path, new_text) => ({ name: "editor", input: { path: join(cwd, path), new_text } }),
    edit: ({ cwd }, path, old_text, new_text) => ({
      name: "editor",
      input: { path: join(cwd, path), old_text, new_text },
    }),
    agent: (prompt) => [[{ name: "spawn_agent", input: { systemPrompt: "You look around.", task: prompt } }]],
  },
};
