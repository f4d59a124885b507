/** The setting `metrics.otlp`: what a real collector receives from a running service, and what happens while it does not take it. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand, serveHere } from "../command.ts";

interface Status {
  otlp?: { endpoint: string; sentAt: string | null; failed: string | null; failures: number; nextAt: string | null };
}

async function writeSession(home: string, n: number): Promise<void> {
  const id = `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
  const file = join(home, `.claude/projects/-w-secret/${id}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  const row = {
    ...{ type: "assistant", uuid: `u${n}`, sessionId: id, cwd: "/w/secret", requestId: `r${n}` },
    timestamp: new Date(Date.now() - 3_600_000).toISOString(),
    message: {
      ...{ id: `m${n}`, role: "assistant", model: "claude-haiku-4-5" },
      content: [{ type: "text", text: "secret words" }],
      usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 300 },
    },
  };
  await writeFile(file, `${JSON.stringify(row)}\n`);
}

it("sends totals to the named collector alone, reports what fails, waits longer, and loses nothing", async () => {
  const home = await makeTempDir();
  const received: { url: string | undefined; body: string }[] = [];
  const answer = { status: 200 };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    received.push({ url: request.url, body });
    response.writeHead(answer.status).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const sums = () => {
    const [{ scopeMetrics }] = JSON.parse(received.at(-1)?.body ?? "{}").resourceMetrics;
    return scopeMetrics[0].metrics[0].histogram.dataPoints.map(({ sum }: { sum: number }) => sum).sort();
  };

  await writeSession(home, 1);
  await runCommand(["import", "--all"], home);
  let service = await serveHere(["--no-open"], home);
  const call = async (method: string, path: string, body?: object) => {
    const init = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(new URL(`/api${path}`, service.url), { method, ...init });
    return { status: response.status, body: await response.json() };
  };
  const otlp = async () => ((await call("GET", "/status")).body as Status).otlp;
  const set = (value: string | null) => call("PATCH", "/settings", { "metrics.otlp": value });

  expect(await otlp()).toBeUndefined();
  for (const wrong of ["nowhere", "file:///etc/passwd", "http://a:b@127.0.0.1:1"])
    expect((await set(wrong)).status, wrong).toBe(400);
  expect(received).toEqual([]);

  expect((await set(`${origin}?token=hidden`)).status).toBe(200);
  await expect
    .poll(otlp)
    .toMatchObject({ endpoint: `${origin}/`, failed: null, failures: 0, sentAt: expect.any(String) });
  expect(received.map(({ url }) => url)).toEqual(["/v1/metrics?token=hidden"]);
  expect(sums()).toEqual([20, 310]);
  expect(received[0]?.body).not.toMatch(/secret|hidden/);
  expect(JSON.stringify((await call("GET", "/settings")).body)).not.toContain("hidden");

  answer.status = 503;
  await set(origin);
  await expect.poll(otlp).toMatchObject({ failed: "it answered 503", failures: 1 });
  const retryAt = Date.parse((await otlp())?.nextAt ?? "");
  // A minute after a failure, instead of the quarter of an hour.
  expect(retryAt).toBeLessThan(Date.now() + 61_000);
  await writeSession(home, 2);
  await call("POST", "/sync?wait=1");
  answer.status = 200;
  await set(origin);
  await expect.poll(otlp).toMatchObject({ failed: null, failures: 0 });
  expect(sums()).toEqual([40, 620]);

  // The setting holds for the next start.
  await service.stop();
  const before = received.length;
  service = await serveHere(["--no-open"], home);
  await expect.poll(() => received.length).toBe(before + 1);
  await set(null);
  expect(await otlp()).toBeUndefined();
  await service.stop();
  expect(received.length).toBe(before + 1);
});
