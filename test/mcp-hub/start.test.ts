import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, CLI } from "../built.ts";
import { rough } from "./_rough.ts";

describe("mcp-hub: start", () => {
  beforeAll(builtPackage, 300_000);

  it("nothing of the protocol's packages is imported with the plugin", () => {
    const root = fileURLToPath(new URL("../../plugins/mcp-hub/", import.meta.url));
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(20);
    const statics = files.flatMap((name) =>
      [
        ...readFileSync(root + name, "utf8").matchAll(/^import (?!type )[^;]*from "(@modelcontextprotocol[^"]*)"/gm),
      ].map((match) => `${name}: ${match[1]}`),
    );
    expect(statics).toEqual([]);
  });

  it("the service that runs loads them with the first request to a service or to /mcp, and not before", async () => {
    const home = await makeTempDir();
    const loaded = join(home, "loaded");
    await writeFile(loaded, "");
    // Notes down every module of the protocol's packages as it is loaded: they are bundled, and known by a word that they alone hold.
    const hooks = `
      import { appendFileSync } from "node:fs";
      export async function load(url, context, next) {
        const module = await next(url, context);
        if (String(module.source).includes("notifications/roots/list_changed")) appendFileSync(${JSON.stringify(loaded)}, url + "\\n");
        return module;
      }`;
    await writeFile(join(home, "hooks.mjs"), hooks);
    const url = JSON.stringify(pathToFileURL(join(home, "hooks.mjs")).href);
    await writeFile(join(home, "register.mjs"), `import { register } from "node:module"; register(${url});`);
    const env = { PATH: process.env.PATH, HOME: home, SESSARC_DATA_DIR: join(home, "data"), SESSARC_NO_OPEN: "1" };
    const args = ["--import", pathToFileURL(join(home, "register.mjs")).href, CLI, "serve", "--port", "0"];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("ready at")) break;
    }
    const service = /http:\S+/.exec(said)?.[0] ?? "";
    const send = (path: string, body?: object) =>
      fetch(new URL(path, service), {
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
      });
    for (const path of [
      "api/status",
      "api/mcp/status",
      "api/mcp/services",
      "api/mcp/log",
      "api/mcp/calls",
      "api/openapi.json",
    ])
      expect((await send(path)).status, path).toBe(200);
    expect((await send("api/mcp/services", { id: "rough", ...rough() })).status).toBe(200);
    expect(await readFile(loaded, "utf8")).toBe("");
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    expect((await send("mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params })).status).toBe(200);
    expect(await readFile(loaded, "utf8")).toMatch(/\.mjs\n/);
  });
});
