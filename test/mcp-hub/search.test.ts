/** Servers of a list in the official registry's format: found by words, and added from their entry. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

const official = (isLatest: boolean) => ({
  "io.modelcontextprotocol.registry/official": { status: "active", isLatest },
});
const SERVERS = [
  {
    server: {
      name: "io.github.acme/weather",
      description: "Forecasts for any place",
      version: "1.2.0",
      packages: [
        {
          registryType: "npm",
          identifier: "@acme/weather-mcp",
          version: "1.2.0",
          transport: { type: "stdio" },
          packageArguments: [
            { type: "named", name: "--units", value: "metric" },
            { type: "positional", value: "serve" },
            { type: "named", name: "--verbose" },
          ],
          environmentVariables: [
            { name: "WEATHER_KEY", description: "From acme.example", isRequired: true, isSecret: true },
            { name: "WEATHER_LANG", default: "en" },
            { name: "WEATHER_PROXY" },
          ],
        },
      ],
    },
    _meta: official(true),
  },
  { server: { name: "io.github.acme/weather", description: "Forecasts", version: "1.1.0" }, _meta: official(false) },
  {
    server: {
      name: "com.example/issues",
      title: "Issues",
      description: "Issue tracker",
      version: "3",
      remotes: [
        {
          type: "streamable-http",
          url: "https://issues.example.com/mcp",
          headers: [{ name: "X-Api-Key", isRequired: true, isSecret: true }],
        },
      ],
      packages: [
        {
          registryType: "oci",
          identifier: "docker.io/example/issues:3",
          transport: { type: "stdio" },
          environmentVariables: [{ name: "TOKEN", isRequired: true }],
        },
      ],
    },
  },
  {
    server: {
      name: "com.example/files",
      description: "Files of a folder",
      version: "2",
      packages: [
        {
          registryType: "pypi",
          identifier: "files-mcp",
          version: "2",
          transport: { type: "stdio" },
          packageArguments: [{ type: "positional", valueHint: "folder", isRequired: true }],
        },
      ],
    },
  },
];

async function setUp() {
  const home = await makeTempDir();
  const file = join(home, "servers.json");
  await writeFile(file, JSON.stringify({ servers: SERVERS, metadata: { count: SERVERS.length } }));
  const run = (args: string[], env: Record<string, string> = {}) => runCommand(["mcp", ...args], home, env);
  const services = async () => JSON.parse((await run(["list", "--json"])).stdout).services;
  return { file, run, services };
}

describe("sessarc mcp search", () => {
  it("finds servers of a file by all words, the latest version of each; asks nothing without a list", async () => {
    const { file, run } = await setUp();
    const found = await run(["search", "FORECASTS", "any", "--registry", file, "--json"]);
    expect(JSON.parse(found.stdout).servers).toMatchObject([
      { name: "io.github.acme/weather", version: "1.2.0", ways: [{ transport: "stdio", command: "npx" }] },
    ]);
    expect((await run(["search", "issue", "--registry", file])).stdout).toMatch(
      /com\.example\/issues +http, stdio +Issue/,
    );
    expect((await run(["search", "nothing-like-it", "--registry", file])).code).toBe(3);
    expect(await run(["search", "issue"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--registry") });
    expect(await run(["search", "issue", "--registry", `${file}.gone`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Cannot read"),
    });
    await writeFile(file, "[]");
    expect((await run(["search", "--registry", file])).stderr).toContain("is not a list of servers");
  });

  it("asks an address for its pages, with the words", async () => {
    const { run } = await setUp();
    const asked: string[] = [];
    const server = createServer((req, res) => {
      const { searchParams } = new URL(req.url ?? "", "http://localhost");
      asked.push(`${searchParams.get("search")} ${searchParams.get("cursor")}`);
      const isFirst = !searchParams.has("cursor");
      const servers = isFirst ? SERVERS.slice(0, 2) : SERVERS.slice(2);
      res.end(JSON.stringify({ servers, metadata: isFirst ? { nextCursor: "two" } : {} }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v0/servers`;
    const { stdout } = await run(["search", "e", "--registry", url, "--json"]);
    expect(JSON.parse(stdout).servers).toHaveLength(3);
    expect(asked).toEqual(["e null", "e two"]);
  });

  it("adds a service from an entry, with secrets from this environment", async () => {
    const { file, run, services } = await setUp();
    const add = (name: string, more: string[] = [], env: Record<string, string> = {}) =>
      run(["add", ...more, "--from", name, "--registry", file], env);
    expect(await add("io.github.acme/weather")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("WEATHER_KEY (From acme.example)"),
    });
    expect((await add("io.github.acme/weather", [], { WEATHER_KEY: "k1" })).code).toBe(0);
    expect((await add("com.example/issues", ["tracker"], { X_API_KEY: "k2" })).code).toBe(0);
    expect((await add("com.example/issues", ["boxed", "--transport", "stdio"], { TOKEN: "k3" })).code).toBe(0);
    expect(await services()).toMatchObject([
      { id: "boxed", command: "docker", args: ["run", "-i", "--rm", "-e", "TOKEN", "docker.io/example/issues:3"] },
      { id: "sessarc" },
      { id: "tracker", transport: "http", url: "https://issues.example.com/mcp", headers: { "X-Api-Key": "••••••••" } },
      {
        id: "weather",
        command: "npx",
        args: ["-y", "@acme/weather-mcp@1.2.0", "--units", "metric", "serve"],
        env: { WEATHER_KEY: "••••••••", WEATHER_LANG: expect.any(String) },
      },
    ]);
    expect(await add("com.example/files")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("argument folder"),
    });
    expect(await add("nobody/nothing")).toMatchObject({ code: 2, stderr: expect.stringContaining("no server") });
  });
});
