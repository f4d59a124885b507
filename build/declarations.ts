/** What the sources declare: bundled for those who import the package, and what each route answers. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Plugin } from "rollup";
import { entries, here, plugins } from "./entries.ts";

const CACHE = here("node_modules/.cache/sessarc-build");

/**
 * Writes dist/**.d.mts and dist/responses.json. What they are made of is made anew each time, in three seconds of a processor by
 * the native compiler; they themselves only when that changed: what a function does inside changes nothing here.
 */
export async function writeDeclarations(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const tree = await mkdtemp(join(CACHE, "tree-"));
  try {
    await emit(tree);
    const made = join(CACHE, `made-${await hashOf(tree)}`);
    if (!existsSync(made)) await make(tree, made);
    await cp(made, here("dist"), { recursive: true });
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** A `.d.ts` for each source that the entries lead to. Checks nothing: that is what `npm run typecheck` does. */
async function emit(tree: string): Promise<void> {
  const config = join(tree, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: here("."),
    outDir: tree,
    typeRoots: [here("node_modules/@types")],
  };
  const files = Object.values(entries).map(here);
  await writeFile(config, JSON.stringify({ extends: here("tsconfig.json"), compilerOptions, include: [], files }));
  // Several checkers would each take the same libraries apart.
  const args = [here("node_modules/typescript-native/bin/tsc"), "-p", config, "--checkers", "1"];
  await promisify(execFile)(process.execPath, args);
  await rm(config);
}

/** Of all that makes the result: the tree, the packages it names, and this folder. */
async function hashOf(tree: string): Promise<string> {
  const hash = createHash("sha256");
  for (const root of [tree, here("build"), here("package-lock.json")]) {
    const inside = root.endsWith(".json") ? [""] : (await readdir(root, { recursive: true })).sort();
    for (const name of inside.filter((name) => /(^|\.ts)$/.test(name))) {
      const text = await readFile(join(root, name));
      hash.update(`${name}\0${text.length}\0`).update(text);
    }
  }
  return hash.digest("hex").slice(0, 20);
}

async function make(tree: string, made: string): Promise<void> {
  // One is enough: whoever goes back to an older version waits five seconds.
  for (const name of await readdir(CACHE)) {
    if (name.startsWith("made-")) await rm(join(CACHE, name), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(CACHE, "new-"));
  const { describeResponses } = await import("./responses.ts");
  await writeFile(join(unfinished, "responses.json"), JSON.stringify(describeResponses(tree)));
  await bundleTypes(tree, unfinished);
  // Whoever imports types of `sessarc/plugins` gets every plugin's routes and services; the bundler leaves such imports out.
  const list = join(unfinished, "plugins.d.mts");
  const links = plugins.map((name) => `import './plugins/${name}.mjs';\n`).join("");
  await writeFile(list, links + (await readFile(list, "utf8")));
  await rename(unfinished, made);
}

async function bundleTypes(tree: string, dir: string): Promise<void> {
  const [{ rollup }, { dts }] = await Promise.all([import("rollup"), import("rollup-plugin-dts")]);
  const input = Object.entries(entries).map(([name, source]) => [name, join(tree, source.replace(/\.ts$/, ".d.ts"))]);
  const build = await rollup({
    input: Object.fromEntries(input),
    // Packages' types are not read but for the one the public types name: our users do not install them.
    external: (id) => !/^(\.|\/|[A-Za-z]:|hookable$)/.test(id),
    plugins: [{ name: "declared", resolveId: declarationOf }, dts({ respectExternal: true }), dropHeads()],
    onwarn({ code, message, plugin }) {
      // `cli` exports nothing; types that public ones are made of may stay without a name of their own.
      if (code !== "EMPTY_BUNDLE" && plugin !== "dts") console.warn(message);
    },
  });
  await build.write({
    dir,
    format: "esm",
    entryFileNames: "[name].d.mts",
    chunkFileNames: ({ name }) => `shared/${name.replace(/\.d$/, "")}.d.mts`,
    hoistTransitiveImports: false,
  });
  await build.close();
}

/** What stands at the head of a source is about the file: here it would be about nothing. */
function dropHeads(): Plugin {
  return { name: "heads", renderChunk: (code) => code.replace(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\n+/g, "") };
}

/** Declarations name sources (`./git.ts`); `hookable` is asked for by name. */
function declarationOf(id: string, from?: string): string | null {
  if (id === "hookable") return here("node_modules/hookable/dist/index.d.mts");
  return from && /^\..*(?<!\.d)\.ts$/.test(id) ? resolve(dirname(from), id.replace(/\.ts$/, ".d.ts")) : null;
}
