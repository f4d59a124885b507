/** `npm run build:service`: dist/ but for the dashboard, which vite builds. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { minifySync } from "rolldown/utils";
import { bundle } from "./bundle.ts";
import { writeDeclarations } from "./declarations.ts";
import { here, manifest, plugins } from "./entries.ts";
import { writeNotices } from "./notices.ts";

await clean();
// The compiler is a process of its own and uses the other cores meanwhile.
const [bundled] = await Promise.all([bundle(), writeDeclarations(), copySqlJs()]);
// The skill that comes with the package, as a folder that people can look at.
await cp(here("plugins/skills/own"), here("dist/skill"), { recursive: true });
await writeNotices([...bundled, here("node_modules/sql.js/package.json")]);
await checkExports();
await writeManual();

/** The dashboard in dist/ui stays, and the notices that it holds too: unchanged, they are no reason to build it again. */
async function clean(): Promise<void> {
  await mkdir(here("dist"), { recursive: true });
  const names = readdirSync(here("dist")).filter((name) => name !== "ui" && name !== "LICENSES.txt");
  await Promise.all(names.map((name) => rm(here(`dist/${name}`), { recursive: true, force: true })));
}

/** SQLite as WebAssembly: one of the nine builds of its package. Compressed by us it is a seventh smaller than by npm. */
async function copySqlJs(): Promise<void> {
  await mkdir(here("dist/sqljs"), { recursive: true });
  const script = await readFile(here("node_modules/sql.js/dist/sql-wasm.js"), "utf8");
  await writeFile(here("dist/sqljs/sql-wasm.cjs"), minifySync("sql-wasm.cjs", script, { compress: true }).code);
  const wasm = await promisify(brotliCompress)(await readFile(here("node_modules/sql.js/dist/sql-wasm.wasm")));
  await writeFile(here("dist/sqljs/sql-wasm.wasm.br"), wasm);
}

/** package.json and what was built must agree, in both directions. */
async function checkExports(): Promise<void> {
  const wanted = new Set(["dist/cli.mjs", "dist/worker.mjs"]);
  for (const target of Object.values(manifest.exports)) {
    for (const path of typeof target === "string" ? [target] : Object.values(target)) {
      if (!path.startsWith("./dist/")) continue;
      if (path.includes("*")) for (const name of plugins) wanted.add(path.slice(2).replace("*", name));
      else wanted.add(path.slice(2));
    }
  }
  const missing = [...wanted].filter((path) => !existsSync(here(path)));
  const built = readdirSync(here("dist/plugins"), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `dist/plugins/${entry.name}`);
  const extra = built.filter((path) => !wanted.has(path));
  if (missing.length > 0) throw new Error(`package.json names files that were not built: ${missing.join(", ")}`);
  if (extra.length > 0) throw new Error(`Built files that package.json does not export: ${extra.join(", ")}`);
  await chmod(here("dist/cli.mjs"), 0o755);
}

/** `man sessarc`, where the package is installed globally. The command writes it as it prints it. Last: it runs what was built. */
async function writeManual(): Promise<void> {
  // Without the configuration of whoever builds.
  const env = { ...process.env, HOME: here("dist"), XDG_CONFIG_HOME: here("dist") };
  const { stdout } = await promisify(execFile)(process.execPath, [here("dist/cli.mjs"), "manual"], {
    cwd: here("dist"),
    env,
  });
  await writeFile(here("dist/sessarc.1"), stdout);
}
