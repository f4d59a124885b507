import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { opencode } from "./opencode.ts";
import type { Driver } from "./types.ts";

const platform = process.platform === "win32" ? "windows" : process.platform;

/** Made from OpenCode. */
export const kilo: Driver = {
  ...opencode,
  name: "kilo",
  // The package of the program: `@kilocode/cli` only starts it, and may be published before it.
  package: `@kilocode/cli-${platform}-${process.arch}`,
  folder: "bin",
  command: "kilo",
  async setUp({ home, url }) {
    const folder = join(home, ".config", "kilo");
    await mkdir(folder, { recursive: true });
    const model = { name: "bench-model", tool_call: true, reasoning: true, limit: { context: 200_000, output: 8_000 } };
    const options = { baseURL: `${url}/v1`, apiKey: "bench" };
    const settings = {
      autoupdate: false,
      share: "disabled",
      model: "bench/bench-model",
      small_model: "bench/bench-model",
      permission: { edit: "allow", bash: "allow", webfetch: "allow", external_directory: "allow" },
      provider: {
        bench: { npm: "@ai-sdk/openai-compatible", name: "bench", options, models: { "bench-model": model } },
      },
    };
    await writeFile(join(folder, "kilo.json"), JSON.stringify(settings, null, 2));
  },
  env: () => ({ KILO_DISABLE_AUTOUPDATE: "1", KILO_DISABLE_MODELS_FETCH: "1", KILO_DISABLE_LSP_DOWNLOAD: "1" }),
};
