/**
 * The client's and the server's SDK each bring a copy of what both are made of, word for word. Their files say with `//#region` where the
 * modules begin that they were made of: those that are equal in both, and lean on nothing that is not, become one module for both.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { minifySync, parseSync } from "rolldown/utils";
import { here } from "./entries.ts";

const REGION = /^\/\/#region .*\n[\s\S]*?^\/\/#endregion\n/gm;
const IMPORT = /^import .*;\n/gm;
const WORD = /[A-Za-z_$][\w$]*/g;

const folderOf = (name: string) => here(`node_modules/@modelcontextprotocol/${name}/dist`);
/** As a path, so that what it imports is looked for where the client finds it. */
const SHARED = join(folderOf("client"), "in-both.mjs");

export function inBoth(): Plugin {
  const files = new Map(["client", "server"].map(readSource));
  const [one = "", other = ""] = files.values();
  const regions = sharedRegions(one, other);
  const names = regions.flatMap(namesIn);
  const imports = commonImports(one, other);
  const shared = [...imports, ...regions, `export { ${names.join(", ")} };\n`].join("");
  return {
    name: "in-both",
    resolveId: (id) => (id === SHARED ? SHARED : null),
    load(id) {
      if (id === SHARED) return shared;
      const text = files.get(id);
      if (text === undefined) return null;
      const rest = regions.reduce((left, region) => left.replace(region, () => ""), text);
      return `import { ${names.join(", ")} } from ${JSON.stringify(SHARED)};\n${rest}`;
    },
  };
}

/** The file that holds what both are made of, with its path. */
function readSource(name: string): [path: string, text: string] {
  const folder = folderOf(name);
  const [file, ...others] = readdirSync(folder).filter((one) => /^src-.*\.mjs$/.test(one));
  if (file === undefined || others.length > 0)
    throw new Error(`${folder} is made otherwise than it was: look at build/in-both.ts`);
  const path = join(folder, file);
  return [path, readFileSync(path, "utf8")];
}

function sharedRegions(one: string, other: string): string[] {
  const theirs = new Set(matches(other, REGION));
  let shared = matches(one, REGION).filter((region) => theirs.has(region));
  for (;;) {
    const kept = new Set(shared);
    const foreign = new Set([one, other].flatMap((text) => ownNames(text, kept, text === one ? other : one)));
    const next = shared.filter((region) => !wordsIn(region).some((word) => foreign.has(word)));
    if (next.length === shared.length) return shared;
    shared = next;
  }
}

/** Imports of one that the other has too; files beside them are the same but for the digest in their names. */
function commonImports(one: string, other: string): string[] {
  const bare = (line: string) => line.replace(/-[\w-]{8}\.mjs"/, '.mjs"');
  const theirs = new Set(matches(other, IMPORT).map(bare));
  return matches(one, IMPORT).filter((line) => theirs.has(bare(line)));
}

/** Names that mean something of this file alone: of regions that are not shared, and of imports that the other does not have. */
function ownNames(text: string, shared: ReadonlySet<string>, other: string): string[] {
  const common = commonImports(text, other);
  const imports = matches(text, IMPORT).filter((line) => !common.includes(line));
  const regions = matches(text, REGION).filter((region) => !shared.has(region));
  const bound = imports.flatMap((line) => matches(line.replace(/\bfrom .*/, "").replace(/[\w$]+ as /g, ""), WORD));
  return [...regions.flatMap(namesIn), ...bound.filter((word) => word !== "import")];
}

/** What a region declares at its top. */
function namesIn(region: string): string[] {
  const { body } = parseSync("region.js", region).program;
  return body.flatMap((node) => {
    if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") return node.id ? [node.id.name] : [];
    if (node.type !== "VariableDeclaration") return [];
    return node.declarations.flatMap(({ id }) => {
      if (id.type !== "Identifier")
        throw new Error("A region takes something apart at its top: look at build/in-both.ts");
      return [id.name];
    });
  });
}

/** Comments say much, too. */
function wordsIn(region: string): string[] {
  return matches(minifySync("region.js", region, { module: true, compress: false, mangle: false }).code, WORD);
}

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([whole]) => whole);
