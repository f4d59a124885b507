/** The service and the plugins as JavaScript in dist/. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { rolldown } from "rolldown";
import { entries, here, isExternal } from "./entries.ts";
import { inBoth } from "./in-both.ts";
import { leaveOut } from "./left-out.ts";
import { squeezeAll, squeezeLines } from "./lines.ts";

const CORE = ["core/index.ts", "core/cli/main.ts", "core/cli/io.ts"].map(here);
/** What every kernel loads once it opens an archive. */
const OPENING = ["http/call.ts", "storage/index.ts", "storage/lock.ts", "storage/migrate.ts", "storage/recover.ts"].map(
  (name) => here(`core/${name}`),
);
const NAMES = { function: true, class: true };

/** Answers the files whose code is in the bundles. */
export async function bundle(): Promise<readonly string[]> {
  const build = await rolldown({
    cwd: here("."),
    input: { ...entries },
    platform: "node",
    external: isExternal,
    // Its other build is CommonJS in 73 files, of which nothing can be left out.
    resolve: { alias: { yaml: here("node_modules/yaml/browser/dist/index.js") } },
    plugins: [leaveOut(), inBoth()],
    // An import written as `await import()` says when it is needed; that the file is in one with its importer is wanted.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.write({
    dir: here("dist"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name].mjs",
    // The licences of what is taken in stand in LICENSES.txt.
    comments: false,
    // Names of functions and classes stay: a stack trace says them. What blanks there are goes below, where lines are made.
    minify: { compress: { keepNames: NAMES }, mangle: { keepNames: NAMES }, codegen: { removeWhitespace: false } },
    // One file for what every command needs: Node takes about a millisecond for each file it loads.
    codeSplitting: {
      groups: [
        { name: "core", test: (id) => CORE.includes(id), priority: 2 },
        { name: "opening", test: (id) => OPENING.includes(id), priority: 1 },
      ],
    },
  });
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const files = await passBy(chunks.map((chunk) => chunk.fileName));
  const others = new Set(chunks.filter(isOfOthers).map((chunk) => chunk.fileName));
  for (const [file, text] of files)
    await writeFile(here(`dist/${file}`), (others.has(file) ? squeezeAll : squeezeLines)(file, text));
  return chunks.flatMap((chunk) => chunk.moduleIds.filter((id) => (chunk.modules[id]?.renderedLength ?? 0) > 0));
}

/**
 * A module that is loaded by `await import()` and stands in a file with others gets one of its own that only passes its names on. Whoever
 * imports that imports the other at once: on a start these are ten files. Answers what is left: files below dist/ with their text.
 */
async function passBy(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const file of files) texts.set(file, await readFile(here(`dist/${file}`), "utf8"));
  for (const [file, text] of texts) {
    const [, names, target] = /^export \{ ([^}]+) \} from "\.\/([^"]+)";\s*$/.exec(text) ?? [];
    if (!file.startsWith("chunks/") || !names || !target) continue;
    const members = names.split(", ").map((name) => name.split(" as "));
    const picked = members.map(([inner, outer = inner]) => `${outer}: n.${inner}`).join(", ");
    const mentioned = [...texts].filter(([, other]) => other.includes(`/${basename(file)}"`));
    const written = new RegExp(`import\\("([^"]*/)${basename(file).replace(".", "\\.")}"\\)`, "g");
    for (const [importer, other] of mentioned)
      texts.set(importer, other.replace(written, `import("$1${target}").then((n) => ({ ${picked} }))`));
    if (mentioned.some(([importer]) => texts.get(importer)?.includes(`/${basename(file)}"`))) continue;
    texts.delete(file);
    await rm(here(`dist/${file}`));
  }
  return texts;
}

const isOfOthers = ({ moduleIds }: { moduleIds: readonly string[] }) =>
  moduleIds.length > 0 && moduleIds.every((id) => /[\\/]node_modules[\\/]|^\0/.test(id));
