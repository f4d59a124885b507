import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const opencode: Driver = {
  name: "opencode",
  package: "opencode-ai",
  command: "opencode",
  async setUp({ home, url }) {
    const folder = join(home, ".config", "opencode");
    await mkdir(folder, { recursive: true });
    const model = { name: "bench-model", tool_call: true, reasoning: true, limit: { context: 200_000, output: 8_000 } };
    const options = { baseURL: `${url}/v1`, apiKey: "bench" };
    const settings = {
      $schema: "https://opencode.ai/config.json",
      autoupdate: false,
      share: "disabled",
      model: "bench/bench-model",
      small_model: "bench/bench-model",
      permission: { edit: "allow", bash: "allow", webfetch: "allow", external_directory: "allow" },
      provider: {
        bench: { npm: "@ai-sdk/openai-compatible", name: "bench", options, models: { "bench-model": model } },
      },
    };
    await writeFile(join(folder, "opencode.json"), JSON.stringify(settings, null, 2));
  },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }),
  args: ({ prompt, resume, fork, model, extra = [] }) => [
    ...["run", "--format", "json"],
    ...(model ? ["--model", model] : []),
    ...(resume ? ["--session", resume] : []),
    ...(fork ? ["--fork"] : []),
    ...extra,
    ...["--", ...prompt.split(" ")], // what has a space in it is put in quotes
  ],
  sessionId: ({ stdout }) => /"sessionID":"([^"]+)"/.exec(stdout)?.[1],
  unlogged: ({ lane }) => (lane === SIDE ? "the title of a session" : undefined),
  cannot: {
    compaction:
      "opencode compacts by a command of its screen, or at the end of its context: one small enough is never left again",
  },
  words: {
    shell: (command) => ({ name: "bash", input: { command, description: "run" } }),
    write: ({ cwd }, path, content) => ({ name: "write", input: { filePath: join(cwd, path), content } }),
    edit: ({ cwd }, path, oldString, newString) => ({
      name: "edit",
      input: { filePath: join(cwd, path), oldString, newString },
    }),
    agent: (prompt) => [[{ name: "task", input: { subagent_type: "general", description: "look", prompt } }]],
  },
};
