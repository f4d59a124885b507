import { definePlugin, defineRoute, type Schema } from "sessarc";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createTestKernel } from "../kernel.ts";

/** A third party's validator that brings its own JSON Schema. */
const foreign: Schema<{ n: number }> = {
  "~standard": {
    version: 1,
    vendor: "somebody",
    validate: (value) => ({ value: value as { n: number } }),
    jsonSchema: {
      input: ({ target }) => ({
        $schema: target,
        type: "object",
        properties: { n: { type: "number" } },
        required: ["n"],
      }),
    },
  },
};

const plugin = definePlugin({
  name: "cups",
  routes: [
    defineRoute({
      method: "GET",
      path: "/cups/:id/stains",
      summary: "Stains of a cup",
      query: v.object({
        days: v.optional(v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.minValue(1))),
        shape: v.picklist(["round", "flat"]),
      }),
      response: v.object({ stains: v.array(v.string()) }),
      handler: () => ({ stains: [] }),
    }),
    defineRoute({
      method: "POST",
      path: "/cups",
      summary: "Add a cup",
      status: 201,
      agent: { description: "Adds a cup" },
      body: v.object({
        name: v.string(),
        check: v.optional(
          v.pipe(
            v.string(),
            v.check((it) => it !== "no"),
          ),
        ),
      }),
      handler: ({ body }) => body,
    }),
    defineRoute({ method: "POST", path: "/numbers", summary: "Number", body: foreign, handler: ({ body }) => body }),
    defineRoute({ method: "GET", path: "/files/**:rest", mount: "/", summary: "File", handler: () => new Response() }),
  ],
});

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: unknown;
}

describe("GET /api/openapi.json", () => {
  it("describes every route from the schemas that validate it", async () => {
    const t = await createTestKernel({ plugins: [plugin()] });
    const { openapi, paths, components } = await t.json<OpenApi>("/api/openapi.json");
    expect(openapi).toBe("3.1.0");
    expect(Object.keys(paths)).toEqual([
      "/api/openapi.json",
      "/api/plugins",
      "/api/settings",
      "/api/service/login",
      "/api/status",
      "/api/doctor",
      "/api/cups/{id}/stains",
      "/api/cups",
      "/api/numbers",
      "/files/{rest}",
    ]);
    expect(paths["/api/cups/{id}/stains"]?.get).toMatchObject({
      summary: "Stains of a cup",
      tags: ["cups"],
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string" } },
        { name: "days", in: "query", required: false, schema: { type: "string", pattern: "^\\d+$" } },
        { name: "shape", in: "query", required: true, schema: { enum: ["round", "flat"] } },
      ],
      responses: {
        200: { content: { "application/json": { schema: { properties: { stains: { type: "array" } } } } } },
        default: { content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } },
      },
    });
    expect(paths["/api/cups"]?.post).toMatchObject({
      "x-agent": { description: "Adds a cup" },
      requestBody: { content: { "application/json": { schema: { required: ["name"] } } } },
      responses: { 201: {} },
    });
    expect(paths["/api/numbers"]?.post).toMatchObject({
      requestBody: { content: { "application/json": { schema: { properties: { n: { type: "number" } } } } } },
    });
    expect(components).toMatchObject({ schemas: { Error: { required: ["status", "code", "message"] } } });
  });

  it("names every operation once", async () => {
    const t = await createTestKernel({ plugins: [plugin()] });
    const { paths } = await t.json<OpenApi>("/api/openapi.json");
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map((it) => it.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
