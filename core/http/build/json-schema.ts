/** TypeScript types as JSON Schema, for what goes over the wire: nothing but JSON, named types once. */
import ts from "typescript";

export type JsonSchema = { [key: string]: unknown };

export interface Converter {
  convert(type: ts.Type): JsonSchema;
  /** Named types that were met, by their names. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** The schema for any JSON value: a more detailed one would be longer without more information. */
const ANY = new Set(["Json", "JsonRecord"]);

/** `root`: types that are declared below it, but in no package, are ours and keep their names. */
export function createConverter(checker: ts.TypeChecker, root: string): Converter {
  const schemas: Record<string, JsonSchema> = {};
  const names = new Map<ts.Symbol, string>();
  const isOurs = (symbol: ts.Symbol) =>
    symbol.declarations?.some((it) => it.getSourceFile().fileName.startsWith(root)) ?? false;

  function convert(type: ts.Type): JsonSchema {
    const symbol = nameable(type, isOurs);
    if (!symbol) return describe(type);
    if (ANY.has(symbol.name)) return {};
    let name = names.get(symbol);
    if (name === undefined) {
      name = freeName(symbol.name);
      names.set(symbol, name);
      schemas[name] = {}; // reserved before its members are read: types may refer to themselves
      schemas[name] = describe(type);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function freeName(wanted: string): string {
    let name = wanted;
    for (let n = 2; name in schemas || name === "Error"; n++) name = `${wanted}${n}`;
    return name;
  }

  function describe(type: ts.Type): JsonSchema {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (type.flags & ts.TypeFlags.Null) return { type: "null" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === "true" };
    if (type.flags & ts.TypeFlags.StringLike) return { type: "string" };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: "number" };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
    if (type.isUnion()) return union(type.types);
    if (checker.isTupleType(type)) {
      return { type: "array", items: union([...checker.getTypeArguments(type as ts.TypeReference)]) };
    }
    if (checker.isArrayLikeType(type)) {
      const item = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
      return { type: "array", items: item ? convert(item) : {} };
    }
    return object(type);
  }

  function union(types: readonly ts.Type[]): JsonSchema {
    const left = types.filter((type) => !(type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)));
    const truths = left.filter((type) => type.flags & ts.TypeFlags.BooleanLiteral);
    const rest = truths.length === 2 ? left.filter((type) => !truths.includes(type)) : left;
    const literals = rest.filter((type) => type.isStringLiteral());
    const others = rest.filter((type) => !type.isStringLiteral());
    const parts = [
      ...(literals.length > 0
        ? [{ type: "string", enum: literals.map((type) => (type as ts.StringLiteralType).value) }]
        : []),
      ...(truths.length === 2 ? [{ type: "boolean" }] : []),
      ...others.map(convert),
    ];
    const seen = new Map(parts.map((part) => [JSON.stringify(part), part]));
    const [only] = seen.values();
    return seen.size === 1 && only ? only : { anyOf: [...seen.values()] };
  }

  function object(type: ts.Type): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type)) {
      const of = checker.getTypeOfSymbol(property);
      if (property.name.startsWith("__@") || of.getCallSignatures().length > 0) continue;
      properties[property.name] = convert(of);
      const mayMiss = property.flags & ts.SymbolFlags.Optional || includesUndefined(of);
      if (!mayMiss) required.push(property.name);
    }
    const rest = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    return {
      type: "object",
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(rest && { additionalProperties: convert(rest) }),
    };
  }

  return { convert, schemas };
}

const includesUndefined = (type: ts.Type): boolean =>
  type.isUnion() && type.types.some((part) => part.flags & ts.TypeFlags.Undefined);

/** The name a type goes by when it is declared by us and takes no parameters. */
function nameable(type: ts.Type, isOurs: (symbol: ts.Symbol) => boolean): ts.Symbol | undefined {
  const ours = (symbol: ts.Symbol) => (isOurs(symbol) ? symbol : undefined);
  if (type.aliasSymbol) return type.aliasTypeArguments?.length ? undefined : ours(type.aliasSymbol);
  const { symbol } = type;
  if (!symbol || !(symbol.flags & ts.SymbolFlags.Interface)) return undefined;
  return (type as ts.TypeReference).typeArguments?.length ? undefined : ours(symbol);
}
