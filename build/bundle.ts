/** The service and the plugins as JavaScript in dist/. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";
import { entries, here, isExternal } from "./entries.ts";

/** What listhen brings for certificates, tunnels, the clipboard and its own file watcher: plain HTTP on one address never gets there. */
const UNUSED: Record<string, string> = Object.fromEntries(
  ["node-forge", "untun", "tinyclip", "crossws/adapters/node", "@parcel/watcher-wasm"].map((name) => [
    name,
    "export default {};",
  ]),
);
/** What it would print, show as a QR code or open: it is told to do none of that. */
Object.assign(UNUSED, {
  consola: "const silent = { warn() {}, withTag: () => silent }; export const consola = silent; export default silent;",
  "consola/utils": "export const colors = {}; export const getColor = () => String;",
  uqr: "export const renderUnicodeCompact = String;",
  "../chunks/xdg-open.mjs": "export const xdgOpenScript = String;",
});
/** Three copies of Ajv: the hub passes content on unchecked (`pass-on.ts`). */
for (const name of ["client", "server"]) {
  UNUSED[`@modelcontextprotocol/${name}/_shims`] = [
    "export const CORS_IS_POSSIBLE = false;",
    "export class DefaultJsonSchemaValidator {}",
    'export { default as process } from "node:process";',
  ].join("\n");
}
UNUSED["../validation/ajv-provider.js"] = "export class AjvJsonSchemaValidator {}";

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
    plugins: [leaveOut(UNUSED)],
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
    // Half a megabyte less. Names and lines stay: a stack trace says where it was, and Node prints one line, not the file.
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
  await passBy(chunks.map((chunk) => chunk.fileName));
  await squeeze(chunks.filter(isOfOthers).map((chunk) => chunk.fileName));
  return chunks.flatMap((chunk) => chunk.moduleIds.filter((id) => (chunk.modules[id]?.renderedLength ?? 0) > 0));
}

/**
 * A module that is loaded by `await import()` and stands in a file with others gets one of its own that only passes its names on. Whoever
 * imports that imports the other at once: on a start these are ten files.
 */
async function passBy(files: readonly string[]): Promise<void> {
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
  for (const [file, text] of texts) await writeFile(here(`dist/${file}`), text);
}

const isOfOthers = ({ moduleIds }: { moduleIds: readonly string[] }) =>
  moduleIds.length > 0 && moduleIds.every((id) => /[\\/]node_modules[\\/]|^\0/.test(id));

/** Files that hold others' code alone lose their lines, too: no fault of ours is looked for in them. */
async function squeeze(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const path = here(`dist/${file}`);
    const { code } = minifySync(file, await readFile(path, "utf8"), { module: true, compress: false, mangle: false });
    await writeFile(path, code);
  }
}

/** Modules by the name they are imported by, with what stands in their place. */
function leaveOut(modules: Readonly<Record<string, string>>): Plugin {
  const prefix = "\0left-out:";
  return {
    name: "leave-out",
    resolveId: (id) => (Object.hasOwn(modules, id) ? prefix + id : null),
    load: (id) => (id.startsWith(prefix) ? (modules[id.slice(prefix.length)] ?? null) : null),
  };
}
