import { expect, onTestFinished, test } from "vitest";
import type { Script } from "./model/script.ts";
import { startModelServer } from "./model/server.ts";

const TOKENS = { input: 10, output: 7, cacheRead: 20, cacheWrite: 5, reasoning: 3 };
const CALL = { name: "look", input: { path: "a.txt" } };
const REPLY = { thinking: "hm", text: "Hello", calls: [CALL], tokens: TOKENS };

async function playing(script: Script) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const post = (path: string, body: unknown, signal: AbortSignal | null = null) =>
    fetch(server.url + path, { method: "POST", body: JSON.stringify(body), signal });
  return { server, post };
}

const PROTOCOLS = [
  {
    name: "anthropic",
    path: "/v1/messages?beta=true",
    body: { model: "m", stream: true, tools: [{ name: "look" }], messages: [{ role: "user", content: "go" }] },
    usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 20 },
    says: ['"type":"tool_use","id":"toolu_r00","name":"look"', '"output_tokens":7', '"thinking_delta","thinking":"hm"'],
  },
  {
    name: "responses",
    path: "/v1/responses",
    body: { model: "m", stream: true, tools: [{ name: "look" }], input: [{ role: "user", content: [{ text: "go" }] }] },
    usage: { input_tokens: 35, output_tokens: 7, total_tokens: 42 },
    says: ['"type":"function_call"', '"cached_tokens":20', '"reasoning_tokens":3', "event: response.completed"],
  },
  {
    name: "chat",
    path: "/v1/chat/completions",
    body: {
      ...{ model: "m", stream: true, messages: [{ role: "user", content: "go" }] },
      tools: [{ type: "function", function: { name: "look" } }],
    },
    usage: { prompt_tokens: 35, completion_tokens: 7, total_tokens: 42 },
    says: ['"name":"look","arguments":"{\\"path\\":\\"a.txt\\"}"', '"reasoning_content":"hm"', "data: [DONE]"],
  },
  {
    name: "gemini",
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: {
      contents: [{ role: "user", parts: [{ text: "go" }] }],
      tools: [{ functionDeclarations: [{ name: "look" }] }],
    },
    usage: { promptTokenCount: 35, cachedContentTokenCount: 20, candidatesTokenCount: 4, thoughtsTokenCount: 3 },
    says: ['"functionCall":{"id":"r00","name":"look","args":{"path":"a.txt"}}', '"text":"hm","thought":true'],
  },
];

test.each(PROTOCOLS)("$name: a reply is streamed with its figures and is in the ledger", async (protocol) => {
  const { server, post } = await playing({ main: [REPLY] });
  const response = await post(protocol.path, protocol.body);
  const text = await response.text();
  for (const [name, count] of Object.entries(protocol.usage)) expect(text).toContain(`"${name}":${count}`);
  for (const said of protocol.says) expect(text).toContain(said);
  expect(server.ledger).toMatchObject([
    {
      ...{ protocol: protocol.name, lane: "main", model: "m", status: 200, finished: true },
      tokens: TOKENS,
      calls: [CALL],
    },
  ]);
  expect(server.ledger[0]?.prompts).toEqual(["go"]);
  expect(server.ledger[0]?.tools).toEqual(["look"]);
  expect(server.left()).toEqual({});
});

const ask = (text: string, tools: unknown[] = [{ name: "look" }]) => ({
  ...{ model: "m", tools },
  messages: [{ role: "user", content: [{ type: "text", text }] }],
});

test("lanes: marked prompts have a queue of their own, requests without tools are side calls", async () => {
  const { server, post } = await playing({ main: [{ text: "one" }, { text: "two" }], child: [{ text: "small" }] });
  const answers = [];
  for (const body of [ask("go"), ask("task [[child]]"), ask("go on"), ask("a title?", []), ask("more")]) {
    answers.push(/"text":"([^"]*)"/.exec(await (await post("/v1/messages", body)).text())?.[1]);
  }
  expect(answers).toEqual(["one", "small", "two", "done: side", "done"]);
  expect(server.ledger.map(({ lane }) => lane)).toEqual(["main", "child", "main", "side", "main"]);
  expect(new Set(server.ledger.map(({ tokens }) => tokens.input)).size).toBe(5);
});

test("errors are answered with their status and cost nothing; what is unknown is a stray", async () => {
  const { server, post } = await playing({ main: [{ error: { status: 429, message: "slow down" } }] });
  expect((await post("/v1/messages", ask("go"))).status).toBe(429);
  expect((await fetch(`${server.url}/telemetry`, { method: "POST", body: "x" })).status).toBe(404);
  expect((await post("/v1/messages/count_tokens", ask("go"))).status).toBe(200);
  expect(server.ledger).toMatchObject([{ status: 429, tokens: { input: 0, output: 0 } }]);
  expect(server.strays).toEqual(["POST /telemetry"]);
});

test("a reply that hangs is not finished", async () => {
  let asked = 0;
  const { server, post } = await playing({ main: [{ text: "…", hang: true, asked: () => void asked++ }] });
  const stop = new AbortController();
  const response = await post("/v1/messages", { ...ask("go"), stream: true }, stop.signal);
  expect(response.status).toBe(200);
  stop.abort();
  expect(asked).toBe(1);
  expect(server.ledger).toMatchObject([{ finished: false }]);
});
