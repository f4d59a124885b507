/**
 * The closed schemas of Agent Plugins 1.0.0, written from sections 5 and 7 of its specification, which is authoritative: nothing is fetched in a test.
 */
const at = "https://agent-plugins.org/schemas/1.0.0";
const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };

export const PLUGIN_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    $schema: { const: `${at}/plugin.schema.json` },
    name: { ...text, minLength: 1, maxLength: 64, pattern: "^(?!.*(?:--|\\.\\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$" },
    version: text,
    description: text,
    author: { type: "object", properties: { name: text, email: text, url: text }, additionalProperties: false },
    homepage: text,
    repository: text,
    license: text,
    keywords: { type: "array", items: text },
    extensions: { type: "object", additionalProperties: { type: "object" } },
  },
  required: ["$schema", "name"],
  additionalProperties: false,
};

const remote = (type: string) => ({
  type: "object",
  properties: { type: { const: type }, url: { ...text, minLength: 1 }, headers: texts },
  required: ["type", "url"],
  additionalProperties: false,
});

export const MCP_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    $schema: { const: `${at}/mcp.schema.json` },
    mcpServers: {
      type: "object",
      additionalProperties: {
        oneOf: [
          {
            type: "object",
            properties: {
              type: { const: "stdio" },
              command: { ...text, minLength: 1 },
              args: { type: "array", items: text },
              env: { ...texts, propertyNames: { not: { enum: ["PLUGIN_ROOT", "PLUGIN_DATA"] } } },
              cwd: { ...text, pattern: "^(?:\\./|\\$\\{PLUGIN_ROOT\\}(?:/|$)|\\$\\{PLUGIN_DATA\\}(?:/|$))" },
            },
            required: ["type", "command"],
            additionalProperties: false,
          },
          remote("streamable-http"),
          remote("sse"),
        ],
      },
    },
  },
  required: ["$schema", "mcpServers"],
  additionalProperties: false,
};
