import { existsSync, readdirSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type BuildContext, defineBuildConfig } from "unbuild";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const plugins = readdirSync(here("plugins")).filter((name) => existsSync(here(`plugins/${name}/index.ts`)));

/** Modules of plugins that pool workers import by name. */
const tasks: Record<string, string> = { "archive/job": "archive/import/job" };

export default defineBuildConfig({
  entries: [
    { input: "core/index", name: "index" },
    { input: "core/cli", name: "cli" },
    { input: "core/workers/worker", name: "worker" },
    { input: "test/published", name: "test" },
    { input: "plugins/index", name: "plugins" },
    ...plugins.map((name) => ({ input: `plugins/${name}/index`, name: `plugins/${name}` })),
    ...Object.entries(tasks).map(([name, input]) => ({ input: `plugins/${input}`, name: `plugins/${name}` })),
  ],
  declaration: "node16",
  clean: true,
  sourcemap: false,
  // Plugins reach the kernel by the package's own name, which Node resolves to this package: one copy of the kernel.
  externals: [/^sessarc($|\/)/, "vitest"],
  rollup: { emitCJS: false, esbuild: { target: "node20" } },
  hooks: { "build:done": checkExports },
});

/** package.json and what was built must agree, in both directions. */
async function checkExports(ctx: BuildContext): Promise<void> {
  const wanted = new Set(["dist/cli.mjs", "dist/worker.mjs"]);
  for (const target of Object.values(ctx.pkg.exports ?? {})) {
    for (const path of typeof target === "string" ? [target] : Object.values(target as Record<string, string>)) {
      if (!path.startsWith("./dist/")) continue;
      if (path.includes("*")) for (const name of plugins) wanted.add(path.slice(2).replace("*", name));
      else wanted.add(path.slice(2));
    }
  }
  const missing = [...wanted].filter((path) => !existsSync(here(path)));
  const built = readdirSync(here("dist/plugins"), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `dist/plugins/${entry.name}`);
  const extra = built.filter((path) => !wanted.has(path) && !path.endsWith(".d.ts"));
  if (missing.length > 0) throw new Error(`package.json names files that were not built: ${missing.join(", ")}`);
  if (extra.length > 0) throw new Error(`Built files that package.json does not export: ${extra.join(", ")}`);
  await chmod(here("dist/cli.mjs"), 0o755);
}
