/** Results of megabytes: they reach the client as the service wrote them, at once, over a stream, and when a broken stream is taken up. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { toList, toRecord } from "sessarc";
import { expect, it } from "vitest";
import { findResult } from "../../plugins/mcp-hub/large-job.ts";
import { serveHub } from "./_hub.ts";
import { newerClient, olderClient } from "./_lists.ts";
import { rawSession } from "./_raw.ts";
import { rough } from "./_rough.ts";

const BYTES = 5 * 2 ** 20;
const toText = (result: unknown) => String(toRecord(toList(toRecord(result).content)[0]).text);

it.each([
  ["at once", {}, "application/json"],
  ["over a stream", { after: 300 }, "text/event-stream"],
] as const)("a large result is whole %s, and counted in log and figures", async (_, more, type) => {
  const { url, add, kernel } = await serveHub();
  await add("rough", rough());
  const session = await rawSession(url);
  await session.ask({ id: 1, method: "tools/call", params: { name: "rough__echo", arguments: {} } });
  const params = { name: "rough__large", arguments: { bytes: BYTES, ...more } };
  const answer = await session.ask({ id: 2, method: "tools/call", params });
  const [message] = answer.messages;
  expect(message?.id).toBe(2);
  expect(toText(message?.result)).toBe("é".repeat(BYTES / 2));
  if ("after" in more) expect(answer.type).toBe(type);
  const { calls } = (await (await kernel.fetch("/api/mcp/calls?service=rough")).json()) as {
    calls: { tool: string; tokensOut: number }[];
  };
  expect(calls.find(({ tool }) => tool === "large")?.tokensOut).toBeGreaterThan(BYTES / 8);
  const log = await (await kernel.fetch("/api/mcp/log?service=rough&limit=5")).text();
  expect(log.length).toBeLessThan(50_000);
});

it("clients of both SDKs and POST /mcp/call get the same", async () => {
  const { url, add, kernel } = await serveHub();
  await add("rough", rough());
  const name = "rough__large";
  for (const connect of [olderClient, newerClient]) {
    const client = await connect(url);
    expect(toText(await client.callTool({ name, arguments: { bytes: BYTES } }))).toHaveLength(BYTES / 2);
  }
  const body = JSON.stringify({ name, arguments: { bytes: BYTES } });
  const { result } = (await (await kernel.fetch("/api/mcp/call", { method: "POST", body })).json()) as {
    result: object;
  };
  expect(toText(result)).toHaveLength(BYTES / 2);
});

it("a stream that broke before a large result is taken up with it", async () => {
  const { url, add } = await serveHub();
  await add("rough", rough());
  const session = await rawSession(url);
  const stop = new AbortController();
  const params = { name: "rough__large", arguments: { bytes: BYTES, after: 1_000 }, _meta: { progressToken: 7 } };
  const response = await session.post({ id: 2, method: "tools/call", params }, stop.signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!/^id: (.+)$/m.test(text)) text += (await reader?.read())?.value;
  const last = /^id: (.+)$/m.exec(text)?.[1];
  stop.abort();
  await reader?.cancel().catch(() => {});
  const { messages } = await session.read(await session.listen(last));
  expect(toText(messages.at(-1)?.result)).toHaveLength(BYTES / 2);
});

it("a session holds the last large results alone", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const { url, add } = await serveHub();
  await add("rough", rough());
  const session = await rawSession(url);
  const ask = async (id: number) => {
    const params = { name: "rough__large", arguments: { bytes: BYTES } };
    expect((await session.ask({ id, method: "tools/call", params })).messages).toHaveLength(1);
  };
  const held = () => {
    gc();
    return process.memoryUsage().arrayBuffers;
  };
  await ask(1);
  const before = held();
  for (let id = 2; id < 20; id++) await ask(id);
  expect((held() - before) / BYTES).toBeLessThan(9);
});

it.each([
  [
    '{"jsonrpc":"2.0","id":7,"result":{"a":[1,"}\\\\\\""],"isError":true}}',
    '{"a":[1,"}\\\\\\""],"isError":true}',
    true,
  ],
  ['{"result": {"result":{}} ,"jsonrpc":"2.0","id":7}', '{"result":{}} ', false],
  ['{"x":"result","y":{"result":1},"result":{},"id":7}', "{}", false],
])("the result of %s is found where it is", async (line, result, isError) => {
  const found = await findResult(Buffer.from(line));
  expect(found?.isError).toBe(isError);
  expect(line.slice(found?.start, found?.end).trim()).toBe(result.trim());
});

it.each([
  ['{"id":7,"result":{', "cut off"],
  ['{"id":7,"error":{"code":1,"message":"x"}}', "an error"],
  ['{"id":"7","result":{}}', "another kind of id"],
  ['{"id":7,\r"result":{}}', "a line break"],
  [`{"id":7,"result":{"a":${"[".repeat(600)}${"]".repeat(600)}}}`, "too deep"],
])("%s is left to the usual way: %s", async (line) => {
  expect(await findResult(Buffer.from(line))).toBe(null);
});
