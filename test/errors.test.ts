/** Every code of the catalogue answers in the one shape, whichever plugin defined it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineErrors, definePlugin, defineRoute, ERRORS, type ErrorCode, SessarcError, toErrorBody } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./build-once.ts";
import { createTestKernel, readError, type TestKernel } from "./kernel.ts";

declare module "sessarc" {
  interface ErrorParams {
    TEST_TEAPOT: { name: string };
  }
}
defineErrors({ TEST_TEAPOT: { status: 418, why: ({ name }) => `${name} is a teapot`, fix: () => "Make tea." } });

/** Params that suit every row: a value for each name a sentence may ask for. */
const params = new Proxy<Record<string, unknown>>(
  {},
  {
    get: (_, name) => {
      if (["allow", "chain", "ids", "known", "problems", "rules"].includes(String(name))) return ["GET"];
      if (name === "reason") return "it is so";
      return ["limit", "bytes", "ms", "port", "pid", "count", "status", "needed"].includes(String(name)) ? 7 : "x";
    },
  },
);

const thrower = definePlugin({
  name: "thrower",
  routes: [
    defineRoute({
      method: "GET",
      path: "/throw/:code",
      summary: "Throw",
      handler: ({ params: { code } }) => {
        throw new SessarcError(code as ErrorCode, params as never, { issues: [{ path: "a.b", message: "wrong" }] });
      },
    }),
  ],
});

// Loading a plugin adds its codes.
const plugins = await Promise.all(defaultPlugins().map((entry) => entry.load?.()));

let t: TestKernel;
beforeAll(async () => {
  t = await createTestKernel({ plugins: [thrower()] });
});
afterAll(() => t.close());

describe("D15: every error code has the one shape", () => {
  it.each(Object.keys(ERRORS))("%s", async (code) => {
    const response = await t.fetch(`/api/throw/${code}`);
    const body = await readError(response);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(body.code).toBe(code);
    expect(body.status).toBe(ERRORS[code]?.status);
    expect(body.message.length).toBeGreaterThan(3);
    expect(body.issues).toEqual([{ path: "a.b", message: "wrong" }]);
    expect(Object.keys(body).sort()).toEqual(
      [
        "code",
        "issues",
        "message",
        "status",
        ...(body.fix ? ["fix"] : []),
        ...(body.errorId ? ["errorId"] : []),
      ].sort(),
    );
    if (body.status >= 500 && code !== "SHUTTING_DOWN") expect(body.errorId).toMatch(/^[0-9a-f]{8}$/);
    t.errors.splice(0);
  });
});

it("codes of plugins are in the catalogue", () => {
  expect(plugins.length).toBeGreaterThan(0);
  expect(ERRORS).toHaveProperty("SOURCE_SHARED");
});

it("no two plugins define the same code", () => {
  const owners = new Map<string, string[]>();
  for (const file of readdirSync(join(ROOT, "plugins"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(ROOT, "plugins", file), "utf8");
    if (!text.includes("defineErrors(")) continue;
    for (const [, code = ""] of text.matchAll(/^ {2}([A-Z][A-Z0-9_]+): \{$/gm))
      owners.set(code, [...(owners.get(code) ?? []), file]);
  }
  expect(owners.size).toBeGreaterThan(50);
  expect([...owners].filter(([, files]) => files.length > 1)).toEqual([]);
});

describe("SessarcError", () => {
  it("takes status, sentence and remedy from the catalogue and keeps the cause", () => {
    const cause = new Error("why");
    const error = new SessarcError("TEST_TEAPOT", { name: "Kettle" }, { cause });
    expect(error).toMatchObject({ status: 418, message: "Kettle is a teapot", fix: "Make tea.", cause });
    expect(toErrorBody(error)).toEqual({
      status: 418,
      code: "TEST_TEAPOT",
      message: "Kettle is a teapot",
      fix: "Make tea.",
    });
  });

  it("anything else becomes INTERNAL without its text", () => {
    expect(JSON.stringify(toErrorBody(new Error("secret"), "1234"))).not.toContain("secret");
    expect(toErrorBody("secret", "1234")).toMatchObject({ status: 500, code: "INTERNAL", errorId: "1234" });
  });

  it("a code can be defined again by the same module, but not taken over", () => {
    const row = ERRORS.TEST_TEAPOT as never;
    expect(() => defineErrors({ TEST_TEAPOT: row })).not.toThrow();
    expect(() => defineErrors({ TEST_TEAPOT: { status: 400, why: () => "" } })).toThrow("TEST_TEAPOT");
    expect(() => defineErrors({ INTERNAL: { status: 500, why: () => "" } })).toThrow("INTERNAL");
  });
});
