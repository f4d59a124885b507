/** Services that behave badly: each fails alone, is named, and leaves nothing behind. */
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { toRecord } from "sessarc";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { WireService } from "../../plugins/mcp-hub/index.ts";
import { deferred, makeTempDir } from "../_setup.ts";
import { letters } from "../security/_samples.ts";
import { serveHub, startHub } from "./_hub.ts";
import { rawSession } from "./_raw.ts";
import { gone, isAlive, readLines, rough, toPids } from "./_rough.ts";

async function start(services: Record<string, object>, env: Record<string, string> = {}) {
  const t = await startHub({ env: { PATH: process.env.PATH ?? "", ...env } });
  // Services that fail are what these tests are about.
  t.kernel.hooks.hook("request:error", () => void t.errors.splice(0));
  for (const [id, service] of Object.entries(services))
    expect((await t.send("POST", "/api/mcp/services", { id, ...service })).status).toBe(200);
  const call = (name: string, args: object = {}, more: object = {}) =>
    t.send<{ code?: string; message: string; result?: { content: { text: string }[] } }>("POST", "/api/mcp/call", {
      name,
      arguments: args,
      ...more,
    });
  const tools = () =>
    t.json<{
      tools: {
        name: string;
        tool: string;
        service: string;
        allowed: boolean;
        reason: string | null;
        change: unknown;
      }[];
      errors: Record<string, string>;
    }>("/api/mcp/tools");
  const service = async (id: string) =>
    (await t.json<{ services: WireService[] }>("/api/mcp/services")).services.find((it) => it.id === id);
  return { t, call, tools, service };
}

async function legacyClient(url: string) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("mcp", url)));
  onTestFinished(() => client.close());
  return client;
}

describe("mcp-hub: services that fail", () => {
  it("a flood of log messages is cut to what a client can take, with a count of what was dropped", async () => {
    const { url, add } = await serveHub();
    await add("rough", rough());
    const session = await rawSession(url);
    const { messages } = await session.ask({
      id: 1,
      method: "tools/call",
      params: { name: "rough__log", arguments: { count: 20_000 }, _meta: { progressToken: 1 } },
    });
    const last = messages.at(-1);
    expect(last).toMatchObject({ result: { content: [{ text: "logged" }] } });
    const lines = messages.slice(0, -1).map((it) => toRecord(it.params));
    const dropped = lines.flatMap(({ logger, data }) =>
      logger === "sessarc" ? [Number.parseInt(String(data), 10)] : [],
    );
    const passed = lines.length - dropped.length;
    expect(passed).toBeGreaterThanOrEqual(500);
    expect(dropped.reduce((sum, n) => sum + n, passed)).toBe(20_000);
  });

  it("D6: a command that does not exist, one that crashes, and a service that is away fail alone and are named", async () => {
    const { call, tools, service } = await start({
      good: rough(),
      missing: { command: "/nowhere/at-all" },
      broken: { command: process.execPath, args: ["-e", "console.error('no config'); process.exit(3)"] },
      away: { url: "http://127.0.0.1:1/mcp" },
    });
    const { tools: found, errors } = await tools();
    expect(found.filter(({ service: id }) => id === "good").length).toBeGreaterThan(0);
    expect(errors).toEqual({
      missing: expect.stringContaining("not installed"),
      broken: expect.stringMatching(/exit code 3.*no config/s),
      away: expect.any(String),
    });
    expect((await call("good__echo", { text: "hi" })).body.result?.content[0]?.text).toBe("hi");
    expect(await service("missing")).toMatchObject({
      state: "failed",
      lastError: expect.stringContaining("not installed"),
    });
    expect(await call("missing__x")).toMatchObject({ status: 502, body: { code: "UPSTREAM_FAILED" } });
    expect(await call("nobody__x")).toMatchObject({ status: 404, body: { code: "TOOL_NOT_FOUND" } });
  });

  it("a crash in a call is reported with its last words, without secrets, and the service starts again", async () => {
    const secret = `s${letters(30, 9)}5`;
    const { call, service, t } = await start({ rough: { ...rough(), env: { SECRET: secret } } });
    const crashed = await call("rough__crash");
    expect(crashed.status).toBe(502);
    const shown = await service("rough");
    expect(shown?.lastError).toMatch(/exit code 7.*about to crash/s);
    const log = await t.json("/api/mcp/log");
    expect(JSON.stringify([crashed.body, shown, log])).not.toContain(secret);
    expect((await call("rough__echo", { text: "again" })).status).toBe(200);
    expect(await service("rough")).toMatchObject({ state: "running", lastError: null });
  });

  it("one that failed is tried again after its wait, though the clock was set back a day meanwhile", async () => {
    const command = join(await makeTempDir(), "later");
    const { call } = await start({ later: { ...rough(), command } });
    const answer = async () => (await call("later__echo", { text: "hi" })).status;
    // From the second failure on it is left alone for a while.
    for (let n = 0; n < 2; n++) expect(await answer()).toBe(502);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await symlink(process.execPath, command);
    await expect.poll(answer, { timeout: 60_000, interval: 100 }).toBe(200);
  });

  it("a flood of errors, a greeting that is not a message and an answer that is too large end no other calls", async () => {
    const { call, service } = await start({ flood: rough("flood"), banner: rough("banner"), good: rough() });
    expect((await call("flood__echo", { text: "a" })).status).toBe(200);
    expect((await call("banner__echo", { text: "b" })).status).toBe(200);
    expect((await call("good__huge")).status).toBe(502);
    expect((await service("good"))?.lastError).toContain("more than 32 MiB");
    expect((await call("good__echo", { text: "c" })).status).toBe(200);
  });

  it("a call that takes too long is 504 and cancelled at the service; progress resets the time it has", async () => {
    const file = join(await makeTempDir(), "notes");
    const { call } = await start({ rough: rough("", file) });
    expect(await call("rough__wait", {}, { timeoutMs: 150 })).toMatchObject({
      status: 504,
      body: { code: "UPSTREAM_TIMEOUT" },
    });
    await readLines(file, (lines) => lines.some((line) => line.startsWith("cancelled")));
    expect((await call("rough__slow-progress", { steps: 12, every: 500 }, { timeoutMs: 5_000 })).status).toBe(200);
  });

  it("a service's process gets its own environment and nothing of sessarc's", async () => {
    const { call } = await start(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as configuration files write it
      { rough: { ...rough(), env: { FROM: "${TOKEN}", PLAIN: "x" } } },
      { TOKEN: "secret-of-this-shell", OTHER: "not-for-services" },
    );
    const { body } = await call("rough__env");
    const env = JSON.parse(body.result?.content[0]?.text ?? "{}") as Record<string, string>;
    expect(env).toMatchObject({ FROM: "secret-of-this-shell", PLAIN: "x" });
    expect(Object.values(env)).not.toContain("not-for-services");
    expect(env.TOKEN).toBeUndefined();
  });

  it("closing ends processes with their children, also those that do not listen", async () => {
    const file = join(await makeTempDir(), "notes");
    const { t, call } = await start({ deaf: rough("deaf", file) });
    expect((await call("deaf__echo")).status).toBe(200);
    const pids = toPids(await readLines(file, (lines) => toPids(lines).length === 2));
    expect(pids.map(isAlive)).toEqual([true, true]);
    await t.close();
    await Promise.all(pids.map(gone));
  });

  it("a redirect never carries a credential to another host", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((req, res) => {
      seen.push(req.headers.authorization);
      res.end();
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const elsewhere = `http://localhost:${(other.address() as AddressInfo).port}/`;
    const first = createServer((_, res) => res.writeHead(307, { location: elsewhere }).end()).listen(0, "127.0.0.1");
    await once(first, "listening");
    onTestFinished(() => {
      other.close();
      first.close();
    });
    const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}/mcp`;
    const credential = { kind: "bearer", value: `b${letters(30, 3)}` };
    const { tools } = await start({ http: { url, credential }, sse: { url, transport: "sse", credential } });
    const { errors } = await tools();
    expect(Object.keys(errors).sort()).toEqual(["http", "sse"]);
    expect(JSON.stringify(errors)).not.toContain(credential.value);
    expect(seen).toEqual([]);
  });
});

describe("mcp-hub: policy", () => {
  it("D8: what is not listed cannot be called; deny wins; scope is exact", async () => {
    const { t, call, tools } = await start({ rough: rough() });
    const policy = { allow: ["e*", "say.it"], deny: ["env"] };
    await t.send("PATCH", "/api/mcp/services/rough", { policy });
    const allowed = (await tools()).tools.filter((tool) => tool.service === "rough" && tool.allowed);
    expect(allowed.map(({ tool }) => tool)).toEqual(["echo", "say.it"]);
    expect(allowed[1]?.name).toMatch(/^rough__say_it_[0-9a-f]{6}$/);
    expect((await call(allowed[1]?.name ?? "", { text: "dotted" })).body.result?.content[0]?.text).toBe("dotted");
    expect(await call("rough__env")).toMatchObject({ status: 403, body: { code: "TOOL_DENIED" } });
    expect((await t.json<{ entries: { status: string }[] }>("/api/mcp/log")).entries[0]?.status).toBe("denied");
    await t.send("PATCH", "/api/mcp/services/rough", { scope: { clients: ["cursor"], projects: "*" } });
    expect((await call("rough__echo")).status).toBe(403);
    const as = (client: string) => t.send("POST", `/api/mcp/call?client=${client}`, { name: "rough__echo" });
    expect((await as("cursor")).status).toBe(200);
    expect((await as("cursor-evil")).status).toBe(403);
  });

  it("a tool that changed is held until it is accepted, and clients are notified once", async () => {
    const { url, add, kernel } = await serveHub();
    await add("rough", rough());
    const client = await legacyClient(url);
    let notices = 0;
    let told = deferred();
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      notices++;
      told.resolve();
    });
    await client.listTools();
    await client.callTool({ name: "rough__report", arguments: { description: "Reads all your files" } });
    await told.promise;
    expect(notices).toBe(1);
    expect((await client.listTools()).tools.filter(({ name }) => name.startsWith("rough__"))).toEqual([]);
    await expect(client.callTool({ name: "rough__echo", arguments: {} })).rejects.toThrow("Unknown tool");
    const fetched = await kernel.fetch("/api/mcp/tools?service=rough");
    const { tools } = (await fetched.json()) as {
      tools: { tool: string; reason: string; change: { digest: string; before: object; after: object } }[];
    };
    const echo = tools.find(({ tool }) => tool === "echo");
    expect(echo).toMatchObject({
      reason: "changed",
      change: { before: { description: "A tool" }, after: { description: "Reads all your files" } },
    });
    told = deferred();
    const pins = Object.fromEntries(tools.map(({ tool, change }) => [tool, { pin: change.digest }]));
    await kernel.inject("mcp").services.update("rough", {
      policy: { default: "allow", allow: [], deny: [], tools: { echo: pins.echo ?? {} } },
    });
    await told.promise;
  });

  it("the guard looks through arguments where the user wants it", async () => {
    const { t, call } = await start({ rough: { ...rough(), guard: true } });
    expect((await call("rough__echo", { text: "plain words" })).status).toBe(200);
    const secret = `ghp_${letters(36, 4)}`;
    const blocked = await call("rough__echo", { text: secret });
    expect(blocked).toMatchObject({ status: 403, body: { code: "TOOL_DENIED" } });
    expect(JSON.stringify([blocked.body, await t.json("/api/mcp/log")])).not.toContain(secret);
  });
});

describe("mcp-hub: calls", () => {
  it("a call the client cancels is cancelled at the service", async () => {
    const file = join(await makeTempDir(), "notes");
    const { url, add } = await serveHub();
    await add("rough", rough("", file));
    const client = await legacyClient(url);
    const stop = new AbortController();
    const call = client.callTool({ name: "rough__wait", arguments: {} }, undefined, { signal: stop.signal });
    await readLines(file, (lines) => lines.some((line) => line.startsWith("started")));
    stop.abort();
    await expect(call).rejects.toThrow();
    const lines = await readLines(file, (all) => all.some((line) => line.startsWith("cancelled")));
    expect(lines.at(-1)).toBe(lines[0]?.replace("started", "cancelled"));
  });

  it("a call of the newer protocol is cancelled with its request", async () => {
    const file = join(await makeTempDir(), "notes");
    const { url, add } = await serveHub();
    await add("rough", rough("", file));
    const client = new ModernClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await client.connect(new ModernTransport(new URL("mcp", url)));
    onTestFinished(() => client.close());
    const stop = new AbortController();
    const call = client.callTool({ name: "rough__wait", arguments: {} }, { signal: stop.signal });
    await readLines(file, (lines) => lines.some((line) => line.startsWith("started")));
    stop.abort();
    await expect(call).rejects.toThrow();
    await readLines(file, (lines) => lines.at(-1)?.startsWith("cancelled") === true);
  });
});
