import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SessionEvent } from "sessarc";
import { describe, expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import live, { type LiveOptions } from "../../plugins/live/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { type Follower, follow, prompt, range, reply, seqs } from "./_sse.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000002";
const ID = `claude-code:${KEY}`;
const hasSeqs = (from: number, to: number) => (self: Follower) => seqs(self.events).join() === range(from, to).join();
const lines = (from: number, to: number, text?: string) =>
  range(from, to)
    .map((n) => (n % 2 ? reply(n, text) : prompt(n, text)))
    .join("");

/** A service over one imported session of four messages. */
async function start(options: LiveOptions = {}, before: (home: string) => void = () => {}) {
  const home = await makeTempDir();
  const log = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, lines(0, 4));
  before(home);
  const flags = { sync: false, dataDir: join(home, "data") };
  const served = await serveTest({ home, flags, plugins: [archive(), claude(), live(options)] });
  const post = (path: string, body: object = {}) =>
    served.kernel.fetch(`/api${path}`, { method: "POST", body: JSON.stringify(body) }).then((answer) => answer.json());
  await post("/import", { all: true });
  const service = served.kernel.inject("live");
  const connect = (given: Parameters<typeof follow>[2] = {}, id = ID) => follow(served.url, id, given);
  return { home, log, served, post, service, connect };
}

/** Resolves when `test` holds; checks at every turn of the event loop, and makes no timer for it. */
async function turned(test: () => boolean, what = String(test)): Promise<void> {
  for (const end = performance.now() + 60_000; !test(); await new Promise((resolve) => setImmediate(resolve))) {
    if (performance.now() > end) throw new Error(`never: ${what}`);
  }
}

interface Alive {
  /** Counts from here on. */
  begin(): void;
  watchers(): number;
  timers(): number;
  sockets(): number;
}
const counting = new AsyncLocalStorage<object>();

/**
 * A test that gets which watchers, timers and connections of its own are alive, whether they keep the process alive or not (which is
 * all that `process.getActiveResourcesInfo` tells). Other files' are left out: they share the process, and may go on in it for a while.
 */
const counted = (test: (alive: Alive) => Promise<void>) => () => {
  const own = {};
  const servers = new Set<number>();
  const alive = new Map<number, string>();
  const hook = createHook({
    init(id, type, trigger) {
      // The system makes a server's end of a connection, which only the server causes.
      if (counting.getStore() !== own && !servers.has(trigger)) return;
      if (type === "TCPSERVERWRAP") servers.add(id);
      if (/^(FSEVENTWRAP|STATWATCHER|Timeout|TCPWRAP)$/.test(type)) alive.set(id, type);
    },
    destroy: (id) => void alive.delete(id),
  }).enable();
  onTestFinished(() => void hook.disable());
  const count = (type: RegExp) => [...alive.values()].filter((name) => type.test(name)).length;
  return counting.run(own, () =>
    test({
      begin: () => alive.clear(),
      watchers: () => count(/WATCHER|FSEVENT/),
      timers: () => count(/Timeout/),
      sockets: () => count(/TCP/),
    }),
  );
};

/** Bytes of buffers that cannot be freed: what waits in queues. */
async function bytesHeld(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  // Buffers are freed beside the program, a moment after their owners.
  for (let i = 0; i < 20; i++) {
    if (i % 5 === 0 && typeof collect === "function") collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().arrayBuffers;
}

/** A client of bare bytes that may stop reading. */
function openRaw(url: string, lastId?: string): Promise<{ response: IncomingMessage; destroy(): void }> {
  return new Promise((resolve, reject) => {
    const headers = lastId ? { "last-event-id": lastId } : {};
    const req = request(`${url.replace(/\/$/, "")}/api/sessions/${encodeURIComponent(ID)}/live`, {
      agent: false,
      headers,
    });
    onTestFinished(() => void req.destroy());
    req.on("error", reject);
    req.on("response", (response) => {
      response.on("error", () => {});
      resolve({ response, destroy: () => req.destroy() });
    });
    req.end();
  });
}

describe("a connection", () => {
  it("hears a comment now and then, and nothing else while nothing is written", async () => {
    const { connect } = await start({ heartbeatMs: 10 });
    const client = await connect();
    for (let wanted = 1; wanted <= 3; wanted++) {
      await turned(() => client.comments >= wanted);
    }
    expect(client.frames).toHaveLength(1);
    expect(client.events).toEqual([]);
  });

  it(
    "that was cut without a word ends the watching when it was the last",
    counted(async (alive) => {
      const { service, served } = await start();
      alive.begin();
      const raw = await openRaw(served.url);
      await turned(() => service.status().length === 1);
      expect(alive.watchers()).toBe(1);
      raw.response.socket.destroy();
      await turned(() => service.status().length === 0);
      await turned(() => alive.watchers() === 0);
    }),
  );

  it("P8: that never reads costs no more than its queue, is dropped in the end, and loses nothing when it comes again", async () => {
    const { service, served, connect, log } = await start({ heartbeatMs: 250 });
    const raw = await openRaw(served.url);
    raw.response.pause();
    const other = await connect();
    const text = "x".repeat(200_000);
    const count = 100; // 20 MB
    const before = await bytesHeld();
    for (let n = 4; n < 4 + count; n += 20) {
      appendFileSync(log, lines(n, n + 20, text));
      await other.until(hasSeqs(4, n + 20));
      for (const event of other.events) event.text = "";
    }
    // The one that reads got 20 MB; what waits for the other is not in sessarc's memory.
    expect((await bytesHeld()) - before).toBeLessThan(8 << 20);
    await turned(() => service.status()[0]?.clients === 1);
    other.vanish();
    await turned(() => service.status().length === 0);
    const back = await connect({ query: "?after=3" });
    await back.until(hasSeqs(4, 4 + count));
  });

  it("that reads slowly gets everything in order, at its own pace", async () => {
    const { served, log, service } = await start({ heartbeatMs: 1_000_000 });
    const raw = await openRaw(served.url);
    raw.response.pause();
    appendFileSync(log, lines(4, 84, "y".repeat(100_000)));
    await turned(() => service.stats.reads > 1);
    let text = "";
    const whole = () => text.split("\n\n").filter((block) => block.includes("data: ")).length;
    raw.response.setEncoding("utf8");
    raw.response.on("data", (chunk: string) => {
      text += chunk;
    });
    const found = () => [...text.matchAll(/"seq":(\d+)/g)].map((match) => Number(match[1]));
    raw.response.resume();
    await turned(() => found().length === 80);
    expect(found()).toEqual(range(4, 84));
    expect(whole()).toBeGreaterThan(1);
  });
});

describe("a hundred connections to one session", () => {
  it(
    "are one watcher and one reader",
    counted(async (alive) => {
      const { service, connect, log } = await start();
      alive.begin();
      const one = await connect();
      await one.until((self) => self.frames.length === 1);
      const rest = await Promise.all(Array.from({ length: 99 }, () => connect()));
      for (const client of rest) await client.until((self) => self.frames.length === 1);
      expect(service.status()).toMatchObject([{ clients: 100, mode: "watch" }]);
      expect(alive.watchers()).toBe(1);
      const { reads, frames } = service.stats;
      appendFileSync(log, lines(4, 10));
      for (const client of [one, ...rest]) await client.until(hasSeqs(4, 10));
      expect(service.stats.frames - frames).toBeLessThanOrEqual(2);
      expect(service.stats.reads - reads).toBeLessThanOrEqual(4);
      for (const client of [one, ...rest]) client.vanish();
      await turned(() => service.status().length === 0);
      await turned(() => alive.watchers() === 0);
    }),
  );

  it(
    "leave no timer, watcher or socket behind",
    counted(async (alive) => {
      const { service, served, connect, log } = await start();
      await served.kernel.fetch("/api/live/status");
      alive.begin();
      for (let round = 0; round < 3; round++) {
        const clients = await Promise.all(Array.from({ length: 20 }, () => connect()));
        appendFileSync(log, lines(4 + round, 5 + round));
        for (const client of clients) await client.until((self) => self.events.length === round + 1);
        expect(alive.sockets()).toBeGreaterThanOrEqual(40); // Both ends.
        expect(alive.timers()).toBeGreaterThan(0); // Heartbeats.
        for (const client of clients) client.vanish();
        for (const client of clients) await client.ended;
        await turned(() => service.status().length === 0);
      }
      await turned(() => alive.watchers() === 0);
      await turned(() => alive.timers() === 0);
      await turned(() => alive.sockets() === 0);
    }),
  );
});

describe("a log", () => {
  it("that grows by 5,000 lines at once comes in few frames, in order", async () => {
    const { service, connect, log } = await start();
    const client = await connect();
    await client.until((self) => self.frames.length === 1);
    for (let n = 4; n < 5_004; n += 10) appendFileSync(log, lines(n, n + 10));
    await client.until(hasSeqs(4, 5_004), "all of them");
    expect(client.frames.length).toBeLessThan(120);
    expect(service.stats.reads).toBeLessThan(120);
  });

  it("that was found and is not imported yet is followed from its first message, and on when it is imported", async () => {
    const other = "aaaaaaaa-0000-4000-8000-000000000003";
    const id = `claude-code:${other}`;
    const { connect, log, served, post } = await start();
    const path = join(dirname(log), `${other}.jsonl`);
    writeFileSync(path, lines(0, 3));
    const early = await served.kernel.fetch(`/api/sessions/${id}/live`);
    expect(early.status).toBe(404);
    await served.kernel.fetch("/api/scan").then((answer) => answer.text());
    const client = await connect({}, id);
    await client.until(hasSeqs(0, 3));
    appendFileSync(path, lines(3, 5));
    await client.until(hasSeqs(0, 5));
    await post("/import", { sessions: [id] });
    appendFileSync(path, lines(5, 7));
    await client.until(hasSeqs(0, 7));
    client.vanish();
    await client.ended;
    const again = await connect({ lastId: client.lastId, events: client.events }, id);
    appendFileSync(path, lines(7, 8));
    await again.until(hasSeqs(0, 8));
    again.vanish();
    await served.kernel.fetch(`/api/sessions/${id}`, { method: "DELETE" });
    expect((await served.kernel.fetch(`/api/sessions/${id}/live`)).status).toBe(404);
  });

  it("of a sub-agent is its own", async () => {
    let path = "";
    const { connect, log, served } = await start({}, (home) => {
      path = join(home, ".claude/projects/-w-app", KEY, "subagents/agent-a1.jsonl");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, lines(0, 2));
    });
    const { subagents } = (await served.kernel.fetch(`/api/sessions/${ID}`).then((answer) => answer.json())) as {
      subagents: { id: string }[];
    };
    const id = subagents[0]?.id ?? "";
    const [parent, child] = [await connect(), await connect({}, id)];
    appendFileSync(path, lines(2, 5));
    await child.until(hasSeqs(2, 5));
    appendFileSync(log, lines(4, 6));
    await parent.until(hasSeqs(4, 6));
    expect(seqs(child.events)).toEqual(range(2, 5));
    expect(
      served.kernel
        .inject("live")
        .status()
        .map((one) => one.path)
        .sort(),
    ).toEqual([path, log].sort());
  });

  it(
    "is polled where the system reports nothing",
    counted(async (alive) => {
      const { connect, log, service } = await start({ poll: true });
      alive.begin();
      const client = await connect();
      await client.until((self) => self.frames.length === 1);
      expect(service.status()).toMatchObject([{ mode: "poll" }]);
      expect(alive.watchers()).toBe(0);
      appendFileSync(log, lines(4, 6));
      await client.until(hasSeqs(4, 6));
      truncateSync(log, 0);
      appendFileSync(log, lines(0, 2));
      await client.until(hasSeqs(0, 2));
      rmSync(log);
      await client.ended;
      expect(client.frames.at(-1)).toMatchObject({ status: "stopped", reason: "deleted" });
    }),
  );

  it("whose folder is replaced is followed on", async () => {
    const { connect, log } = await start();
    const client = await connect();
    await client.until((self) => self.frames.length === 1);
    rmSync(dirname(log), { recursive: true });
    mkdirSync(dirname(log));
    writeFileSync(log, lines(20, 22));
    await client.until(hasSeqs(0, 2));
    appendFileSync(log, lines(22, 24));
    await client.until(hasSeqs(0, 4));
  });
});

describe("fifty reconnects", () => {
  it("D14: lose and repeat nothing while the log is imported, cut, replaced, deleted and rewritten in between", async () => {
    const { connect, log, post, served, service } = await start();
    let content = lines(0, 4);
    let n = 4;
    const append = (count: number) => {
      const text = lines(n, n + count);
      n += count;
      content += text;
      appendFileSync(log, text);
    };
    const texts = () =>
      content
        .split("\n")
        .slice(0, -1)
        .map((row) => (JSON.parse(row) as { uuid: string }).uuid);
    const agrees = (self: Follower) => self.events.map(({ id }) => id).join() === texts().join();
    // The first message it has from elsewhere.
    const { messages } = (await served.kernel.fetch(`/api/sessions/${ID}/messages?limit=1`).then((r) => r.json())) as {
      messages: SessionEvent[];
    };
    let client = await connect({ events: messages, query: "?after=0" });
    for (let i = 0; i < 50; i++) {
      append(1);
      if (i % 4 === 0) await client.until(agrees, `reconnect ${i}`);
      const connected = i % 3 !== 0;
      if (!connected) {
        client.vanish();
        await client.ended;
      }
      if (i % 5 === 1) await post(`/sessions/${ID}/sync`);
      if (i % 10 === 3) {
        content = lines(0, 2 + (i % 4));
        writeFileSync(log, content);
      }
      if (i % 10 === 7) {
        rmSync(log);
        content = lines(100 + i, 106 + i);
        writeFileSync(log, content);
      }
      append(1);
      if (connected) {
        client.vanish();
        await client.ended;
      }
      client = await connect({ lastId: client.lastId, events: client.events, query: "?after=0" });
    }
    await client.until(agrees, "the log");
    expect(service.status()).toHaveLength(1);
  });
});
