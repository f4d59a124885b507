/** A real assistant as the command of `--with`: what it has in its home's settings otherwise is in its arguments and variables. */
import { join } from "node:path";
import type { Driven } from "./drive.ts";
import { codex } from "./tools/codex.ts";
import { geminiCli } from "./tools/gemini-cli.ts";

/** With another address of its service Gemini takes the way to sign in from its settings alone. */
const GEMINI_SETTINGS = `mkdir -p ~/.gemini; echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' > ~/.gemini/settings.json; `;

/** What is in a file of the home: the sandbox has its own home. */
function toSettings({ driver, url }: Driven): string[] {
  if (driver !== codex) return [];
  const bench = { name: "bench", base_url: `${url}/v1`, env_key: "BENCH_KEY", wire_api: "responses" };
  const settings = {
    model_provider: "bench",
    ...Object.fromEntries(Object.entries(bench).map(([name, value]) => [`model_providers.bench.${name}`, value])),
    "model_providers.bench.supports_websockets": false,
    "model_providers.bench.request_max_retries": 0,
    "model_providers.bench.stream_max_retries": 0,
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
}

export interface AssistantCommand {
  /** For `--with`. */
  command: string;
  /** What `sessarc` must have in its environment. */
  env: Record<string, string>;
  /** Of `sessarc`, so that the command gets its variables, the model server and its own program. */
  flags: string[];
}

export function toAssistantCommand(tool: Driven): AssistantCommand {
  const { driver } = tool;
  const env = {
    SESSARC_DATA_DIR: join(tool.home, "data"),
    ...driver.env(tool),
    NO_PROXY: "127.0.0.1",
    HTTPS_PROXY: tool.url,
  };
  const words = [
    join(tool.bin, driver.command),
    ...driver.args({ prompt: "$SESSARC_PROMPT", extra: toSettings(tool) }, tool),
  ];
  const command =
    (driver === geminiCli ? GEMINI_SETTINGS : "") +
    words.map((word) => (word === "$SESSARC_PROMPT" ? '"$SESSARC_PROMPT"' : `'${word}'`)).join(" ");
  const names = Object.keys(env).flatMap((name) => ["--env", name]);
  return { command, env, flags: ["--network", ...names, "--readable", join(tool.bin, "..", "..")] };
}
