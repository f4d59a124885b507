/** A JSON schema as fields of a form; what a form cannot say is asked as JSON. */
export interface SchemaNode {
  kind: "text" | "number" | "boolean" | "choice" | "list" | "object" | "json";
  title: string;
  description: string;
  choices: string[];
  required: boolean;
  integer: boolean;
  children: Record<string, SchemaNode>;
}
export type Values = Record<string, unknown>;

type Schema = Record<string, unknown>;
const isRecord = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === "string" ? value : "");

/** `depth`: schemas may hold themselves. */
export function toNode(name: string, schema: unknown, required: boolean, depth = 0): SchemaNode {
  const one = isRecord(schema) ? schema : {};
  const properties = isRecord(one.properties) ? one.properties : {};
  const needed = Array.isArray(one.required) ? one.required : [];
  const kind = kindOf(one, depth);
  return {
    kind,
    title: text(one.title) || name,
    description: text(one.description),
    choices: Array.isArray(one.enum) ? one.enum.map(String) : [],
    required,
    integer: one.type === "integer",
    children:
      kind === "object"
        ? Object.fromEntries(
            Object.entries(properties).map(([key, child]) => [
              key,
              toNode(key, child, needed.includes(key), depth + 1),
            ]),
          )
        : {},
  };
}

function kindOf(schema: Schema, depth: number): SchemaNode["kind"] {
  if (Array.isArray(schema.enum) && schema.enum.every((one) => typeof one === "string")) return "choice";
  if (schema.type === "string") return "text";
  if (schema.type === "number" || schema.type === "integer") return "number";
  if (schema.type === "boolean") return "boolean";
  if (schema.type === "array" && isRecord(schema.items) && schema.items.type === "string") return "list";
  if (schema.type === "object" && isRecord(schema.properties) && depth < 4) return "object";
  return "json";
}
