/** The registry's routes as OpenAPI 3.1, from the schemas that validate them. */
import type { Schema } from "../contract/schema.ts";
import { VERSION } from "../utils/version.ts";
import type { RegisteredRoute } from "./paths.ts";
import { loadResponses, type Responses } from "./responses.ts";

type JsonObject = Record<string, unknown>;

/** What a description of routes says of them as a whole. */
export interface ApiInfo {
  title: string;
  description: string;
  /** When a request needs one. */
  token: "always" | "in token mode";
}

const LOCAL: ApiInfo = {
  title: "sessarc",
  description: "Local archive for the sessions of coding assistants.",
  token: "in token mode",
};

/** Loads the converter for valibot when a route needs it. Cost: a few ms for all routes; the caller keeps the result. */
export async function toOpenApi(
  routes: readonly RegisteredRoute[],
  url: string,
  { title, description, token }: ApiInfo = LOCAL,
): Promise<JsonObject> {
  const answers = await loadResponses();
  const paths: Record<string, JsonObject> = {};
  for (const it of routes) {
    const path = it.fullPath.replace(/\/\*\*(?::(\w+))?$/, (_, name?: string) => `/{${name ?? "path"}}`);
    const key = path.replace(/:(\w+)/g, "{$1}");
    paths[key] = { ...paths[key], [it.route.method.toLowerCase()]: await toOperation(it, namesIn(key), answers) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title,
      version: VERSION,
      description,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: url.replace(/\/$/, ""), description: "The service that answered this" }],
    security: token === "always" ? [{ token: [] }] : [{}, { token: [] }],
    tags: [...new Set(routes.map((it) => it.plugin))].map((name) => ({ name, description: `Routes of ${name}` })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: ERROR_SCHEMA, ...answers.schemas },
    },
  };
}

async function toOperation(
  { route, plugin }: RegisteredRoute,
  names: readonly string[],
  { routes }: Responses,
): Promise<JsonObject> {
  const query = await toJsonSchema(route.query);
  const body = await toJsonSchema(route.body);
  const answer = routes[`${route.method} ${route.path}`];
  // A third party's plugin without types: the schema of its route if there is one, else any JSON.
  const json = answer ? answer.json : ((await toJsonSchema(route.response)) ?? {});
  const params = await toJsonSchema(route.params);
  return {
    summary: route.summary,
    tags: [plugin],
    operationId: `${route.method.toLowerCase()} ${route.path}`.replace(/\W+/g, "_").replace(/_$/, ""),
    ...(route.agent ? { "x-agent": route.agent } : {}),
    parameters: [
      ...names.map((name) => parameter(name, "path", true, toProperties(params)[name] ?? { type: "string" })),
      ...Object.entries(toProperties(query)).map(([name, schema]) =>
        parameter(name, "query", isRequired(query, name), schema),
      ),
    ],
    ...(body ? { requestBody: { content: { [route.limits?.type ?? "application/json"]: { schema: body } } } } : {}),
    responses: {
      [String(route.status ?? 200)]: {
        description: "Success",
        content: {
          ...(json && { "application/json": { schema: json } }),
          ...((answer?.other || !json) && { "*/*": { schema: {} } }),
        },
      },
      default: {
        description: "Failure",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");

const parameter = (name: string, where: "path" | "query", required: boolean, schema: unknown) => ({
  name,
  in: where,
  required,
  schema,
});

function toProperties(schema: JsonObject | undefined): JsonObject {
  const { properties } = schema ?? {};
  return typeof properties === "object" && properties !== null ? (properties as JsonObject) : {};
}

const isRequired = (schema: JsonObject | undefined, name: string) =>
  Array.isArray(schema?.required) && schema.required.includes(name);

/** What a client sends. A schema that cannot say it in JSON Schema (a custom check) is described as far as it can. */
async function toJsonSchema(schema: Schema | undefined): Promise<JsonObject | undefined> {
  if (!schema) return undefined;
  const standard = schema["~standard"];
  const json = standard.jsonSchema
    ? standard.jsonSchema.input({ target: "draft-2020-12" })
    : standard.vendor === "valibot"
      ? await fromValibot(schema)
      : {};
  const { $schema: _, ...rest } = json;
  return rest;
}

async function fromValibot(schema: Schema): Promise<JsonObject> {
  const { toJsonSchema: convert } = await import("@valibot/to-json-schema");
  // The vendor says that it is valibot's; its own types are not part of Standard Schema.
  return { ...convert(schema as unknown as Parameters<typeof convert>[0], { typeMode: "input", errorMode: "ignore" }) };
}

const ERROR_SCHEMA = {
  type: "object",
  required: ["status", "code", "message"],
  properties: {
    status: { type: "integer" },
    code: { type: "string" },
    message: { type: "string" },
    fix: { type: "string" },
    issues: {
      type: "array",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
    errorId: { type: "string" },
  },
};
