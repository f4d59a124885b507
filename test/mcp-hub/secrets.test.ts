/** Secrets planted wherever a service may hold one, and everything the hub says while it is used. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type { WireService } from "../../plugins/mcp-hub/index.ts";
import { letters } from "../security/_samples.ts";
import { startHub } from "./_hub.ts";
import { rough } from "./_rough.ts";

/** A service that refuses, and says everything it was sent. */
async function gossip(): Promise<number> {
  const server = createServer(async (req, res) => {
    const said = `${req.url} ${JSON.stringify(req.headers)} ${await text(req)}`;
    res.writeHead(500, { "content-type": "text/plain" }).end(`I was sent ${said}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

it("mcp-hub: a planted secret is in no answer, log, error, process list or file but the vault", async () => {
  const hidden = {
    user: `u${letters(24, 2)}8`,
    query: `q${letters(28, 1)}7`,
    header: `h${letters(28, 3)}9`,
    credential: `c${letters(28, 7)}4`,
    env: `e${letters(28, 4)}1`,
    reference: `r${letters(28, 9)}5`,
  };
  const argument = `a${letters(28, 5)}2`;
  const said: string[] = [];
  const t = await startHub({ env: { PATH: process.env.PATH ?? "", MY_TOKEN: hidden.reference } });
  t.kernel.hooks.hook("request:error", (error) => {
    said.push(String(error), String(error instanceof Error ? error.cause : ""));
    t.errors.length = 0;
  });
  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await t.send<Record<string, unknown>>(method, path, body);
    said.push(JSON.stringify(answer));
    return { status, answer };
  };

  const port = await gossip();
  const remote = {
    url: `http://someone:${hidden.user}@127.0.0.1:${port}/mcp?key=${hidden.query}`,
    headers: { "X-Team": hidden.header },
    credential: { kind: "bearer", value: hidden.credential },
  };
  await ask("POST", "/api/mcp/services", { id: "remote", ...remote });
  await ask("POST", "/api/mcp/services", { id: "older", transport: "sse", ...remote });
  const { command, args } = rough();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as configuration files write it
  const env = { SECRET: hidden.env, OTHER: "${MY_TOKEN}" };
  await ask("POST", "/api/mcp/services", { id: "local", command, args: [...args, "", "", "--api-key", argument], env });

  await ask("GET", "/api/mcp/tools");
  expect((await ask("POST", "/api/mcp/call", { name: "remote__x" })).status).toBe(502);
  await ask("POST", "/api/mcp/call", { name: "local__echo", arguments: { text: "on" } });
  const running = (await promisify(execFile)("ps", ["-eo", "args"], { maxBuffer: 64 * 2 ** 20 })).stdout;
  // It says what it was given as it goes.
  expect((await ask("POST", "/api/mcp/call", { name: "local__crash" })).status).toBe(502);
  await ask("POST", "/api/mcp/services", { id: "bad", url: `ftp://x:${hidden.user}@h/?key=${hidden.query}` });
  await ask("PATCH", "/api/mcp/services/remote", { url: `http://127.0.0.1:${port}/other?key=${hidden.query}` });
  for (const path of ["services", "status", "log?limit=1000", "calls", "tools"]) await ask("GET", `/api/mcp/${path}`);

  const services = (await t.json<{ services: WireService[] }>("/api/mcp/services")).services;
  expect(services.find(({ id }) => id === "local")?.warnings).toEqual([expect.stringMatching(/Argument 5 .* env/)]);
  expect(services.find(({ id }) => id === "remote")?.warnings).toEqual([]);
  const data = join(t.home, "data");
  for (const entry of await readdir(data, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) said.push((await readFile(join(entry.parentPath, entry.name))).toString("latin1"));
  expect(said.join("\n")).toContain("was sent");
  for (const [place, value] of Object.entries({ ...hidden, argument })) {
    const basic = Buffer.from(`someone:${value}`).toString("base64");
    for (const form of [value, basic])
      expect(
        said.some((one) => one.includes(form)),
        place,
      ).toBe(false);
    // An argument is the one thing that cannot be hidden there: its owner is warned.
    expect(running.includes(value), place).toBe(place === "argument");
  }
});
