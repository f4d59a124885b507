/** The service and the plugins as JavaScript in dist/. */
import { type Plugin, rolldown } from "rolldown";
import { entries, here, isExternal } from "./entries.ts";

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

const CORE = ["core/index.ts", "core/cli/main.ts", "core/cli/io.ts"].map(here);
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
    codeSplitting: { groups: [{ name: "core", test: (id) => CORE.includes(id) }] },
  });
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  return chunks.flatMap((chunk) => chunk.moduleIds.filter((id) => (chunk.modules[id]?.renderedLength ?? 0) > 0));
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
