/** GET /sessions/:id/spans, and `sessarc usage session <id> --otlp`: prompts and tool calls as a collector of OpenTelemetry takes them. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it, onTestFinished } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  status?: { code: number };
}
interface Traces {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const START = Date.UTC(2026, 10, 1, 10);
const at = (second: number) => new Date(START + second * 1_000).toISOString();
const nano = (second: number) => `${START + second * 1_000}000000`;

async function writeSession(home: string): Promise<void> {
  const row = (n: number, second: number, type: string, message: object) => ({
    ...{ type, uuid: `u${n}`, sessionId: KEY, cwd: "/w/secret", timestamp: at(second), requestId: `r${n}`, message },
  });
  const reply = (n: number, second: number, content: object[]) =>
    row(n, second, "assistant", {
      ...{ id: `m${n}`, role: "assistant", model: "claude-haiku-4-5", content },
      usage: {
        ...{ input_tokens: 1, output_tokens: 20, cache_creation_input_tokens: 4, cache_read_input_tokens: 300 },
      },
    });
  const call = (id: string, name: string) => ({ type: "tool_use", id, name, input: { command: "cat secret" } });
  const result = (tool_use_id: string, is_error: boolean) => ({
    ...{ type: "tool_result", tool_use_id, content: "secret answer", is_error },
  });
  const rows = [
    row(1, 0, "user", { role: "user", content: "a secret question" }),
    reply(2, 3, [call("t1", "Bash"), call("t2", "Read")]),
    row(3, 5, "user", { role: "user", content: [result("t1", false)] }),
    row(4, 8, "user", { role: "user", content: [result("t2", true)] }),
    reply(5, 9, [{ type: "text", text: "secret words" }]),
    row(6, 60, "user", { role: "user", content: "another secret question" }),
    reply(7, 61, [call("t3", "Bash")]),
  ];
  const file = join(home, `.claude/projects/-w-secret/${KEY}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

const values = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

it("gives a trace for each prompt, with its tool calls, tokens that add up, and nothing that was said", async () => {
  const home = await makeTempDir();
  await writeSession(home);
  const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  await t.send("POST", "/api/import", { all: true });
  const path = `/api/sessions/claude-code:${KEY}/spans`;
  const answer = await t.json<Traces>(path);
  const spans = answer.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  expect(
    spans.map(({ name, startTimeUnixNano, endTimeUnixNano }) => [name, startTimeUnixNano, endTimeUnixNano]),
  ).toEqual([
    ["invoke_agent claude-code", nano(0), nano(9)],
    ["execute_tool Bash", nano(3), nano(5)],
    ["execute_tool Read", nano(3), nano(8)],
    // The call without a result is no span.
    ["invoke_agent claude-code", nano(60), nano(61)],
  ]);
  const [first, bash, read, second] = spans;
  if (!first || !bash || !read || !second) throw new Error("no spans");
  expect(values(first)).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.agent.name": "claude-code",
    "gen_ai.conversation.id": KEY,
    "gen_ai.request.model": "claude-haiku-4-5",
    "gen_ai.usage.input_tokens": 610,
    "gen_ai.usage.output_tokens": 40,
    "gen_ai.usage.cache_read.input_tokens": 600,
    "gen_ai.usage.cache_creation.input_tokens": 8,
  });
  expect(values(second)).toMatchObject({ "gen_ai.usage.input_tokens": 305, "gen_ai.usage.output_tokens": 20 });
  expect(values(read)).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.conversation.id": KEY,
    "gen_ai.tool.name": "Read",
    "gen_ai.tool.call.id": "t2",
    "error.type": "_OTHER",
  });
  expect([read.status, bash.status]).toEqual([{ code: 2 }, undefined]);
  expect([bash, read].map((one) => [one.traceId, one.parentSpanId])).toEqual([
    [first.traceId, first.spanId],
    [first.traceId, first.spanId],
  ]);
  expect(new Set(spans.map((one) => one.spanId)).size).toBe(4);
  expect(first.traceId).toMatch(/^[\da-f]{32}$/);
  expect(first.spanId).toMatch(/^[\da-f]{16}$/);
  expect(second.traceId).not.toBe(first.traceId);
  expect(JSON.stringify(answer)).not.toContain("secret");
  // Sent again, they are the same spans.
  expect(await t.json<Traces>(path)).toEqual(answer);
  expect((await t.fetch("/api/sessions/claude-code:none/spans")).status).toBe(404);
});

it("sends the spans of one session to the traces address", async () => {
  const home = await makeTempDir();
  await writeSession(home);
  await runCommand(["import", "--all"], home);
  const received: { url: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    received.push({ url: request.url, body });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const sent = await runCommand(["usage", "session", "last", "--otlp", origin, "--json"], home);
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(sent.stdout)).toEqual({ endpoint: `${origin}/v1/traces`, session: `claude-code:${KEY}`, spans: 4 });
  expect(received.map(({ url }) => url)).toEqual(["/v1/traces"]);
  const body: Traces = JSON.parse(received[0]?.body ?? "");
  expect(body.resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(4);
  for (const wrong of [["session", "last", "--since", "7d"], ["session"], ["session", "last", "more"]])
    expect((await runCommand(["usage", ...wrong, "--otlp", origin], home)).code, wrong.join(" ")).toBe(2);
  expect(received).toHaveLength(1);
});
