import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

/** Resolves when something answers there. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const there = await fetch(`${url}/session`, { signal: AbortSignal.timeout(2_000) }).then(
      () => true,
      () => false,
    );
    if (there) return;
    await delay(200);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const BENCH_MODEL = {
  name: "bench-model",
  tool_call: true,
  reasoning: true,
  limit: { context: 200_000, output: 8_000 },
};

/** With the test's model and without questions. */
export const settingsFor = (url: string) => ({
  autoupdate: false,
  share: "disabled",
  model: "bench/bench-model",
  small_model: "bench/bench-model",
  permission: { edit: "allow", bash: "allow", webfetch: "allow", external_directory: "allow" },
  provider: {
    bench: {
      npm: "@ai-sdk/openai-compatible",
      name: "bench",
      options: { baseURL: `${url}/v1`, apiKey: "bench" },
      models: { "bench-model": BENCH_MODEL },
    },
  },
});

/** `name`: of the folder below ~/.config, and of the file in it. */
export async function writeSettings(home: string, name: string, settings: object): Promise<void> {
  const folder = join(home, ".config", name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.json`), JSON.stringify(settings, null, 2));
}

export const opencode: Driver = {
  name: "opencode",
  package: "opencode-ai",
  command: "opencode",
  async setUp({ home, url }) {
    await writeSettings(home, "opencode", { $schema: "https://opencode.ai/config.json", ...settingsFor(url) });
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
  /** A command of its screen: its own server is what that asks. */
  async compact(tool, session) {
    const port = await freePort();
    const server = tool.command(["serve", "--hostname", "127.0.0.1", "--port", String(port)]);
    const failed = server.ended.then(({ stderr, stdout }) => {
      throw new Error(`the server ended: ${stderr.slice(-600)} ${stdout.slice(-600)}`);
    });
    failed.catch(() => {}); // it is ended below
    try {
      const url = `http://127.0.0.1:${port}`;
      await Promise.race([answers(url), failed]);
      const directory = `directory=${encodeURIComponent(tool.cwd)}`;
      const answer = await fetch(`${url}/session/${session}/summarize?${directory}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ providerID: "bench", modelID: "bench-model" }),
      });
      if (!answer.ok) throw new Error(`summarize: ${answer.status} ${await answer.text()}`);
    } finally {
      server.kill("SIGTERM");
      await server.ended;
    }
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
