/** The contract every plugin keeps, as a suite anyone can run. Published as part of `sessarc/test`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyRoute, Plugin } from "sessarc";
import type { PluginEntry } from "sessarc/serve";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestKernel, readError, type TestKernel, type TestKernelOptions } from "./kernel.ts";

export interface TestPluginOptions {
  /** Makes the plugin under test; called for every check. */
  plugin: () => Plugin;
  /** What it depends on. */
  with?: () => readonly (Plugin | PluginEntry)[];
  config?: TestKernelOptions["config"];
  env?: TestKernelOptions["env"];
  /** Routes that must not be called blindly (they start programs, stream for ever …), as `GET /path`. */
  skip?: readonly string[];
  /** More checks over the same booted kernel. */
  additionalTests?: (ctx: { kernel(): TestKernel }) => void;
}

const API = (route: AnyRoute) => (route.mount === "/" ? route.path : `/api${route.path}`);

/** Declares the checks; call it inside a `describe` of your own. */
export function testPlugin(options: TestPluginOptions): void {
  const { plugin: make, with: others = () => [], config = {}, env = {}, skip = [] } = options;
  const routes = make().routes ?? [];
  const callable = routes.filter((route) => !skip.includes(`${route.method} ${route.path}`));
  let home: string;
  let t: TestKernel;
  const boot = () => createTestKernel({ plugins: [...others(), make()], config, env, home });

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
    t = await boot();
  });
  afterEach(async () => {
    await t.close();
    await rm(home, { recursive: true, force: true });
  });

  it("has a kebab-case name, the same each time", () => {
    expect(make().name).toBe(make().name);
    expect(make().name).toMatch(/^[a-z][a-z0-9-]*(:[a-z][a-z0-9-]*)?$/);
  });

  it("starts, is listed, and closes without an error", async () => {
    const { plugins } = await t.json<{ plugins: { name: string; ms: number | null }[] }>("/api/plugins");
    const row = plugins.find(({ name }) => name === make().name);
    expect(row?.ms).toEqual(expect.any(Number));
    await t.close();
  });

  it("starts again over its own data", async () => {
    await t.close();
    t = await boot();
    expect((await t.fetch("/api/plugins")).status).toBe(200);
  });

  it("describes every route, in one line each and in OpenAPI", async () => {
    const { paths } = await t.json<{ paths: Record<string, object> }>("/api/openapi.json");
    for (const route of routes) {
      expect(route.summary, route.path).toMatch(/^\S.{3,119}$/);
      const path = API(route)
        .replace(/\/\*\*(?::(\w+))?$/, (_, name?: string) => `/{${name ?? "path"}}`)
        .replace(/:(\w+)/g, "{$1}");
      expect(Object.keys(paths[path] ?? {}), path).toContain(route.method.toLowerCase());
    }
  });

  describe.skipIf(callable.length === 0)("routes", () => {
    it.each(callable.map((route) => [`${route.method} ${route.path}`, route] as const))(
      "%s answers JSON-plain data or the one error shape for unknown ids",
      async (_, route) => {
        const path = API(route)
          .replace(/\*\*(:\w+)?$/, "nothing-here")
          .replace(/:\w+/g, "nothing-here");
        const response = await t.fetch(path, { method: route.method });
        expect(response.status, await response.clone().text()).toBeLessThan(500);
        const isJson = response.headers.get("content-type")?.startsWith("application/json");
        if (response.status >= 400 && isJson) await readError(response);
        else if (isJson) await response.json();
        else await response.body?.cancel();
      },
    );

    it("methods it does not have are 405 with Allow, or 404", async () => {
      for (const route of callable) {
        const path = API(route)
          .replace(/\*\*(:\w+)?$/, "nothing-here")
          .replace(/:\w+/g, "nothing-here");
        const response = await t.fetch(path, { method: "OPTIONS" });
        const { code } = await readError(response);
        expect(["METHOD_NOT_ALLOWED", "ROUTE_NOT_FOUND"]).toContain(code);
        if (code === "METHOD_NOT_ALLOWED") expect(response.headers.get("allow")).toContain(route.method);
      }
    });
  });

  options.additionalTests?.({ kernel: () => t });
}
