import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type BuildContext, defineBuildConfig } from "unbuild";
import { describeResponses } from "./build/responses.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const plugins = readdirSync(here("plugins")).filter((name) => existsSync(here(`plugins/${name}/index.ts`)));

/** Modules of plugins that pool workers import by name. */
const tasks: Record<string, string> = {
  "archive/job": "archive/import/job",
  "git/export-job": "git/history/export-job",
  "mcp-hub/config-job": "mcp-hub/configs/job",
  "security/job": "security/job",
};

let bundledFiles: readonly string[] = [];

export default defineBuildConfig({
  // With their extension: the bundler of types would else make a TypeScript program for each, and take four times as long.
  entries: [
    { input: "core/index.ts", name: "index" },
    { input: "core/adapter/index.ts", name: "adapter" },
    { input: "core/terminal/index.ts", name: "terminal" },
    { input: "core/cli.ts", name: "cli" },
    { input: "core/workers/worker.ts", name: "worker" },
    { input: "test/published.ts", name: "test" },
    { input: "plugins/index.ts", name: "plugins" },
    { input: "plugins/dashboard/ui.ts", name: "dashboard" },
    ...plugins.map((name) => ({ input: `plugins/${name}/index.ts`, name: `plugins/${name}` })),
    ...Object.entries(tasks).map(([name, input]) => ({ input: `plugins/${input}.ts`, name: `plugins/${name}` })),
  ],
  declaration: "node16",
  clean: false,
  sourcemap: false,
  // Plugins reach the kernel by the package's own name, which Node resolves to this package: one copy of the kernel.
  externals: [/^sessarc($|\/)/, "vitest", "vue"],
  rollup: {
    emitCJS: false,
    // Of others' code, too: without its comments it is half as large. Their licences are in LICENSES.txt.
    esbuild: { target: "node20", exclude: [], legalComments: "none" },
    inlineDependencies: true,
    resolve: { exportConditions: ["node"], preferBuiltins: true },
    // One file for what every command needs: Node takes about a millisecond for each file it loads.
    output: { manualChunks: { core: [here("core/index.ts"), here("core/cli/main.ts"), here("core/cli/io.ts")] } },
  },
  hooks: {
    "build:before": cleanServer,
    "rollup:options": (_, options) => {
      const asConfigured = options.external as (id: string, ...rest: unknown[]) => boolean;
      options.external = (id, ...rest) => !isUnstorage(id) && asConfigured(id, ...rest);
      options.plugins.unshift(leaveOut(UNUSED));
    },
    // Packages' types are not read but for the one the public types name: our users do not install them.
    "rollup:dts:options": (_, options) => {
      options.external = (id) => !/^(\.|\/|[A-Za-z]:|hookable$)/.test(id);
    },
    "rollup:build": (_, build) => {
      bundledFiles = build.watchFiles;
    },
    "build:done": async (ctx) => {
      await linkTypes();
      await copySqlJs();
      await writeFile(here("dist/responses.json"), JSON.stringify(describeResponses()));
      await checkExports(ctx);
      await writeManual();
      await writeLicenses([...bundledFiles, here("node_modules/sql.js/package.json")]);
      // The skill that comes with the package, as a folder that people can look at.
      await cp(here("plugins/skills/own"), here("dist/skill"), { recursive: true });
    },
  },
});

/** What listhen brings for certificates, tunnels, the clipboard and its own file watcher: plain HTTP on one address never gets there. */
const UNUSED: Record<string, string> = Object.fromEntries(
  ["node-forge", "untun", "tinyclip", "crossws/adapters/node", "@parcel/watcher-wasm"].map((name) => [
    name,
    "export default {};",
  ]),
);
/** Three copies of Ajv: the hub passes content on unchecked (`pass-on.ts`). */
for (const name of ["client", "server"]) {
  UNUSED[`@modelcontextprotocol/${name}/_shims`] = [
    "export const CORS_IS_POSSIBLE = false;",
    "export class DefaultJsonSchemaValidator {}",
    'export { default as process } from "node:process";',
  ].join("\n");
}
UNUSED["../validation/ajv-provider.js"] = "export class AjvJsonSchemaValidator {}";

/** Modules by the name they are imported by, with what stands in their place. */
function leaveOut(modules: Readonly<Record<string, string>>) {
  const prefix = "\0left-out:";
  return {
    name: "leave-out",
    resolveId: (id: string) => (Object.hasOwn(modules, id) ? prefix + id : null),
    load: (id: string) => (id.startsWith(prefix) ? modules[id.slice(prefix.length)] : null),
  };
}

/**
 * Its core is taken in like all that is under devDependencies, because that loads faster than many files. It is a dependency
 * all the same: its drivers are loaded by name.
 */
function isUnstorage(id: string): boolean {
  // An import as written, or the file it was resolved to.
  const name = id.replaceAll("\\", "/").split("/node_modules/").at(-1) ?? id;
  return name === "unstorage" || (name.startsWith("unstorage/") && !name.startsWith("unstorage/drivers/"));
}

/** The dashboard in dist/ui is built by vite and stays. */
async function cleanServer(): Promise<void> {
  if (!existsSync(here("dist"))) return;
  const names = readdirSync(here("dist")).filter((name) => name !== "ui");
  await Promise.all(names.map((name) => rm(here(`dist/${name}`), { recursive: true, force: true })));
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

/** Whoever imports types of `sessarc/plugins` gets every plugin's routes and services; the type bundler leaves such imports out. */
async function linkTypes(): Promise<void> {
  const file = here("dist/plugins.d.mts");
  const links = plugins.map((name) => `import './plugins/${name}.mjs';\n`).join("");
  await writeFile(file, links + (await readFile(file, "utf8")));
}

/** `man sessarc`, where the package is installed globally. The command writes it as it prints it. */
async function writeManual(): Promise<void> {
  // Without the configuration of whoever builds.
  const env = { ...process.env, HOME: here("dist"), XDG_CONFIG_HOME: here("dist") };
  const { stdout } = await promisify(execFile)(process.execPath, [here("dist/cli.mjs"), "manual"], {
    cwd: here("dist"),
    env,
  });
  await writeFile(here("dist/sessarc.1"), stdout);
}

/** SQLite as WebAssembly: one of the nine builds of its package. */
async function copySqlJs(): Promise<void> {
  await mkdir(here("dist/sqljs"), { recursive: true });
  await cp(here("node_modules/sql.js/dist/sql-wasm.js"), here("dist/sqljs/sql-wasm.cjs"));
  await cp(here("node_modules/sql.js/dist/sql-wasm.wasm"), here("dist/sqljs/sql-wasm.wasm"));
}

/** The licences of the packages that were taken in stand beside the code. */
async function writeLicenses(files: readonly string[]): Promise<void> {
  const roots = new Set(
    files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll("\\", "/"))?.[0] ?? []),
  );
  const texts = [...roots].sort().map(async (root) => {
    const { name, version, license } = JSON.parse(await readFile(`${root}/package.json`, "utf8")) as Record<
      string,
      string
    >;
    const file = readdirSync(root).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file ? await readFile(`${root}/${file}`, "utf8") : ""}`;
  });
  await writeFile(here("dist/LICENSES.txt"), (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`));
}
