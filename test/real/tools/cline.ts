import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
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
  screen: {
    args: (session) => ["--id", session],
    async goOn(screen, { prompt, fork }, answer) {
      const shows = (wanted: string) => screen.until((text) => text.includes(wanted));
      const enter = async (line: string, wanted: string) => {
        // Without tokens: the session is not loaded yet.
        await screen.until((text) => text.includes("Ask anything") && !text.includes("(0)"));
        screen.type(line);
        await shows(`❯ ${line}`);
        screen.type("\r");
        await shows(wanted);
      };
      if (fork) {
        await enter("/fork", "to confirm");
        screen.type("y");
        await shows("Forked into new session");
      }
      await enter(prompt, answer);
      screen.type("\x03"); // it ends when all is written
      await screen.ended;
    },
    stop: ["hub", "stop"],
  },
  compaction: { prompt: "/compact", isCommand: true, shows: "Context compacted" },
  unlogged: ({ lane }) => (lane === SIDE ? "the summary of a compaction" : undefined),
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
