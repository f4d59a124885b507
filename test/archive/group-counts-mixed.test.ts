/** Sessions whose signatures count groups of letters stand beside those of before, which do not: totals are the same. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { packParts, partsOf } from "../../plugins/archive/catalogue/types.ts";
import archive from "../../plugins/archive/index.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { signatureOf } from "../../plugins/archive/search/signature.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel } from "../kernel.ts";
import { indexByJobs } from "./by-jobs.ts";

const SESSIONS = 6;
const text = (n: number, i: number) =>
  `${i % 3 ? "The" : "none"} ${n} ${i % 2 ? "and" : "or"} ${"filling words ".repeat(20)}`;

it("totals over chunks of both kinds are those of their text, with and without filters", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  for (let n = 0; n < SESSIONS; n++) {
    const log = join(t.home, ".claude/projects/-w-app", `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
    mkdirSync(dirname(log), { recursive: true });
    const rows = Array.from({ length: 90 }, (_, i) => {
      const type = i % 2 ? "assistant" : "user";
      const message = { id: `m${n}-${i}`, role: type, model: "m", content: [{ type: "text", text: text(n, i) }] };
      const timestamp = new Date(Date.UTC(2026, 8, 1) + i * 1000).toISOString();
      return JSON.stringify({ type, uuid: `u${n}-${i}`, timestamp, cwd: "/w/app", message });
    });
    writeFileSync(log, `${rows.join("\n")}\n`);
  }
  await t.send("POST", "/api/import", { all: true });
  const { db, transcripts } = t.kernel.storage;
  const total = async (q: string) => {
    const index = indexByJobs(t.kernel, 0.001, { folder: undefined, readOnly: true });
    const { sessions, messages, relation, stats } = await index.total({ query: parseQuery(q), projects: null });
    await index.close();
    return { sessions, messages, relation, inflated: stats.inflated };
  };
  const asked = ["the", "AND", "kind:user the", "the -and", "the and", "absent"];
  const before = new Map<string, Awaited<ReturnType<typeof total>>>();
  for (const q of asked) before.set(q, await total(q));
  expect(before.get("the")).toEqual({ sessions: SESSIONS, messages: SESSIONS * 60, relation: "eq", inflated: 0 });
  expect(before.get("kind:user the")).toMatchObject({ messages: SESSIONS * 30 });

  // Half of the sessions as they were stored before anything was counted.
  const sessions = await db.all<{ id: string; parts: string }>("select id, parts from session order by id");
  for (const { id, parts } of sessions.slice(0, SESSIONS / 2)) {
    const writer = transcripts.writer(id, 99, {
      sidecar(bytes, units, bounds) {
        const full = signatureOf(bytes, units, bounds);
        const none = full.subarray(0, 5 + (1 << ((full[1] as number) - 3)) + (1 << ((full[2] as number) - 3)) + 2_197);
        expect(full[3]).toBe(0);
        return none.length % 5 === 0 ? Buffer.concat([none, Buffer.alloc(1)]) : none;
      },
    });
    for await (const events of transcripts.events(id, partsOf({ parts })))
      for (const event of events) writer.add(event);
    const part = await writer.finish();
    if (!part) throw new Error("nothing was written");
    await transcripts.settle();
    await db.run("update session set parts = ?, generation = 99 where id = ?", [packParts([part]), id]);
  }
  for (const q of asked) {
    const { inflated, ...told } = await total(q);
    expect({ ...told, inflated: 0 }, q).toEqual({ ...before.get(q), inflated: 0 });
    if (q === "the") expect(inflated).toBe(SESSIONS / 2);
  }
});
