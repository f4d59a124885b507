/** What every route answers, from the types of its handler: GET /api/openapi.json says it. Runs when the package is built. */
import { join, resolve } from "node:path";
import ts from "typescript";
import type { Responses } from "../responses.ts";
import { createConverter } from "./json-schema.ts";

/**
 * `folder`: has the declarations of all sources, where what the handlers answer is written out. Throws when they do not say what a route
 * answers. Run at the project's root.
 */
export function describeResponses(folder: string, plugins: readonly string[]): Responses {
  const tree = resolve(folder);
  const entry = join(tree, "routes.ts");
  const text = [
    'import type { ApiRoutes } from "sessarc";',
    'import type { KernelRoutes } from "sessarc/serve";',
    ...plugins.map((name) => `import type {} from "sessarc/plugins/${name}";`),
    "export type All = ApiRoutes & KernelRoutes;",
  ].join("\n");
  const options = readOptions(tree);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => path === entry || fileExists(path);
  host.readFile = (path) => (path === entry ? text : readFile(path));
  host.getSourceFile = (path, ...rest) =>
    path === entry ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : getSourceFile(path, ...rest);
  const program = ts.createProgram([entry], options, host);
  const checker = program.getTypeChecker();
  const converter = createConverter(checker, tree);
  const file = program.getSourceFile(entry);
  const all = file?.statements.find(ts.isTypeAliasDeclaration);
  if (!file || !all) throw new Error("the list of routes was not compiled");

  const routes: Responses["routes"] = {};
  for (const route of checker.getPropertiesOfType(checker.getTypeAtLocation(all.name))) {
    const types = checker.getTypeOfSymbol(route);
    const response = checker.getPropertyOfType(types, "response");
    if (!response) throw new Error(`${route.name} does not say what it answers`);
    routes[route.name] = toAnswer(checker.getTypeOfSymbol(response));
  }
  if (Object.keys(routes).length === 0) throw new Error("no route was found");
  return { routes, schemas: converter.schemas };

  function toAnswer(type: ts.Type): Responses["routes"][string] {
    const parts = type.isUnion() ? type.types : [type];
    const json = parts.filter((part) => part.symbol?.name !== "Response");
    const nothing = json.every(
      (part) => part.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined | ts.TypeFlags.Never),
    );
    const schemas = nothing ? [] : json.length === parts.length ? [type] : json;
    return {
      json:
        schemas.length === 0
          ? undefined
          : schemas.length === 1 && schemas[0]
            ? converter.convert(schemas[0])
            : { anyOf: schemas.map(converter.convert) },
      other: json.length < parts.length,
    };
  }
}

/** The project's, with the package's names leading into `tree`. */
function readOptions(tree: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ".");
  const paths = Object.entries(options.paths ?? {}).map(([name, files]) => [
    name,
    files.map((file) => join(tree, file.replace(/\.ts$/, ".d.ts"))),
  ]);
  return { ...options, paths: Object.fromEntries(paths), typeRoots: [resolve("node_modules/@types")] };
}
