/** What packages bring that nothing of ours reaches. */
import { readFileSync } from "node:fs";
import type { Plugin } from "rolldown";
import { here } from "./entries.ts";

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
/** Zod's way to JSON schemas: the hub has its own, and passes others' on. */
for (const name of ["json-schema-processors", "to-json-schema"]) {
  const text = readFileSync(here(`node_modules/zod/v4/core/${name}.js`), "utf8");
  const names = [...text.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, exported]) => exported);
  UNUSED[`../core/${name}.js`] = names.map((exported) => `export const ${exported} = () => undefined;`).join("\n");
}

/** Puts something small in the place of what is never reached: by the name it is imported by. */
export function leaveOut(): Plugin {
  const prefix = "\0left-out:";
  return {
    name: "leave-out",
    resolveId: (id) => (Object.hasOwn(UNUSED, id) ? prefix + id : null),
    load: (id) => (id.startsWith(prefix) ? (UNUSED[id.slice(prefix.length)] ?? null) : null),
  };
}
