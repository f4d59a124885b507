import { opencode, settingsFor, writeSettings } from "./opencode.ts";
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
  setUp: ({ home, url }) => writeSettings(home, "kilo", settingsFor(url)),
  env: () => ({ KILO_DISABLE_AUTOUPDATE: "1", KILO_DISABLE_MODELS_FETCH: "1", KILO_DISABLE_LSP_DOWNLOAD: "1" }),
};
