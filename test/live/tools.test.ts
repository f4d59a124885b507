import { appendFileSync, mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { SessionEvent } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import live from "../../plugins/live/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { type Follower, follow } from "./_sse.ts";
import { TOOLS, type Tool } from "./_tools.ts";
import { canWrite } from "./_writer.ts";

/** As the stream has it, key by key. */
const wire = ({ seq, id, at, ...rest }: SessionEvent) =>
  JSON.parse(JSON.stringify({ seq, id: id ?? null, at: at ?? null, ...rest })) as SessionEvent;

async function start(tool: Tool) {
  const home = await makeTempDir();
  const { id, steps, other } = await tool.begin(home);
  const served = await serveTest({ home, plugins: [archive(), tool.plugin, live()] });
  const { kernel } = served;
  const post = (path: string, body: object = {}) =>
    kernel.fetch(`/api${path}`, { method: "POST", body: JSON.stringify(body) }).then((answer) => answer.json());
  await post("/import", { all: true });
  /** All messages as a full read of the log gives them. */
  const full = async () => {
    const service = kernel.inject("archive");
    const row = await service.get(id);
    const events: SessionEvent[] = [];
    for await (const batch of service.adapter(row.tool)?.read(service.ref(row), kernel.env) ?? [])
      events.push(...batch.map(wire));
    return events;
  };
  const has = (client: Follower, wanted: readonly SessionEvent[], what: string) =>
    client.until((self) => isDeepStrictEqual(self.events, wanted), what);
  return { id, steps, other, served, post, full, has };
}

describe.each(Object.entries(TOOLS))("live: %s", (_, tool) => {
  it.skipIf(tool.sqlite && !canWrite)(
    "what is written comes as it is written, what is edited is reported, and a reconnect after each step repeats nothing",
    async () => {
      const { id, steps, served, full, has } = await start(tool);
      const before = await full();
      const stays = await follow(served.url, id, { events: [...before] });
      let leaves = await follow(served.url, id, { events: [...before] });
      for (const step of steps) {
        await step.do();
        const wanted = await full();
        expect(wanted.map(({ text }) => text)).toContain(step.shows);
        await has(stays, wanted, step.shows);
        await has(leaves, wanted, step.shows);
        leaves.vanish();
        await leaves.ended;
        leaves = await follow(served.url, id, { events: leaves.events, lastId: leaves.lastId });
      }
      await has(leaves, stays.events, "nothing more");
      expect(served.kernel.inject("live").status()).toHaveLength(1);
    },
  );

  it.skipIf(tool.sqlite && !canWrite)(
    "what was written while no client followed comes first, before and after a sync",
    async () => {
      const { id, steps, served, post, full, has } = await start(tool);
      const before = await full();
      const [one, ...rest] = steps;
      await one?.do();
      const first = await follow(served.url, id, { events: [...before] });
      await has(first, await full(), "what the archive lacks");
      first.vanish();
      await first.ended;
      for (const step of rest) await step.do();
      await post("/sync?wait=1");
      const wanted = await full();
      const back = await follow(served.url, id, { events: first.events, lastId: first.lastId });
      await has(back, wanted, "what came meanwhile");
      const { messages } = (await (await served.kernel.fetch(`/api/sessions/${id}/messages`)).json()) as {
        messages: SessionEvent[];
      };
      expect(back.events).toEqual(messages);
    },
  );
});

describe("live: a database is asked for its change counters", () => {
  it.skipIf(!canWrite).each(["opencode", "cursor"])(
    "%s: a write to another session reads no message of this one",
    async (name) => {
      const tool = TOOLS[name] as Tool;
      const { id, steps, served, full, has, other } = await start(tool);
      const adapter = served.kernel.registry.adapters.get(name) as Adapter;
      const { tail } = adapter;
      const reads: number[] = [];
      let heard = () => {};
      adapter.tail = async function* (...args) {
        const found = yield* tail(...args);
        reads.push(found.bytesRead);
        heard();
        return found;
      };
      const nextRead = () =>
        new Promise<void>((resolve) => {
          heard = resolve;
        });
      const client = await follow(served.url, id, { events: await full() });
      await client.until((self) => self.frames.length === 1);
      await nextRead();
      reads.length = 0;
      await other?.();
      // Two whole looks that began after the write.
      for (let i = 0; i < 3; i++) await nextRead();
      expect(reads.every((bytes) => bytes === 0)).toBe(true);
      expect(client.frames).toHaveLength(1);
      await steps[0]?.do();
      await has(client, await full(), "its own");
      expect(reads.filter((bytes) => bytes > 0)).toHaveLength(1);
    },
  );
});

it("live: a log that its tool moves when the session ends is followed at its new place", async () => {
  const { id, steps, served, post, full, has } = await start(TOOLS.codex as Tool);
  const client = await follow(served.url, id, { events: await full() });
  await client.until((self) => self.frames.length === 1);
  await steps[0]?.do();
  await has(client, await full(), "before the move");
  const service = served.kernel.inject("live");
  const path = service.status()[0]?.path ?? "";
  const moved = join(served.home, ".codex/archived_sessions", basename(path));
  mkdirSync(dirname(moved), { recursive: true });
  renameSync(path, moved);
  await post("/sync?wait=1");
  const payload = { type: "message", role: "user", content: [{ type: "input_text", text: "once more" }] };
  appendFileSync(
    moved,
    `${JSON.stringify({ timestamp: "2026-11-02T11:00:00.000Z", type: "response_item", payload })}\n`,
  );
  await client.until((self) => self.events.at(-1)?.text === "once more");
  await has(client, await full(), "at its new place");
  expect(service.status()).toMatchObject([{ path: moved, clients: 1 }]);
});
