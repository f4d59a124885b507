/** Services and clients that mean harm, or are many. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type JsonRecord, toList, toRecord } from "sessarc";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { emptyEntry } from "../../plugins/mcp-hub/entry.ts";
import { createGate } from "../../plugins/mcp-hub/upstream/gate.ts";
import { createUpstreamPool } from "../../plugins/mcp-hub/upstream/pool.ts";
import { serveHub, startHub } from "./_hub.ts";
import { rawSession } from "./_raw.ts";
import { rough } from "./_rough.ts";

type Session = Awaited<ReturnType<typeof rawSession>>;
const readResult = async (session: Session, id: number, method: string, params: object = {}) =>
  toRecord((await session.ask({ id, method, params })).messages.at(-1)?.result);
const readTools = async (session: Session) =>
  toList((await readResult(session, 1, "tools/list")).tools).map((tool) => String(toRecord(tool).name));
const toText = (result: JsonRecord) => toRecord(toList(result.content)[0]).text;

/** Two names of one length that begin alike and whose digests begin alike: as bad as it gets. */
function twins(): [string, string] {
  const seen = new Map<string, string>();
  for (let n = 0; ; n++) {
    const name = `${"very-long-name-".repeat(4)}${n}`;
    const digest = createHash("sha256").update(name).digest("hex").slice(0, 6);
    const twin = seen.get(digest);
    if (twin !== undefined) return [twin, name];
    seen.set(digest, name);
  }
}

/** A service over HTTP in as few words as possible; counts who greeted it, and how many greet and call it at once. */
async function manyServices() {
  let greeted = 0;
  const inside: Record<string, number> = {};
  const most: Record<string, number> = {};
  const answers: Record<string, (name: string) => unknown> = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    }),
    "tools/list": (name) => ({ tools: [{ name, inputSchema: { type: "object" } }] }),
    "tools/call": () => ({ content: [] }),
  };
  const server = createServer(async (req, res) => {
    if (req.method !== "POST") return void res.writeHead(405).end();
    const { id, method } = toRecord(await json(req));
    if (id === undefined) return void res.writeHead(202).end();
    const asked = String(method);
    if (asked === "initialize") greeted++;
    inside[asked] = (inside[asked] ?? 0) + 1;
    most[asked] = Math.max(most[asked] ?? 0, inside[asked]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside[asked]--;
    const result = answers[asked]?.(`tool${req.url?.slice(1)}`);
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    greeted: () => greeted,
    most,
    refuse: () => delete answers.initialize,
  };
}

describe("mcp-hub: hostile", () => {
  it("names of any kind become names every client takes, each once, and are called by them", async () => {
    const { url, add } = await serveHub();
    const pair = twins();
    const names = ["größe.ändern", "工具", "🛠️", "a b", "a.b", "x".repeat(200), "__proto__", "find_tools", ...pair];
    // A name that looks like what another one is made into.
    const made = `a_b_${createHash("sha256").update("a.b").digest("hex").slice(0, 6)}`;
    await add("odd", rough("names", JSON.stringify([...names, made])));
    const session = await rawSession(url);
    const listed = (await readTools(session)).filter((name) => name.startsWith("odd__"));
    expect(new Set(listed).size).toBe(listed.length);
    for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,50}$/);
    const own: unknown[] = [];
    for (const [i, name] of listed.entries())
      own.push(toText(await readResult(session, 10 + i, "tools/call", { name, arguments: {} })));
    // Of the twins one, and of the two that come to one name the one whose own it is.
    const offered = names.filter((name) => name !== "a.b" && name !== pair[1]);
    expect(own.sort()).toEqual([...offered, made].sort());
    const search = await rawSession(url, {}, "mcp?tools=search");
    expect(await readTools(search)).toEqual(["find_tools", "call_tool"]);
    const inner = { name: "odd__find_tools", arguments: {} };
    expect(toText(await readResult(search, 2, "tools/call", { name: "call_tool", arguments: inner }))).toBe(
      "find_tools",
    );
  });

  it("a hundred services: started a few at a time, listed in one order; one that is renamed is reported", async () => {
    const { url, kernel } = await serveHub();
    const many = await manyServices();
    const { services } = kernel.inject("mcp");
    for (let n = 0; n < 100; n++)
      await services.put({ id: `s${String(n).padStart(2, "0")}`, url: `${many.url}${String(n).padStart(2, "0")}` });
    const session = await rawSession(url);
    const stream = (await session.listen()).body?.pipeThrough(new TextDecoderStream()).getReader();
    const told = async () => {
      for (let text = ""; !text.includes("tools/list_changed"); ) text += (await stream?.read())?.value;
    };
    const list = async () => (await readTools(session)).filter((name) => /^s\d\d__/.test(name));
    let listed = await list();
    // On a busy machine some are late: the list does not wait for them, and says when they are there.
    while (listed.length < 100) {
      await told();
      listed = await list();
    }
    const numbers = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"));
    expect(listed).toEqual(numbers.map((n) => `s${n}__tool${n}`));
    expect(many.most.initialize).toBeLessThanOrEqual(8);
    await services.remove("s99");
    await services.put({ id: "renamed", url: `${many.url}99` });
    await told();
    const after = await readTools(session);
    expect(after).toContain("renamed__tool99");
    expect(after).not.toContain("s99__tool99");
  });

  it("few are started at once where each takes seconds, as on a busy machine; those that hang keep no client waiting for long", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const gate = createGate();
    let [inside, most, done] = [0, 0, 0];
    const start = (ms: number) =>
      gate(async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, ms));
        inside--;
        done++;
      });
    const slow = Array.from({ length: 40 }, () => start(5_000));
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(slow);
    // One more after each two seconds in which nothing got done.
    expect(most).toBe(10);
    for (let n = 0; n < 9; n++) void start(1e9);
    for (let n = 0; n < 100; n++) void start(10);
    await vi.advanceTimersByTimeAsync(5_100);
    expect(done).toBe(140);
  });

  it("calls at once that a service may answer with a question share eight connections, and fail together where none is to be had", async () => {
    const many = await manyServices();
    const { signal } = new AbortController();
    const env = { home: "/", platform: process.platform, env: {} };
    const { pool: workers } = (await startHub()).kernel;
    const authFor = () => ({ token: async () => undefined });
    const ignored = { onOpen() {}, onNotification() {}, onLost() {}, onRequest: async () => ({}) };
    const pool = createUpstreamPool({ env, workers, closing: signal, idleMs: 60_000, authFor }, ignored);
    onTestFinished(() => pool.close());
    const call = (service: string, capabilities: JsonRecord) => {
      const entry = { ...emptyEntry(service, ""), transport: "http" as const, url: many.url };
      const caller = { session: "one", protocol: "modern" as const, capabilities, tell() {} };
      return pool.use(entry, caller, true, ({ connection }) =>
        connection.request("tools/call", {}, { signal, timeoutMs: 60_000 }),
      );
    };
    const calls = (service: string) => Array.from({ length: 24 }, () => call(service, { elicitation: {} }));
    expect(await Promise.all(calls("s"))).toHaveLength(24);
    expect(many.most["tools/call"]).toBeLessThanOrEqual(8);
    // And the one that told which protocol it speaks.
    expect(many.greeted()).toBeLessThanOrEqual(9);
    await call("t", {});
    many.refuse();
    for (const { status } of await Promise.allSettled(calls("t"))) expect(status).toBe("rejected");
  });

  it("an answer that is nested without an end is an error, at once or over a stream, and the next one is fine", async () => {
    const { url, add } = await serveHub();
    await add("rough", rough());
    const session = await rawSession(url);
    for (const [id, after] of [
      [2, 0],
      [3, 200],
    ] as const) {
      const params = { name: "rough__deep", arguments: { depth: 20_000, after } };
      const { messages } = await session.ask({ id, method: "tools/call", params });
      expect(messages).toMatchObject([{ id, error: { message: expect.stringContaining("nested") } }]);
    }
    const params = { name: "rough__echo", arguments: { text: "on" } };
    expect(toText(await readResult(session, 4, "tools/call", params))).toBe("on");
  });

  it("a service that announces changes without an end does not take its clients along", async () => {
    const { url, add } = await serveHub();
    await add("rough", rough());
    const session = await rawSession(url);
    const stop = new AbortController();
    const stream = await session.listen(undefined, stop.signal);
    let text = "";
    const reading = (async () => {
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })().catch(() => {});
    await readResult(session, 2, "tools/call", { name: "rough__storm", arguments: { count: 2_000 } });
    expect(toText(await readResult(session, 3, "tools/call", { name: "rough__echo", arguments: { text: "on" } }))).toBe(
      "on",
    );
    stop.abort();
    await reading;
    // A second of 2,000 notices: told at 0.1, 0.3, 0.7 and 1.5 seconds, and so on, however slow this machine is.
    expect(text.split("tools/list_changed").length - 1).toBeLessThan(12);
  });
});
