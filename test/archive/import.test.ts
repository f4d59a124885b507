import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Kernel } from "sessarc";
import { createKernel, resolveConfig } from "sessarc/serve";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { rounds } from "../rounds.ts";

let home: string;
let kernel: Kernel;

async function open(dataDir = join(home, "data")): Promise<Kernel> {
  const env = { home, platform: process.platform, env: { HOME: home } } as const;
  return createKernel({
    plugins: [archive(), claude(), codex()],
    env,
    config: resolveConfig({ dataDir }, {}, env),
  });
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
  body: any;
}
async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const init =
    body === undefined
      ? { method }
      : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await kernel.fetch(`/api${path}`, init);
  return { status: response.status, body: await response.json() };
}

const transcripts = async () => (await kernel.storage.transcripts.keys()).filter((key) => !key.endsWith(".cursor"));

/** An hour ago: a conversation that may go on. */
const HOUR = new Date(Date.now() - 3_600_000).toISOString().slice(0, 13);

const line = (row: object) => `${JSON.stringify(row)}\n`;
const reply = (n: number, extra: object = {}) =>
  line({
    type: "assistant",
    uuid: `a${n}`,
    timestamp: `${HOUR}:00:0${n}.000Z`,
    cwd: "/w/app",
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: `answer ${n}` }],
      usage: { input_tokens: 10, output_tokens: n, cache_read_input_tokens: 100 },
    },
    ...extra,
  });
const prompt = (n: number, text: string) =>
  line({
    type: "user",
    uuid: `u${n}`,
    timestamp: `${HOUR}:00:0${n}.000Z`,
    cwd: "/w/app",
    gitBranch: "main",
    message: { role: "user", content: text },
  });

function write(path: string, text: string): string {
  const file = join(home, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  return file;
}
const A = ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
const idA = "claude-code:aaaaaaaa-0000-4000-8000-000000000001";

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "sessarc-archive-"));
  write(A, prompt(1, "find the needle") + reply(2) + prompt(3, "again") + reply(4));
  kernel = await open();
});
afterEach(async () => {
  await kernel.close();
  rmSync(home, { recursive: true, force: true });
});

describe("import", () => {
  it("imports, answers the session and its messages, and does nothing for unchanged logs", async () => {
    const { body } = await call("POST", "/import", { all: true });
    expect(body).toMatchObject({ imported: 1, unchanged: 0, failed: [], messages: 4 });
    expect(body.projects).toMatchObject([{ name: "app", sessions: 1 }]);
    const { body: got } = await call("GET", `/sessions/${idA}`);
    expect(got.session).toMatchObject({
      id: idA,
      firstPrompt: "find the needle",
      cwd: "/w/app",
      gitBranch: "main",
      messageCount: 4,
    });
    expect(got.session.usage).toEqual({
      "claude-sonnet-4-5": { input: 20, output: 6, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 200 },
    });
    const { body: messages } = await call("GET", `/sessions/${idA}/messages`);
    expect(messages.messages.map((m: { kind: string }) => m.kind)).toEqual(["user", "assistant", "user", "assistant"]);
    const bytes = kernel.storage.db.generation;
    expect((await call("POST", "/import", { all: true })).body).toMatchObject({ imported: 0, unchanged: 1 });
    expect(kernel.storage.db.generation).toBe(bytes);
  });

  it("a file that a command shows counts as read, as it does for the causes of changes", async () => {
    const input = { command: "cat src/a.ts | head -3; ls src" };
    const message = { id: "m2", model: "m", content: [{ type: "tool_use", id: "t2", name: "Bash", input }] };
    write(A, prompt(1, "look") + reply(2, { message }));
    await call("POST", "/import", { all: true });
    const { files } = await kernel.inject("archive").facts(idA);
    expect(files).toEqual({ "src/a.ts": [1, 0] });
  });

  it("survives a restart", async () => {
    await call("POST", "/import", { all: true });
    await call("PATCH", `/sessions/${idA}`, { name: "mine" });
    await kernel.close();
    kernel = await open();
    expect((await call("GET", `/sessions/${idA}`)).body.session.name).toBe("mine");
    expect((await call("GET", "/search?q=needle")).body.results[0].session.id).toBe(idA);
  });

  it("keeps a rename when the log grew, and leaves no old transcript behind", async () => {
    await call("POST", "/import", { all: true });
    await call("PATCH", `/sessions/${idA}`, { name: "mine" });
    write(A, prompt(1, "find the needle") + reply(2) + prompt(3, "again") + reply(4) + prompt(5, "third"));
    expect((await call("POST", "/import", { all: true })).body).toMatchObject({ imported: 1 });
    const { body } = await call("GET", `/sessions/${idA}`);
    expect(body.session).toMatchObject({ name: "mine", messageCount: 5 });
    expect(await transcripts()).toHaveLength((await kernel.inject("archive").get(idA)).parts.length);
  });

  it("D4: a deleted session stays away from sync and comes back by name", async () => {
    await call("POST", "/import", { all: true });
    expect((await call("DELETE", `/sessions/${idA}`)).body).toEqual({ deleted: true, subagents: 0, pushedTo: [] });
    expect((await call("POST", "/sync?wait=1")).body).toMatchObject({ imported: 0, skipped: 1 });
    expect((await call("GET", `/sessions/${idA}`)).status).toBe(404);
    expect((await call("GET", "/scan")).body.projects[0].sessions[0].state).toBe("deleted");
    expect((await call("POST", "/import", { sessions: [idA] })).body).toMatchObject({ imported: 1 });
    expect((await call("GET", `/sessions/${idA}`)).status).toBe(200);
  });

  it("names ids that no scan has seen", async () => {
    const { status, body } = await call("POST", "/import", { sessions: ["claude-code:nope"] });
    expect(status).toBe(404);
    expect(body.message).toContain("claude-code:nope");
  });

  it("D3: two logs with one inner session id are two sessions", async () => {
    write(
      ".claude/projects/-w-app/bbbbbbbb-0000-4000-8000-000000000002.jsonl",
      prompt(1, "other").replace('"type"', '"sessionId":"aaaaaaaa-0000-4000-8000-000000000001","type"'),
    );
    expect((await call("POST", "/import", { all: true })).body).toMatchObject({ imported: 2 });
    expect((await call("GET", "/sessions")).body.total).toBe(2);
  });

  it("one bad file fails alone", async () => {
    const dir = join(home, ".claude/projects/-w-app/cccccccc-0000-4000-8000-000000000003.jsonl");
    mkdirSync(dir);
    const { body } = await call("POST", "/import", { all: true });
    expect(body.imported).toBe(1);
  });

  it("P2: requests are answered all through an import", async () => {
    const text = Array.from({ length: 1500 }, (_, i) => prompt(i % 10, `line ${i} ${"words ".repeat(200)}`)).join("");
    for (let n = 1; n <= 8; n++) write(`.claude/projects/-w-app/dddddddd-0000-4000-8000-00000000000${n}.jsonl`, text);
    let running = true;
    const run = call("POST", "/import", { all: true }).finally(() => {
      running = false;
    });
    let answers = 0;
    while (running) {
      expect((await call("GET", "/sessions?limit=1")).status).toBe(200);
      // As a request over a socket: behind everything that waits already.
      await new Promise((resolve) => setImmediate(resolve));
      answers++;
    }
    expect((await run).body).toMatchObject({ imported: 9, failed: [] });
    // 14 MB, and never more than about a quarter of one without an answer.
    expect(answers).toBeGreaterThan(56);
  });

  it("streams progress when asked", async () => {
    const response = await kernel.fetch("/api/import", {
      method: "POST",
      body: '{"all":true}',
      headers: { "content-type": "application/json", accept: "text/event-stream" },
    });
    const frames = (await response.text())
      .split("\n\n")
      .filter(Boolean)
      .map((frame) => JSON.parse(frame.slice(6)));
    expect(frames[0].type).toBe("progress");
    expect(frames).toContainEqual({ type: "session", id: idA, outcome: "imported" });
    expect(frames.at(-1)).toMatchObject({ type: "done", imported: 1 });
  });
});

describe("copies", () => {
  const fork = ".claude/projects/-w-app/ffffffff-0000-4000-8000-00000000000f.jsonl";

  async function usages(): Promise<Record<string, { own: number; inherited: number }>> {
    const { body } = await call("GET", "/sessions");
    return Object.fromEntries(
      body.sessions.map(
        (s: {
          id: string;
          usage: Record<string, { cacheRead: number }>;
          inheritedUsage: Record<string, { cacheRead: number }> | null;
        }) => [
          s.id.slice(12, 20),
          {
            own: s.usage["claude-sonnet-4-5"]?.cacheRead ?? 0,
            inherited: s.inheritedUsage?.["claude-sonnet-4-5"]?.cacheRead ?? 0,
          },
        ],
      ),
    );
  }

  it("D21: a fork's copied replies are counted once, at the older log", async () => {
    write(fork, prompt(1, "find the needle") + reply(2) + reply(5));
    await call("POST", "/import", { all: true });
    expect(await usages()).toEqual({ aaaaaaaa: { own: 200, inherited: 0 }, ffffffff: { own: 100, inherited: 100 } });
  });

  it("D21: also when the fork was imported before its parent", async () => {
    write(fork, prompt(1, "find the needle") + reply(2) + reply(5));
    await call("GET", "/scan");
    await call("POST", "/import", { sessions: ["claude-code:ffffffff-0000-4000-8000-00000000000f"] });
    expect(await usages()).toEqual({ ffffffff: { own: 200, inherited: 0 } });
    await call("POST", "/import", { all: true });
    expect(await usages()).toEqual({ aaaaaaaa: { own: 200, inherited: 0 }, ffffffff: { own: 100, inherited: 100 } });
    await kernel.close();
    kernel = await open();
    write(fork, prompt(1, "find the needle") + reply(2) + reply(5) + reply(6));
    await call("POST", "/import", { all: true });
    expect(await usages()).toEqual({ aaaaaaaa: { own: 200, inherited: 0 }, ffffffff: { own: 200, inherited: 100 } });
  });
});

describe("a copy made while a reply was being written", () => {
  it("counts the larger output, whichever log is older", async () => {
    const whole = reply(5, { uuid: "whole" });
    const partial = whole.replace('"output_tokens":5', '"output_tokens":1');
    write(".claude/projects/-w-app/11111111-0000-4000-8000-000000000001.jsonl", prompt(1, "x") + partial);
    write(".claude/projects/-w-app/22222222-0000-4000-8000-000000000002.jsonl", prompt(1, "x") + whole);
    await call("POST", "/import", { all: true });
    const { body } = await call("GET", "/sessions");
    const sum = (field: "usage" | "inheritedUsage") =>
      body.sessions
        .filter((s: { id: string }) => /:[12]{8}/.test(s.id))
        .reduce(
          (n: number, s: Record<string, Record<string, { output: number }> | null>) =>
            n + (s[field]?.["claude-sonnet-4-5"]?.output ?? 0),
          0,
        );
    expect([sum("usage"), sum("inheritedUsage")]).toEqual([5, 1]);
  });
});

describe("logs that grow", () => {
  async function picture() {
    const { body } = await call("GET", `/sessions/${idA}`);
    const { body: all } = await call("GET", `/sessions/${idA}/messages`);
    const { source, importedAt, live, ...session } = body.session;
    const facts = await kernel.inject("archive").facts(idA);
    return { session, messages: all.messages, facts: { ...facts, open: undefined, changing: undefined } };
  }

  async function pictureOfFullImport() {
    const grown = kernel;
    const away = join(home, "data");
    kernel = await open(join(home, `fresh-${Math.random()}`));
    await call("POST", "/import", { all: true });
    const full = await picture();
    await kernel.close();
    kernel = grown;
    expect(kernel.storage.dataDir).toBe(away);
    return full;
  }

  it("P3: reads only what was added, once a log that grew was read whole", async () => {
    let rows = Array.from({ length: 400 }, (_, i) => prompt(i % 10, `line ${i} ${"x".repeat(500)}`)).join("");
    write(A, rows);
    await call("POST", "/import", { all: true });
    rows += prompt(8, "the first that is added");
    write(A, rows);
    await call("POST", "/import", { all: true });
    write(A, rows + prompt(9, "one more"));
    const { body } = await call("POST", "/import", { all: true });
    expect(body).toMatchObject({ imported: 1, messages: 1 });
    expect(body.bytes).toBeLessThan(10_000);
    expect(await picture()).toEqual(await pictureOfFullImport());
  });

  it("P3: line by line, nothing is read twice and the transcript stays in few parts", async () => {
    let log = Array.from({ length: 400 }, (_, i) => prompt(i % 10, `line ${i} ${"x".repeat(500)}`)).join("");
    write(A, log);
    await call("POST", "/import", { all: true });
    log += prompt(9, "the first that is added");
    write(A, log);
    await call("POST", "/sync?wait=1");
    for (let i = 0; i < 40; i++) {
      log += i % 3 ? prompt(i % 10, `grown ${i}`) : reply(1 + (i % 9));
      write(A, log);
      const { body } = await call("POST", "/sync?wait=1");
      expect(body).toMatchObject({ imported: 1, messages: 1 });
      expect(body.bytes).toBeLessThan(10_000);
    }
    expect((await kernel.inject("archive").get(idA)).parts.length).toBeLessThanOrEqual(12);
    expect(await transcripts()).toHaveLength((await kernel.inject("archive").get(idA)).parts.length);
    expect(await picture()).toEqual(await pictureOfFullImport());
    expect((await call("GET", '/search?q="grown 31"')).body.results).toHaveLength(1);
  });

  it("takes no time from a text that the log has again", async () => {
    const texts = [
      prompt(1, "start") + prompt(9, "late"),
      prompt(1, "start") + prompt(4, "other"),
      prompt(1, "start") + prompt(4, "other") + prompt(8, "more"),
      prompt(1, "start") + prompt(9, "late") + prompt(4, "other") + prompt(8, "more"),
    ];
    for (const text of texts) {
      write(A, text);
      await call("POST", "/import", { all: true });
    }
    const grown = await picture();
    expect(grown.session.earlierTexts).toBe(0);
    expect(grown).toEqual(await pictureOfFullImport());
  });

  it("ends with the same session whatever way the log came to be", async () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ add: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }) }),
      },
      { weight: 1, arbitrary: fc.constant({ halfLine: true }) },
      { weight: 1, arbitrary: fc.record({ cutTo: fc.double({ min: 0, max: 1, noNaN: true }) }) },
      { weight: 1, arbitrary: fc.constant({ replace: true }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        let log = prompt(1, "start") + reply(2);
        write(A, log);
        await call("POST", "/import", { sessions: [idA] });
        for (const one of steps) {
          if ("add" in one) log += one.add.map((n) => (n % 2 ? prompt(n, `more ${n}`) : reply(n))).join("");
          else if ("halfLine" in one) log += prompt(3, "half").slice(0, 30);
          else if ("cutTo" in one) {
            // A whole row that only lacks its newline counts; no tool then goes on in the same line.
            log = log.slice(0, Math.floor(log.length * one.cutTo)).replace(/\}$/, "}\n");
          } else log = prompt(7, "another conversation") + reply(8);
          write(A, log);
          await call("POST", "/import", { all: true });
        }
        const [grown, full] = [await picture(), await pictureOfFullImport()];
        if (grown.session.earlierTexts === 0) expect(grown).toEqual(full);
        expect(grown.messages).toEqual(full.messages);
      }),
      { numRuns: rounds(25, 6) },
    );
  });
});

describe("durability", () => {
  it("sweeps transcripts that no session points at", async () => {
    await call("POST", "/import", { all: true });
    const writer = kernel.storage.transcripts.writer("claude-code:orphan", 1);
    writer.add({ seq: 0, kind: "user", text: "left behind" });
    await writer.finish();
    await kernel.storage.transcripts.settle();
    expect(await transcripts()).toHaveLength(2);
    await kernel.close();
    kernel = await open();
    await call("POST", "/sync?wait=1");
    expect(await transcripts()).toHaveLength(1);
  });

  it("says which transcript is damaged and where", async () => {
    await call("POST", "/import", { all: true });
    const dir = join(home, "data/transcripts");
    const [folder] = readdirSync(dir);
    const [file] = readdirSync(join(dir, folder as string));
    const path = join(dir, folder as string, file as string);
    const { readFileSync } = await import("node:fs");
    const bytes = readFileSync(path);
    bytes[10] = (bytes[10] ?? 0) ^ 0xff;
    writeFileSync(path, bytes);
    const { status, body } = await call("GET", `/sessions/${idA}/messages`);
    expect(status).toBe(500);
    expect(body.code).toBe("TRANSCRIPT_DAMAGED");
  });
});
