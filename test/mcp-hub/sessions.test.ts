/** What travels between a client and the hub: when there is a stream, and what becomes of one that breaks. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { serveHub } from "./_hub.ts";
import { rawSession, readUntil } from "./_raw.ts";
import { readLines, rough } from "./_rough.ts";

const call = (id: number, name: string, args: object = {}, meta?: object) => ({
  id,
  method: "tools/call",
  params: { name: `rough__${name}`, arguments: args, ...(meta ? { _meta: meta } : {}) },
});

describe("mcp-hub: sessions", () => {
  it("an answer that is there at once is one piece of JSON; what is reported first, or takes longer, is a stream", async () => {
    const { url, add } = await serveHub();
    await add("rough", rough());
    const session = await rawSession(url);
    await session.ask({ id: 1, method: "tools/list" });
    expect(await session.ask(call(2, "echo", { text: "hi" }))).toMatchObject({
      type: "application/json",
      messages: [{ jsonrpc: "2.0", id: 2, result: { content: [{ text: "hi" }] } }],
    });
    expect(await session.ask(call(3, "nothing"))).toMatchObject({
      type: "application/json",
      messages: [{ id: 3, error: { code: -32602, message: "Unknown tool: rough__nothing" } }],
    });
    const told = await session.ask(call(4, "slow-progress", { steps: 3, every: 5 }, { progressToken: "mine" }));
    expect(told).toMatchObject({ type: "text/event-stream" });
    expect(told.messages.map(({ method, params }) => [method, params])).toEqual([
      ...[1, 2, 3].map((progress) => ["notifications/progress", { progressToken: "mine", progress }]),
      [undefined, undefined],
    ]);
    expect(told.messages.at(-1)).toMatchObject({ id: 4, result: { content: [{ text: "done" }] } });
    expect(await session.ask(call(5, "slow-progress", { steps: 2, every: 150 }))).toMatchObject({
      type: "text/event-stream",
      messages: [{ id: 5, result: { content: [{ text: "done" }] } }],
    });
  });

  it("a call that is cancelled before there is a stream is cancelled at the service", async () => {
    const file = join(await makeTempDir(), "notes");
    const { url, add } = await serveHub();
    await add("rough", rough("", file));
    const session = await rawSession(url);
    await session.ask({ id: 1, method: "tools/list" });
    const stop = new AbortController();
    const waiting = session.post(call(2, "wait"), stop.signal);
    const cancelled = session.ask({ method: "notifications/cancelled", params: { requestId: 2 } });
    expect(await cancelled).toMatchObject({ status: 202 });
    await readLines(file, (lines) => lines.some((line) => line.startsWith("cancelled")));
    stop.abort();
    await waiting.catch(() => {});
  });

  it("a stream that broke is taken up where it broke: nothing is lost and nothing comes twice", async () => {
    const { url, add } = await serveHub();
    await add("rough", rough());
    const session = await rawSession(url);
    const stop = new AbortController();
    const args = { steps: 4, every: 120 };
    const response = await session.post(call(2, "slow-progress", args, { progressToken: 7 }), stop.signal);
    const seen = await readUntil(response, /"progress":1.*\n\n/);
    const last = [...seen.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
    // On a busy machine more than one came at once.
    const left = args.steps - [...seen.matchAll(/"progress":\d/g)].length;
    stop.abort();
    const { status, messages } = await session.read(await session.listen(last));
    expect(status).toBe(200);
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([...Array(left).fill("notifications/progress"), 2]);
    expect((await session.listen("nobody's")).status).toBe(400);
    expect((await session.end()).status).toBe(200);
    expect((await session.ask(call(3, "echo"))).status).toBe(404);
  });
});
