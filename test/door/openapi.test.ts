/** GET /api/openapi.json of the packed package: valid, complete, and usable to generate a client from it. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { ROOT } from "../built.ts";
import { packedInstall } from "./_packed.ts";

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

const SCRIPT = `
import { createKernel } from "sessarc/serve";
import { defaultPlugins } from "sessarc/plugins";
const kernel = await createKernel({ plugins: defaultPlugins(), config: undefined });
process.stdout.write(await (await kernel.fetch("/api/openapi.json")).text());
await kernel.close();`;

let text: string;
let document: Document;
beforeAll(async () => {
  const install = await packedInstall();
  const home = await mkdtemp(join(tmpdir(), "sessarc-openapi-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, SESSARC_DATA_DIR: join(home, "data") };
  const options = { cwd: install, env, maxBuffer: 2 ** 26 };
  text = (await promisify(execFile)(process.execPath, ["--input-type=module", "-e", SCRIPT], options)).stdout;
  document = JSON.parse(text) as Document;
  await rm(home, { recursive: true, force: true });
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );

describe("the described API", () => {
  it("says of every operation what it answers", () => {
    expect(document.servers[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(operations().length).toBeGreaterThan(80);
    for (const { name, operation } of operations()) {
      const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      expect(Object.keys(success?.[1].content ?? {}), name).not.toEqual([]);
    }
  });

  it("has JSON of a known shape everywhere but where a stream, a page or another protocol is answered", () => {
    const shapeless = operations().filter(({ operation }) => {
      const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      const { schema } = success?.[1].content?.["application/json"] ?? {};
      return !schema || Object.keys(schema).length === 0;
    });
    const expected =
      /^GET \/docs\/|\/live$|\/live\/(turns|changes)$|\/projects\/git$|export-redacted$|\/backup$|\/share\/|^GET \/api\/shares\/\{id\}\/page$|^\w+ \/mcp|openapi\.json$|oauth\/callback$|security\/proof$|^GET \/metrics$|^GET \/\{path\}$/;
    expect(shapeless.map(({ name }) => name).filter((name) => !expected.test(name))).toEqual([]);
  });

  it("has no error for the linter", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: text, absoluteRef: join(ROOT, "openapi.json"), config });
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
  });

  it("becomes types that a client can use", async () => {
    const types = astToString(await openapiTS(text));
    const home = await makeTempDir();
    await writeFile(join(home, "api.d.ts"), types);
    await writeFile(
      join(home, "client.ts"),
      `import type { paths } from "./api.d.ts";
type Answer<P extends keyof paths> = paths[P] extends { get: { responses: { 200: { content: { "application/json": infer R } } } } } ? R : never;
export const names = (projects: Answer<"/api/projects">): string[] => projects.map((project) => project.name);
export const cost = (usage: Answer<"/api/usage">): number => usage.totals.tokens.input;
export const version = (status: Answer<"/api/status">): string => status.version;
// @ts-expect-error there is no such field
export const none = (status: Answer<"/api/status">) => status.storage.tea;
`,
    );
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "ESNext",
      moduleResolution: "bundler",
      allowImportingTsExtensions: true,
      types: [],
      lib: ["ESNext", "DOM"],
    };
    await writeFile(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["client.ts"] }));
    const tsc = join(ROOT, "node_modules/typescript-native/bin/tsc");
    const complaints = await promisify(execFile)(process.execPath, [tsc, "-p", home, "--checkers", "1"]).then(
      () => "",
      (error: { stdout?: string }) => error.stdout ?? String(error),
    );
    expect(complaints).toBe("");
  });
});
