/** Cancelling an import: what is finished stays, nothing else is touched, the next import takes the rest. */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Bulletin } from "../../plugins/archive/import/bulletin.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli, spawnCli } from "../built.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

interface Frame {
  type: string;
  id?: string;
  ids?: string[];
  outcome?: string;
  imported?: number;
  cancelled?: number;
  sessions?: { id: string; outcome: string }[];
  total?: number;
}

const toLog = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const row = (n: number, text: string) =>
  `${JSON.stringify({ type: "user", uuid: `u${n}`, timestamp: "2026-11-20T10:00:00.000Z", cwd: "/w/app", message: { role: "user", content: text } })}\n`;

function writeLogs(home: string, count: number, text = "find the needle"): void {
  for (let n = 1; n <= count; n++) {
    const path = join(home, `.claude/projects/-w-app/${toLog(n)}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, row(n, text));
  }
}

async function start(): Promise<TestKernel> {
  return createTestKernel({ plugins: [archive(), claude()] });
}

const events = { "content-type": "application/json", accept: "text/event-stream" };
const importAll = (t: TestKernel) =>
  t.fetch("/api/import", { method: "POST", body: '{"all":true}', headers: events }).then(readFrames);

/** Frames as they come. */
function readFrames(response: Response): AsyncGenerator<Frame> {
  const { body } = response;
  if (!body) throw new Error("no stream");
  return (async function* () {
    let rest = "";
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield JSON.parse(part.slice(6)) as Frame;
    }
  })();
}

async function until(frames: AsyncGenerator<Frame>, wanted: (frame: Frame) => boolean): Promise<Frame> {
  for (;;) {
    const step = await frames.next();
    if (step.done) throw new Error("the stream ended before");
    if (wanted(step.value)) return step.value;
  }
}

describe("POST /import/cancel", () => {
  it("keeps what is finished, counts the rest, and leaves that to the next import", async () => {
    const t = await start();
    writeLogs(t.home, 120);
    const frames = await importAll(t);
    await until(frames, (frame) => frame.type === "session");
    const { body } = await t.send("POST", "/api/import/cancel", {});
    expect(body).toEqual({ cancelled: true });
    // The answer comes when the run has ended.
    expect(await t.json("/api/import/status")).toEqual({ type: "idle" });
    const done = await until(frames, (frame) => frame.type === "done");
    expect(done.imported).toBeGreaterThan(0);
    expect(done.cancelled).toBeGreaterThan(0);
    expect((done.imported ?? 0) + (done.cancelled ?? 0)).toBe(120);
    const { total } = await t.json<{ total: number }>("/api/sessions");
    expect(total).toBe(done.imported);
    const kept = (await t.kernel.storage.transcripts.keys()).filter((key) => !key.endsWith(".cursor"));
    expect(kept).toHaveLength(total);
    const rest = await t.send("POST", "/api/import", { all: true });
    expect(rest.body).toMatchObject({ imported: done.cancelled, unchanged: done.imported, cancelled: 0, failed: [] });
  });

  it("gives up a log that is being read, and nothing of it is left", async () => {
    const t = await start();
    const path = join(t.home, `.claude/projects/-w-app/${toLog(1)}.jsonl`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      Array.from({ length: 20_000 }, (_, n) => row(n, `line ${n} ${"words ".repeat(100)}`)).join(""),
    );
    const frames = await importAll(t);
    const reading = await until(frames, (frame) => frame.type === "reading");
    expect(reading.ids).toEqual([`claude-code:${toLog(1)}`]);
    await t.send("POST", "/api/import/cancel", {});
    expect(await until(frames, (frame) => frame.type === "done")).toMatchObject({
      imported: 0,
      failed: [],
      cancelled: 1,
    });
    expect(await t.kernel.storage.transcripts.keys()).toEqual([]);
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 1, messages: 20_000 });
  });

  it("cancels those that wait too", async () => {
    const t = await start();
    writeLogs(t.home, 60);
    await t.json("/api/scan");
    const first = await importAll(t);
    await until(first, (frame) => frame.type === "reading");
    const second = await importAll(t);
    await t.send("POST", "/api/import/cancel", {});
    const { imported = 0 } = await until(first, (frame) => frame.type === "done");
    expect(await until(second, (frame) => frame.type === "done")).toMatchObject({
      imported: 0,
      cancelled: 60 - imported,
    });
  });

  it("says when nothing runs", async () => {
    const t = await start();
    expect(await t.send("POST", "/api/import/cancel", {})).toMatchObject({ status: 200, body: { cancelled: false } });
  });
});

describe("GET /import/status as events", () => {
  it("tells one who comes late what is done, and goes on to the end; leaving it cancels nothing", async () => {
    const t = await start();
    writeLogs(t.home, 120);
    const first = await importAll(t);
    await until(first, (frame) => frame.type === "session");
    await first.return(undefined); // the page is closed
    const status = () => t.fetch("/api/import/status", { headers: events }).then(readFrames);
    const left = await status();
    await left.next();
    await left.return(undefined);
    const second = await status();
    const past = await until(second, (frame) => frame.type === "outcomes");
    const seen = new Set(past.sessions?.map((one) => one.id));
    expect(seen.size).toBeGreaterThan(0);
    await until(second, (frame) => {
      if (frame.type === "session" && frame.id) seen.add(frame.id);
      return frame.type === "done";
    });
    expect(seen.size).toBe(120);
    // A client that connects later still gets the report.
    expect(await until(await status(), (frame) => frame.type === "done")).toMatchObject({
      imported: 120,
      cancelled: 0,
    });
  });
});

it("a client that follows an import of very many logs gets the finished ones a page at a time, as it reads", async () => {
  const bulletin = new Bulletin();
  bulletin.begin();
  const outcome = (id: string) => bulletin.take({ type: "session", id, outcome: "imported" });
  for (let n = 0; n < 3_500; n++) outcome(`one:${n}`);
  const told: string[] = [];
  let frames = 0;
  let room = () => {};
  bulletin.follow(
    (frame) => {
      if (frame.type === "session") told.push(frame.id);
      if (frame.type !== "outcomes") return;
      frames++;
      expect(frame.sessions.length).toBeLessThanOrEqual(1_000);
      told.push(...frame.sessions.map(({ id }) => id));
    },
    () => new Promise((resolve) => (room = resolve)),
  );
  await new Promise(setImmediate);
  expect([frames, told.length]).toEqual([1, 1_000]);
  outcome("one:3500");
  for (let n = 2; n <= 4; n++) {
    room();
    await expect.poll(() => frames).toBe(n);
  }
  expect(new Set(told).size).toBe(told.length);
  expect(told.length).toBe(3_501);
});

describe("Ctrl-C in `sessarc import`", () => {
  const LOGS = 400;
  beforeAll(builtPackage);

  it("keeps what is done, says it in one line, ends with 130, and the next run takes the rest", async () => {
    const home = await makeTempDir();
    writeLogs(home, LOGS, `find the needle ${"in the hay ".repeat(2_000)}`);
    const child = spawnCli(["import", "--json"], home);
    let stderr = "";
    let stdout = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const stored = async () => (await readdir(join(home, ".local/share/sessarc/transcripts")).catch(() => [])).length;
    await expect.poll(stored).toBeGreaterThan(0);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    const { imported, cancelled } = JSON.parse(stdout) as { imported: number; cancelled: number };
    expect(imported + cancelled).toBe(LOGS);
    expect(cancelled).toBeGreaterThan(0);
    expect(stderr).toMatch(/^cancelled after [\d,]+ of 400; .*\n$/);
    const rest = await runCli(["import", "--json"], home);
    expect(rest.code).toBe(0);
    expect(JSON.parse(rest.stdout)).toMatchObject({ imported: cancelled, unchanged: imported, cancelled: 0 });
  });
});
