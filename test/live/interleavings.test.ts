import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SessionEvent } from "sessarc";
import { expect, it } from "vitest";
import { canonicalJson } from "../../core/utils/canonical.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import live from "../../plugins/live/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { clock, type Follower, follow, prompt, reply } from "./_sse.ts";

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("append" as const), lines: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("half" as const), lines: fc.constant(1) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("sync" as const), lines: fc.constant(0) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("leave" as const), lines: fc.constant(0) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("settle" as const), lines: fc.constant(0) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom("replace" as const, "cut" as const, "delete" as const),
        lines: fc.integer({ min: 1, max: 9 }),
      }),
    },
  ),
  { minLength: 4, maxLength: 24 },
);

/** As the stream has it; the archive's fields are in another order. */
const wire = ({ seq, id, at, ...rest }: SessionEvent) =>
  JSON.parse(JSON.stringify({ seq, id: id ?? null, at: at ?? null, ...rest })) as SessionEvent;

it("whatever is appended, cut, replaced, deleted, synced and reconnected in whatever order, a follower ends up with what a full read gives", async () => {
  const home = await makeTempDir();
  const served = await serveTest({ home, plugins: [archive(), claude(), live()] });
  const call = (path: string, body: object) =>
    served.kernel.fetch(`/api${path}`, { method: "POST", body: JSON.stringify(body) }).then((r) => r.text());
  const adapter = served.kernel.registry.adapters.get("claude-code");
  let run = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      clock.start = run % 2 ? Date.now() - 3_600_000 : Date.UTC(2026, 0, 1);
      const key = `aaaaaaaa-0000-4000-8000-${String(++run).padStart(12, "0")}`;
      const path = join(home, ".claude/projects/-w-app", `${key}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      let n = 0;
      const line = () => (n++ % 2 ? reply(n) : prompt(n));
      const lines = (count: number) => Array.from({ length: count }, line).join("");
      writeFileSync(path, lines(3));
      const id = `claude-code:${key}`;
      await call("/import", { sessions: [id] }).catch(() => {});
      await served.kernel.inject("importer").scan();
      await call("/import", { sessions: [id] });
      const full = async () => {
        const events: SessionEvent[] = [];
        for await (const batch of adapter?.read({ tool: "claude-code", key, path }, served.kernel.env) ?? [])
          events.push(...batch.map(wire));
        return events;
      };
      // It starts behind the first message: that one it has from the archive.
      const events = (await full()).slice(0, 1);
      let client: Follower = await follow(served.url, id, { events, query: "?after=0" });
      let rest = "";
      for (const step of list) {
        const before = rest;
        rest = "";
        if (step.do === "append") appendFileSync(path, before + lines(step.lines));
        else if (step.do === "half") {
          const text = line();
          appendFileSync(path, before + text.slice(0, 40));
          rest = text.slice(40);
        } else rest = before;
        if (step.do === "sync") await call(`/sessions/${id}/sync`, {});
        if (step.do === "replace") {
          writeFileSync(`${path}.new`, lines(step.lines));
          renameSync(`${path}.new`, path);
          rest = "";
        }
        if (step.do === "cut") {
          // In place, and written on at once: the size alone does not tell.
          truncateSync(path, 0);
          appendFileSync(path, lines(step.lines));
          rest = "";
        }
        if (step.do === "delete") {
          rmSync(path);
          writeFileSync(path, lines(step.lines));
          rest = "";
        }
        if (step.do === "leave") {
          client.vanish();
          await client.ended;
          client = await follow(served.url, id, { lastId: client.lastId, events: client.events, query: "?after=0" });
        }
        if (step.do === "settle") {
          const wanted = canonicalJson(await full());
          await client.until((self) => canonicalJson(self.events) === wanted, `settled at ${wanted.length}`);
        }
      }
      if (rest) appendFileSync(path, rest);
      const wanted = await full();
      await client.until((self) => canonicalJson(self.events) === canonicalJson(wanted), "the whole log");
      expect(client.events.map((event) => event.seq)).toEqual(wanted.map((event) => event.seq));
      client.vanish();
      await client.ended;
    }),
    { numRuns: rounds(50, 8), seed: 20261120, endOnFailure: true },
  );
});

it("follows a chat whose records are edited in place", async () => {
  const home = await makeTempDir();
  const served = await serveTest({ home, plugins: [archive(), gemini(), live()] });
  const path = join(home, ".gemini/tmp/app/chats/session-2026-11-01T10-00-abcd1234.json");
  const message = (n: number, content: string) => ({
    id: `m${n}`,
    timestamp: `2026-11-01T10:00:0${n}.000Z`,
    type: n % 2 ? "user" : "gemini",
    content,
  });
  const write = (...messages: object[]) => {
    mkdirSync(dirname(path), { recursive: true });
    const chat = { sessionId: "abcd1234", projectHash: "h", startTime: "2026-11-01T10:00:00.000Z", messages };
    writeFileSync(`${path}.tmp`, JSON.stringify(chat));
    renameSync(`${path}.tmp`, path);
  };
  write(message(1, "hello"), message(2, "hi"));
  await served.kernel.fetch("/api/import", { method: "POST", body: '{"all":true}' }).then((r) => r.text());
  const { sessions } = (await (await served.kernel.fetch("/api/sessions")).json()) as { sessions: { id: string }[] };
  const id = sessions[0]?.id ?? "";
  const client = await follow(served.url, id);
  const texts = () => client.events.map((event) => event.text).join("|");
  write(message(1, "hello"), message(2, "hi"), message(3, "more"));
  await client.until(() => texts() === "more");
  write(message(1, "hello"), message(2, "hi"), message(3, "more"), message(4, "half an ans"));
  await client.until(() => texts() === "more|half an ans");
  write(message(1, "hello"), message(2, "hi"), message(3, "more"), message(4, "half an answer, now whole"));
  await client.until(() => texts() === "more|half an answer, now whole");
});
