import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import feedback from "../../plugins/feedback/index.ts";
import { createTestKernel } from "../kernel.ts";

interface Answer {
  id: string;
  stored: boolean;
  forwarded: boolean;
  reason: string | null;
}

async function relay(answers: (number | "hang")[]) {
  const bodies: unknown[] = [];
  const server = createServer((req, res) => {
    let text = "";
    req.on("data", (chunk) => {
      text += chunk;
    });
    req.on("end", () => {
      bodies.push(JSON.parse(text));
      const answer = answers.shift() ?? 200;
      if (answer === "hang") return;
      res.statusCode = answer;
      res.end("thanks");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, bodies };
}

const start = (url: string | null) => createTestKernel({ plugins: [feedback()], config: { feedback: { relay: url } } });

describe("feedback", () => {
  it("keeps feedback in a private log and sends nothing unless a relay is set", async () => {
    const t = await start(null);
    const { status, body } = await t.send<Answer>("POST", "/api/feedback", { message: "more charts", kind: "idea" });
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(String), stored: true, forwarded: false, reason: "No relay is configured" });
    const file = join(t.home, "data/files/feedback.log");
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      id: body.id,
      message: "more charts",
      kind: "idea",
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("says in the status where entries go, without credentials, and how many wait", async () => {
    const quiet = await start(null);
    expect((await quiet.json<{ feedback: unknown }>("/api/status")).feedback).toEqual({ relay: null, waiting: 0 });
    const t = await start("http://user:secret@127.0.0.1:9/in?key=abc");
    await t.send("POST", "/api/feedback", { message: "hello" });
    const status = await t.json<{ feedback: unknown }>("/api/status");
    expect(status.feedback).toEqual({ relay: "http://127.0.0.1:9/in", waiting: 1 });
  });

  it("hands the relay exactly what was said", async () => {
    const { url, bodies } = await relay([200]);
    const t = await start(url);
    const given = { message: "hello", email: "a@example.org" };
    const { body } = await t.send<Answer>("POST", "/api/feedback", given);
    expect(body).toMatchObject({ forwarded: true, reason: null });
    expect(bodies).toEqual([{ id: body.id, ...given }]);
  });

  it("keeps the entry when the relay fails, and sends it again later", async () => {
    const { url, bodies } = await relay([500, 200]);
    const t = await start(url);
    const { status, body } = await t.send<Answer>("POST", "/api/feedback", { message: "hello" });
    expect([status, body.forwarded]).toEqual([201, false]);
    expect(body.reason).toContain("500");
    const { flush } = t.kernel.inject("feedback");
    expect(await flush(Date.now())).toBe(0);
    expect(await flush(Date.now() + 3_600_000)).toBe(1);
    expect(await flush(Date.now() + 7_200_000)).toBe(0);
    expect(bodies).toEqual([
      { id: body.id, message: "hello" },
      { id: body.id, message: "hello" },
    ]);
  });

  it("answers in time when the relay never does, and over a restart still sends it", async () => {
    const { url, bodies } = await relay(["hang", 200]);
    const t = await start(url);
    const { status, body } = await t.send<Answer>("POST", "/api/feedback", { message: "hello" });
    expect([status, body.forwarded]).toEqual([201, false]);
    await t.kernel.close();
    const again = await createTestKernel({
      plugins: [feedback()],
      config: { feedback: { relay: url } },
      home: t.home,
    });
    expect(await again.kernel.inject("feedback").flush(Date.now() + 3_600_000)).toBe(1);
    expect(bodies).toHaveLength(2);
  });

  it("keeps the entry when the relay is down", async () => {
    const t = await start("http://127.0.0.1:9/");
    const { status, body } = await t.send<Answer>("POST", "/api/feedback", { message: "hello" });
    expect([status, body.stored, body.forwarded]).toEqual([201, true, false]);
  });

  it("refuses invalid feedback", async () => {
    const t = await start(null);
    expect((await t.send("POST", "/api/feedback", {})).status).toBe(400);
    expect((await t.send("POST", "/api/feedback", { message: "   " })).status).toBe(400);
    expect((await t.send("POST", "/api/feedback", { message: "x", email: "nobody" })).status).toBe(400);
  });
});
