import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Served } from "sessarc/serve";
import { beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import live from "../../plugins/live/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { reply as openReply, PLAIN, T0, user, writeDatabase } from "../fixtures/opencode/build.ts";
import { type Follower, follow, prompt, range, reply, seqs } from "./_sse.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const ID = `claude-code:${KEY}`;
let home: string;
let log: string;
let served: Served;

async function call(method: string, path: string, body?: unknown) {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await served.kernel.fetch(`/api${path}`, init);
  return { status: response.status, body: JSON.parse(await response.text()) };
}
const watchers = async () => (await call("GET", "/live/status")).body.watchers;
const everything = async (id = ID) => (await call("GET", `/sessions/${id}/messages`)).body.messages;
const sync = () => call("POST", "/sync?wait=1");
const connect = (options: Parameters<typeof follow>[2] = {}, id = ID) => follow(served.url, id, options);
async function noWatchers(): Promise<void> {
  for (let i = 0; i < 500 && (await watchers()).length > 0; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(await watchers()).toEqual([]);
}
const hasSeqs = (from: number, to: number) => (self: Follower) => seqs(self.events).join() === range(from, to).join();

beforeEach(async () => {
  home = await makeTempDir();
  log = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, prompt(0) + reply(1) + prompt(2) + reply(3));
  served = await serveTest({ home, plugins: [archive(), claude(), opencode(), live()] });
  await call("POST", "/import", { all: true });
});

describe("GET /sessions/:id/live", () => {
  it("sends a status at once, then what is written, numbered on", async () => {
    const client = await connect();
    await client.until((self) => self.frames.length === 1);
    expect(client.frames[0]).toMatchObject({ type: "status", status: "live", sessionId: ID });
    appendFileSync(log, prompt(4));
    await client.until(hasSeqs(4, 5));
    appendFileSync(log, reply(5) + prompt(6));
    await client.until(hasSeqs(4, 7));
    expect(client.events[0]).toMatchObject({ seq: 4, kind: "user", text: "prompt 4", id: "u4" });
    expect(await watchers()).toMatchObject([{ sessionId: ID, path: log, clients: 1, mode: "watch" }]);
  });

  it("D14: sends what was written between the import and the connection", async () => {
    appendFileSync(log, prompt(4) + reply(5));
    const client = await connect();
    await client.until(hasSeqs(4, 6));
  });

  it("starts after the message the client names, from archive and log", async () => {
    appendFileSync(log, prompt(4) + reply(5));
    const client = await connect({ query: "?after=1" });
    await client.until(hasSeqs(2, 6));
    await sync();
    expect(client.events).toEqual((await everything()).slice(2));
  });

  it("a line that is half written is sent once it is whole", async () => {
    const client = await connect();
    const text = prompt(4);
    appendFileSync(log, text.slice(0, 30));
    appendFileSync(log, text.slice(30) + reply(5));
    await client.until(hasSeqs(4, 6));
  });

  it("D14: fifty reconnects lose and repeat nothing, while the archive is synced in between", async () => {
    let client = await connect();
    for (let i = 0; i < 50; i++) {
      appendFileSync(log, prompt(4 + 2 * i));
      if (i % 3 === 0) await client.until((self) => self.events.length > 2 * i);
      client.vanish();
      await client.ended;
      appendFileSync(log, reply(5 + 2 * i));
      if (i % 7 === 0) await sync();
      client = await connect({ lastId: client.lastId, events: client.events });
    }
    await client.until(hasSeqs(4, 104));
    await sync();
    expect(client.events).toEqual((await everything()).slice(4));
  });

  it("a burst comes in few frames", async () => {
    const client = await connect();
    await client.until((self) => self.frames.length === 1);
    for (let i = 0; i < 500; i++) appendFileSync(log, prompt(4 + i));
    await client.until(hasSeqs(4, 504));
    expect(client.frames.length).toBeLessThan(100);
  });

  it("a log that is cut or replaced starts again, and reports it", async () => {
    const client = await connect();
    appendFileSync(log, prompt(4));
    await client.until(hasSeqs(4, 5));
    truncateSync(log, 0);
    await client.until((self) => self.frames.some((frame) => frame.type === "status" && frame.reason === "restarted"));
    appendFileSync(log, prompt(10) + reply(11));
    await client.until(hasSeqs(0, 2));
    writeFileSync(`${log}.new`, prompt(20) + reply(21) + prompt(22));
    renameSync(`${log}.new`, log);
    await client.until(hasSeqs(0, 3));
    expect(client.events.map((event) => event.text)).toEqual(["prompt 20", "answer 21", "prompt 22"]);
  });

  it("a log that was replaced while no client followed starts again for a returning client", async () => {
    const first = await connect();
    appendFileSync(log, prompt(4));
    await first.until(hasSeqs(4, 5));
    first.vanish();
    await first.ended;
    await noWatchers();
    writeFileSync(log, prompt(30) + reply(31) + prompt(32) + reply(33) + prompt(34) + reply(35));
    await sync();
    const client = await connect({ lastId: first.lastId, events: first.events });
    await client.until(hasSeqs(0, 6));
    expect(client.events).toEqual(await everything());
  });

  it("says why it stops: log deleted, session removed, service closing", async () => {
    const reason = (client: Follower) => {
      const last = client.frames.at(-1);
      return last?.type === "status" && last.status === "stopped" ? last.reason : undefined;
    };
    const removed = await connect();
    await call("DELETE", `/sessions/${ID}`);
    await removed.ended;
    expect(reason(removed)).toBe("removed");
    await call("POST", "/import", { sessions: [ID] });
    const deleted = await connect();
    rmSync(log);
    await deleted.ended;
    expect(reason(deleted)).toBe("deleted");
    writeFileSync(log, prompt(0) + reply(1) + prompt(2) + reply(3));
    const closing = await connect();
    await closing.until((self) => self.frames.length === 1);
    await served.close();
    await closing.ended;
    expect(reason(closing)).toBe("closing");
  });

  it("a log that goes while the archive cannot be asked ends its stream and nothing else", async () => {
    const client = await connect();
    await client.until((self) => self.frames.length === 1);
    await served.kernel.storage.db.close();
    rmSync(log);
    await client.ended;
    expect(client.frames.at(-1)).toMatchObject({ status: "stopped", reason: "deleted" });
  });

  it("unknown ids are 404, HEAD leaves nothing behind, an id of another service is a new client", async () => {
    expect((await call("GET", "/sessions/nope:1/live")).status).toBe(404);
    const head = await served.kernel.fetch(`/api/sessions/${ID}/live`, { method: "HEAD" });
    expect(head.status).toBe(200);
    await noWatchers();
    appendFileSync(log, prompt(4));
    const client = await connect({ lastId: "something else" });
    await client.until(hasSeqs(4, 5));
  });

  it("follows a database: new messages, and edited ones are reported as revised", async () => {
    const path = join(home, ".local/share/opencode/opencode.db");
    const id = "opencode:ses_plain";
    await writeDatabase(path, [PLAIN]);
    await call("POST", "/import", { all: true });
    const count = (await everything(id)).length;
    const client = await connect({}, id);
    await client.until((self) => self.frames.length === 1);
    const more = {
      ...PLAIN,
      updated: T0 + 20_000,
      messages: [...PLAIN.messages, user("msg_4", T0 + 10_000, "and now?")],
    };
    await writeDatabase(path, [more]);
    await client.until(hasSeqs(count, count + 1));
    expect(client.events[0]).toMatchObject({ seq: count, kind: "user", text: "and now?" });
    const edited = {
      ...more,
      updated: T0 + 40_000,
      messages: [
        ...more.messages.slice(0, -1),
        user("msg_4", T0 + 10_500, "and what now?"),
        openReply("msg_5", T0 + 30_000, [
          { type: "text", text: "Done.", time: { start: T0 + 30_100, end: T0 + 30_200 } },
        ]),
      ],
    };
    await writeDatabase(path, [edited]);
    await client.until(hasSeqs(count, count + 2));
    expect(client.events.map((event) => event.text)).toEqual(["and what now?", "Done."]);
    const last = client.frames.findLast((frame) => frame.type === "status");
    expect(last).toMatchObject({ reason: "revised", from: count });
    const again = await connect({ lastId: client.lastId, events: client.events }, id);
    client.vanish();
    await sync();
    expect((await everything(id)).slice(count)).toEqual(again.events);
  });
});
