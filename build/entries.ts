/** What is built of which source, and what stays an import of the package that is installed. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** An absolute path from one below the project. */
export const here = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const manifest = JSON.parse(readFileSync(here("package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
};

export const plugins: readonly string[] = readdirSync(here("plugins")).filter((name) =>
  existsSync(here(`plugins/${name}/index.ts`)),
);

/** Modules of plugins that pool workers import by name. */
const tasks: Readonly<Record<string, string>> = {
  "plugins/archive/count-job": "plugins/archive/search/count-job.ts",
  "plugins/archive/job": "plugins/archive/import/job.ts",
  "plugins/git/export-job": "plugins/git/history/export-job.ts",
  "plugins/mcp-hub/config-job": "plugins/mcp-hub/configs/job.ts",
  "plugins/security/job": "plugins/security/job.ts",
  "check-job": "core/storage/check-job.ts",
  "replay-job": "core/storage/replay-job.ts",
};

/** Files below dist/, without their extension, and the sources they begin with. */
export const entries: Readonly<Record<string, string>> = {
  index: "core/index.ts",
  adapter: "core/adapter/index.ts",
  terminal: "core/terminal/index.ts",
  cli: "core/cli.ts",
  worker: "core/workers/worker.ts",
  test: "test/published.ts",
  plugins: "plugins/index.ts",
  dashboard: "plugins/dashboard/ui.ts",
  ...Object.fromEntries(plugins.map((name) => [`plugins/${name}`, `plugins/${name}/index.ts`])),
  ...tasks,
};

/**
 * True for what users install, and for the package itself: plugins reach the kernel by its name, so that there is one copy of it.
 * All else, development dependencies, is taken in: one file loads faster than many.
 */
export function isExternal(id: string): boolean {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id;
  if (["sessarc", "vitest", "vue"].includes(name)) return true;
  // A dependency because its drivers are loaded by name; what is imported of it otherwise is taken in.
  if (name === "unstorage") return id.startsWith("unstorage/drivers/");
  return Object.hasOwn(manifest.dependencies, name);
}
