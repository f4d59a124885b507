/** `npm run build:service`: dist/ without the dashboard, which vite builds (`ui/vite.config.ts`). */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { defineBuildConfig } from "unbuild";
import { minifySync, parseSync, type Rollup } from "vite";
import { describeResponses } from "./core/http/build/responses.ts";
import manifest from "./package.json" with { type: "json" };
import { collectNotices } from "./ui/build/notices.ts";

/** Each plugin is a module of its own: `sessarc/plugins/<name>`. */
const plugins = readdirSync("plugins").filter((name) => existsSync(`plugins/${name}/index.ts`));

/** Files below dist/, without their extension, and the sources they begin with. */
const entries: Record<string, string> = {
  index: "core/index.ts",
  adapter: "core/entries/adapter.ts",
  files: "core/entries/files.ts",
  serve: "core/entries/serve.ts",
  storage: "core/entries/storage.ts",
  terminal: "core/entries/terminal.ts",
  cli: "core/cli.ts",
  supervise: "core/background/supervise.ts",
  test: "test/published.ts",
  plugins: "plugins/index.ts",
  dashboard: "plugins/dashboard/ui.ts",
  kit: "plugins/dashboard/kit.ts",
  ...Object.fromEntries(plugins.map((name) => [`plugins/${name}`, `plugins/${name}/index.ts`])),
  // What threads load by name.
  worker: "core/workers/worker.ts",
  "catalogue-thread": "core/storage/thread-entry.ts",
  "plugins/archive/count-job": "plugins/archive/search/count-job.ts",
  "plugins/archive/job": "plugins/archive/import/job.ts",
  "plugins/blame/indexer/indexer": "plugins/blame/indexer/indexer.ts",
  "plugins/git/export-job": "plugins/git/history/export-job.ts",
  "plugins/health/indexer": "plugins/health/indexer.ts",
  "plugins/mcp-hub/config-job": "plugins/mcp-hub/configs/job.ts",
  "plugins/mcp-hub/large-job": "plugins/mcp-hub/large-job.ts",
  "plugins/recall/facts/indexer": "plugins/recall/facts/indexer.ts",
  "plugins/rescue/job": "plugins/rescue/keep/job.ts",
  "plugins/security/export/job": "plugins/security/export/job.ts",
  "plugins/security/guard/taint/analysis": "plugins/security/guard/taint/analysis.ts",
  "plugins/security/scrub/job": "plugins/security/scrub/job.ts",
  "plugins/security/scrub/mask": "plugins/security/scrub/mask.ts",
  "plugins/security/secrets/job": "plugins/security/secrets/job.ts",
  "plugins/security/secrets/leaks/files": "plugins/security/secrets/leaks/files.ts",
  "plugins/security/secrets/leaks/indexer": "plugins/security/secrets/leaks/indexer.ts",
  "plugins/security/secrets/leaks/value": "plugins/security/secrets/leaks/value.ts",
  // Served to the dashboard of a team's server.
  "plugins/team/people-screen": "plugins/team/server/people/screen/index.ts",
  "plugins/team/database/words-indexer": "plugins/team/database/words-indexer.ts",
};

const notices = collectNotices();

/** Names of the package that its declarations import, and where these begin. */
const TYPES: Record<string, string> = {
  sessarc: "core/index",
  "sessarc/adapter": "core/entries/adapter",
  "sessarc/files": "core/entries/files",
  "sessarc/serve": "core/entries/serve",
  "sessarc/storage": "core/entries/storage",
  "sessarc/terminal": "core/entries/terminal",
  "sessarc/test": "test/published",
  "sessarc/plugins": "plugins/index",
  "sessarc/dashboard": "plugins/dashboard/ui",
  "sessarc/kit": "plugins/dashboard/kit",
};

/** Removes the declarations that no public one leads to: half of the files. */
function removeUnreached(root: string): void {
  const reached = new Set<string>();
  const waiting = [...Object.values(TYPES), ...plugins.map((name) => `plugins/${name}/index`)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const file = join(root, `${name}.d.ts`);
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport\(|^import)\s*"([^"]+)"/gm))
      waiting.push(from.startsWith(".") ? join(dirname(name), from.replace(/\.ts$/, "")) : (TYPES[from] ?? ""));
  }
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".d.ts") && !reached.has(join(root, file))) rmSync(join(root, file));
}

const LINE = 160;

/**
 * Names of functions stay and lines are short, so that a stack trace says where it was. esbuild's `keepNames` defines the name of each inner
 * function again whenever the function around it runs, which took a third of a scan for secrets.
 */
function shorten(file: string, source: string): string {
  const options = {
    module: true,
    compress: {
      target: "node20",
      keepNames: { function: true, class: true },
      joinVars: false,
      sequences: false,
    },
    mangle: { toplevel: true, keepNames: true },
  } as const;
  const { code, errors } = minifySync(file, source, { ...options, codegen: { removeWhitespace: true } });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lines: string[] = [];
  let from = 0;
  for (const at of statementsOf(parseSync(file, code).program)) {
    if (at - from < LINE) continue;
    lines.push(code.slice(from, at));
    from = at;
  }
  return [...lines, code.slice(from)].join("\n");
}

/** Where statements begin, in order: a line may end before each of them. */
function statementsOf(root: object): number[] {
  const starts: number[] = [];
  const walk = (node: object): void => {
    if ("type" in node && "start" in node && /Statement$|Declaration$/.test(String(node.type)))
      starts.push(Number(node.start));
    for (const child of Object.values(node)) if (typeof child === "object" && child !== null) walk(child);
  };
  walk(root);
  return starts.sort((a, b) => a - b);
}

/** Remarks on packages that cannot be changed here, and on `sessarc/dashboard`, which has nothing but types. */
const isOfNoUse = ({ code = "", id, ids, exporter, names, message }: Rollup.RollupLog): boolean =>
  code === "EMPTY_BUNDLE"
    ? names?.includes("dashboard") === true
    : ["INVALID_ANNOTATION", "UNUSED_EXTERNAL_IMPORT"].includes(code) &&
      [id, exporter, message, ...(ids ?? [])].some((text) => text?.includes("node_modules/"));

/** Makes certificates for HTTPS; listhen loads all of it at each start, 280 KB and some 60 ms. The service speaks plain HTTP on the machine. */
const CERTIFICATES = "node-forge";

export default defineBuildConfig({
  entries: Object.entries(entries).map(([name, input]) => ({ input, name })),
  // Dependencies stay imports, and so does the package itself: plugins reach the kernel by its name, so that there is one copy of it.
  // Development dependencies are taken in.
  externals: ["sessarc", "vitest", "vue", ...Object.keys(manifest.dependencies)],
  rollup: {
    inlineDependencies: true,
    // Some packages export their code for Node under this condition alone.
    resolve: { exportConditions: ["node", "production"] },
    esbuild: { target: "node20", minifySyntax: true },
    output: { chunkFileNames: "chunks/[name].mjs" },
  },
  // The dashboard in dist/ui stays.
  clean: false,
  failOnWarn: false,
  hooks: {
    "build:before"() {
      mkdirSync("dist", { recursive: true });
      for (const name of readdirSync("dist")) if (name !== "ui") rmSync(`dist/${name}`, { recursive: true });
      // One declaration for each source. They name each other by `.ts`, which TypeScript reads as `.d.ts`.
      const compiler = "node_modules/typescript-native/bin/tsc";
      execFileSync(process.execPath, [compiler, "-p", "core/declarations.json", "--outDir", "dist/types"]);
    },
    "rollup:options"(_context, options) {
      const { onwarn } = options;
      options.onwarn = (warning, warn) => {
        if (!isOfNoUse(warning)) (onwarn ?? ((one, report) => report(one)))(warning, warn);
      };
      options.plugins.unshift({
        name: "no-certificates",
        resolveId: (id) => (id === CERTIFICATES ? `\0${id}` : null),
        load: (id) => (id === `\0${CERTIFICATES}` ? "export default {};" : null),
      });
      options.plugins.push(notices.plugin, {
        name: "shorten",
        renderChunk: (code, { fileName }) => shorten(fileName, code),
      });
    },
    "rollup:done"({ buildEntries }) {
      // What is listed after the build: 400 lines of sizes hide a warning from who installs.
      for (const entry of buildEntries) entry.chunk = true;
    },
    "build:done"() {
      writeFileSync("dist/responses.json", JSON.stringify(describeResponses("dist/types", plugins)));
      removeUnreached("dist/types");
      // Of the nine builds of SQLite in its package the one that is used.
      mkdirSync("dist/sqljs");
      copyFileSync("node_modules/sql.js/dist/sql-wasm.js", "dist/sqljs/sql-wasm.cjs");
      copyFileSync("node_modules/sql.js/dist/sql-wasm.wasm", "dist/sqljs/sql-wasm.wasm");
      cpSync("plugins/skills/own", "dist/skill", { recursive: true });
      notices.write("dist/LICENSES.txt", ["sql.js"]);
      chmodSync("dist/cli.mjs", 0o755);
      // Last: it runs what was built, without the configuration of the user who builds.
      const env = { ...process.env, HOME: "/nonexistent", XDG_CONFIG_HOME: "/nonexistent" };
      writeFileSync("dist/sessarc.1", execFileSync(process.execPath, ["dist/cli.mjs", "manual"], { env }));
    },
  },
});
