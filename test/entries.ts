/** What each public entry exports, and its documentation in the source. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export interface PublicName {
  name: string;
  /** `type`, `value`, or how it is called: `readRows(path, onRow)`. */
  kind: string;
  /** The doc comment as one line; empty when there is none. */
  doc: string;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Entries by what plugins import, and their files. */
export const ENTRIES: readonly (readonly [entry: string, file: string])[] = [
  ["sessarc", "core/index.ts"],
  ...readdirSync(join(ROOT, "core/entries"))
    .sort()
    .map((file) => [`sessarc/${file.slice(0, -3)}`, `core/entries/${file}`] as const),
];

const parse = (file: string) =>
  ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true);

/** The first sentence of an entry's comment, without its name. */
export const toPurpose = (file: string): string =>
  /^\/\*\* Public entry (?:of )?`[\w/]+`: (.*?)\. /.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? "";

/** What the file of an entry exports, sorted by name. */
export function toNames(file: string): PublicName[] {
  const names = parse(file).statements.flatMap((statement): PublicName[] => {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier || !statement.exportClause) return [];
    if (!ts.isStringLiteral(statement.moduleSpecifier) || !ts.isNamedExports(statement.exportClause)) return [];
    const from = join(dirname(file), statement.moduleSpecifier.text);
    return statement.exportClause.elements.map((element) => {
      const found = toDeclaration(from, (element.propertyName ?? element.name).text);
      return { name: element.name.text, kind: kindOf(found, element.name.text), doc: toDoc(found) };
    });
  });
  return names.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toDeclaration(file: string, name: string): ts.Statement {
  const source = parse(file);
  const again = new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(source.text)?.[1];
  if (again) return toDeclaration(join(dirname(file), again), name);
  const found = source.statements.find((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.some((one) => one.name.getText() === name);
    return isNamed(statement) && statement.name?.text === name;
  });
  if (!found) throw new Error(`${file} declares no ${name}`);
  return found;
}

type Named = ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration;
const isNamed = (node: ts.Statement): node is Named =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node);

function kindOf(node: ts.Statement, name: string): string {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return "type";
  const initial = ts.isVariableStatement(node) ? node.declarationList.declarations[0]?.initializer : undefined;
  const called = ts.isFunctionDeclaration(node) ? node : initial && ts.isArrowFunction(initial) ? initial : undefined;
  return called ? `${name}(${called.parameters.map(toParameter).join(", ")})` : "value";
}

/** An argument that is taken apart is shown by its members; `?`: it may be left out. */
function toParameter({ name, dotDotDotToken, questionToken, initializer }: ts.ParameterDeclaration): string {
  const members = ts.isObjectBindingPattern(name)
    ? `{ ${name.elements.map((one) => (one.propertyName ?? one.name).getText()).join(", ")} }`
    : name.getText();
  return `${dotDotDotToken ? "..." : ""}${members}${questionToken || initializer ? "?" : ""}`;
}

function toDoc(node: ts.Statement): string {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return (ts.getTextOfJSDocComment(comments.at(-1)?.comment) ?? "").replace(/\s+/g, " ").trim();
}
