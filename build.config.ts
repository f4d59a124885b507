import { existsSync, readdirSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type BuildContext, defineBuildConfig } from "unbuild";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const plugins = readdirSync(here("plugins")).filter((name) => existsSync(here(`plugins/${name}/index.ts`)));

/** Modules of plugins that pool workers import by name. */
const tasks: Record<string, string> = { "archive/job": "archive/import/job" };

export default defineBuildConfig({
  // With their extension: the bundler of types would else make a TypeScript program for each, and take four times as long.
  entries: [
    { input: "core/index.ts", name: "index" },
    { input: "core/cli.ts", name: "cli" },
    { input: "core/workers/worker.ts", name: "worker" },
    { input: "test/published.ts", name: "test" },
    { input: "plugins/index.ts", name: "plugins" },
    ...plugins.map((name) => ({ input: `plugins/${name}/index.ts`, name: `plugins/${name}` })),
    ...Object.entries(tasks).map(([name, input]) => ({ input: `plugins/${input}.ts`, name: `plugins/${name}` })),
  ],
  declaration: "node16",
  clean: true,
  sourcemap: false,
  // Plugins reach the kernel by the package's own name, which Node resolves to this package: one copy of the kernel.
  externals: [/^sessarc($|\/)/, "vitest"],
  rollup: {
    emitCJS: false,
    esbuild: { target: "node20" },
    inlineDependencies: true,
    resolve: { exportConditions: ["node"], preferBuiltins: true },
    // One file for what every command needs: Node takes about a millisecond for each file it loads.
    output: { manualChunks: { core: [here("core/index.ts"), here("core/cli/main.ts")] } },
  },
  hooks: {
    "rollup:options": (_, options) => {
      const asConfigured = options.external as (id: string, ...rest: unknown[]) => boolean;
      options.external = (id, ...rest) => !isBundled(id) && asConfigured(id, ...rest);
    },
    // Types keep their imports: a plugin's H3Event is h3's own.
    "rollup:dts:options": (_, options) => {
      const asBundled = options.external as (id: string, ...rest: unknown[]) => boolean;
      options.external = (id, ...rest) => isBundled(id) || asBundled(id, ...rest);
    },
    "build:done": checkExports,
  },
});

/** Packages that are taken into dist/, because that loads faster than their own many files. */
const BUNDLED = ["h3", "hookable", "valibot", "unstorage", "listhen", "@valibot/to-json-schema"];

function isBundled(id: string): boolean {
  // An import as written, or the file it was resolved to.
  const name = id.replaceAll("\\", "/").split("/node_modules/").at(-1) ?? id;
  return BUNDLED.some((bundled) => name === bundled || name.startsWith(`${bundled}/`));
}

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
