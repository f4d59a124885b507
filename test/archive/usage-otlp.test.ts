/** `sessarc usage --otlp`: what a collector receives, and what is reported when it does not take it. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

it("sends token counts by assistant and model to the named address, and no content", async () => {
  const home = await makeTempDir();
  const received: { url: string | undefined; type: string | undefined; body: string }[] = [];
  const answer = { status: 200 };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    received.push({ url: request.url, type: request.headers["content-type"], body });
    response.writeHead(answer.status, { location: "http://127.0.0.1:9/" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

  const nothing = await runCommand(["usage", "--otlp", origin], home);
  expect(nothing).toMatchObject({ code: 3, stderr: expect.stringContaining("sessarc import") });

  const file = join(home, ".claude/projects/-w-secret/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl");
  await mkdir(dirname(file), { recursive: true });
  const reply = (n: number, model: string) => ({
    type: "assistant",
    uuid: `u${n}`,
    timestamp: "2026-03-02T10:00:00Z",
    cwd: "/w/secret",
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model,
      content: [{ type: "text", text: "secret words" }],
      usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 300 },
    },
  });
  const rows = [reply(1, "claude-haiku-4-5-20251001"), reply(2, "unheard-of")];
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await runCommand(["import", "--all"], home);

  const sent = await runCommand(["usage", "--otlp", origin, "--json"], home);
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(sent.stdout)).toEqual({ endpoint: `${origin}/v1/metrics`, points: 4 });
  expect(received).toMatchObject([{ url: "/v1/metrics", type: "application/json" }]);
  expect(received[0]?.body).not.toContain("secret");
  const { resourceMetrics } = JSON.parse(received[0]?.body ?? "");
  const [{ resource, scopeMetrics }] = resourceMetrics;
  expect(resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "sessarc" } });
  const [metric] = scopeMetrics[0].metrics;
  expect(metric).toMatchObject({ name: "gen_ai.client.token.usage", unit: "{token}" });
  const points = metric.histogram.dataPoints.map(
    (point: { sum: number; attributes: { value: { stringValue: string } }[] }) =>
      [...point.attributes.map(({ value }) => value.stringValue), point.sum].join(" "),
  );
  expect(points.sort()).toEqual([
    "chat _OTHER unheard-of input claude-code 310",
    "chat _OTHER unheard-of output claude-code 20",
    "chat anthropic claude-haiku-4-5 input claude-code 310",
    "chat anthropic claude-haiku-4-5 output claude-code 20",
  ]);

  for (const [status, reason] of [
    [503, "it answered 503"],
    [302, "redirect"],
  ] as const) {
    answer.status = status;
    const { code, stderr } = await runCommand(["usage", "--otlp", `${origin}/own`], home);
    expect(code).not.toBe(0);
    expect(stderr).toContain(reason);
    expect(stderr).toContain("OpenTelemetry collector");
  }
  expect(received.map(({ url }) => url)).toEqual(["/v1/metrics", "/own", "/own"]);

  for (const wrong of ["nothing", "file:///etc/passwd", "http://a:b@127.0.0.1:1"])
    expect((await runCommand(["usage", "--otlp", wrong], home)).code, wrong).toBe(2);
  for (const flags of [
    ["daily"],
    ["--stateless"],
    ["--order", "asc"],
    ["--limit", "1"],
    ["--breakdown"],
    ["--evidence"],
  ])
    expect((await runCommand(["usage", ...flags, "--otlp", origin], home)).code, flags.join(" ")).toBe(2);
  expect(received).toHaveLength(3);
});
