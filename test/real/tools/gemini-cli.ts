import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const geminiCli: Driver = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  command: "gemini",
  async setUp({ home, cwd }) {
    await mkdir(join(home, ".gemini"), { recursive: true });
    const settings = {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" } },
    };
    await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings, null, 2));
    await writeFile(join(home, ".gemini", "trustedFolders.json"), JSON.stringify({ [cwd]: "TRUST_FOLDER" }));
  },
  env: ({ url }) => ({ GEMINI_API_KEY: "bench", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
  args: ({ prompt, resume, model = "gemini-2.5-pro", extra = [] }) => [
    ...["--yolo", "--model", model],
    ...(resume ? ["--resume", resume] : []),
    ...extra,
    ...["--prompt", prompt],
  ],
  sessionId: () => "latest",
  cannot: { fork: "gemini has no command that forks a session" },
  // Without a screen the command is carried out and then said to the model as well.
  logsByMinute: true,
  compaction: { prompt: "/compress" },
  unlogged: ({ lane }) => (lane === SIDE ? "the summary of a compression" : undefined),
  words: {
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    write: ({ cwd }, path, content) => ({ name: "write_file", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "replace",
      input: { file_path: join(cwd, path), old_string, new_string, instruction: "change" },
    }),
    agent: (prompt) => [[{ name: "invoke_agent", input: { agent_name: "generalist", prompt } }]],
  },
};
