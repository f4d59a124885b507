import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "./types.ts";

export const claudeCode: Driver = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  command: "claude",
  async setUp({ home, cwd }) {
    await mkdir(join(home, ".claude"), { recursive: true });
    const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const keys = { approved: ["bench"], rejected: [] };
    const said = { hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true, customApiKeyResponses: keys };
    const state = { ...said, theme: "dark", projects: { [cwd]: project } };
    await writeFile(join(home, ".claude.json"), JSON.stringify(state));
  },
  env: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "bench",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    IS_SANDBOX: "1", // lets root skip the questions
  }),
  args: ({ prompt, resume, fork, model = "claude-sonnet-4-5", extra = [] }) => [
    ...["-p", "--output-format", "json", "--dangerously-skip-permissions", "--model", model],
    ...(resume ? ["--resume", resume] : []),
    ...(fork ? ["--fork-session"] : []),
    ...extra,
    ...["--", prompt],
  ],
  sessionId: ({ stdout }) => /"session_id":"([^"]+)"/.exec(stdout)?.[1],
  async hasWritten({ home }) {
    const projects = join(home, ".claude", "projects");
    const names = (await readdir(projects, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
    const texts = await Promise.all(names.map((name) => readFile(join(projects, name), "utf8")));
    return texts.some((text) => text.includes('"type":"assistant"'));
  },
  compaction: { prompt: "/compact", isCommand: true },
  words: {
    shell: (command) => ({ name: "Bash", input: { command, description: "run" } }),
    write: ({ cwd }, path, content) => ({ name: "Write", input: { file_path: join(cwd, path), content } }),
    edit: ({ cwd }, path, old_string, new_string) => ({
      name: "Edit",
      input: { file_path: join(cwd, path), old_string, new_string },
    }),
    agent: (prompt) => [
      [
        {
          name: "Agent",
          input: { description: "look", prompt, subagent_type: "general-purpose", run_in_background: false },
        },
      ],
    ],
  },
};
