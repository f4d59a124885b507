import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "./types.ts";

export const pi: Driver = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent",
  command: "pi",
  node: "22",
  async setUp({ home, url }) {
    const folder = join(home, ".pi", "agent");
    await mkdir(folder, { recursive: true });
    const models = [{ id: "bench-model", reasoning: true }];
    const bench = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "bench", models };
    await writeFile(join(folder, "models.json"), JSON.stringify({ providers: { bench } }, null, 2));
  },
  env: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
  args: ({ prompt, resume, fork, model = "bench-model", extra = [] }) => [
    ...["--mode", "json", "--provider", "bench", "--model", model],
    ...(resume ? [fork ? "--fork" : "--session", resume] : []),
    ...extra,
    ...["-p", prompt],
  ],
  sessionId: ({ stdout }) => /"type":"session"[^\n]*?"id":"([^"]+)"/.exec(stdout)?.[1],
  cannot: {
    "sub-agents": "pi has none",
    compaction: "without a screen pi has no command for it",
  },
  words: {
    shell: (command) => ({ name: "bash", input: { command } }),
    write: ({ cwd }, path, content) => ({ name: "write", input: { path: join(cwd, path), content } }),
    edit: ({ cwd }, path, oldText, newText) => ({
      name: "edit",
      input: { path: join(cwd, path), edits: [{ oldText, newText }] },
    }),
    agent: () => [],
  },
};
