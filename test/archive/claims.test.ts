/** Totals do not depend on when, in what order and in what pieces logs were taken in. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import type { UsageReport } from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { openBooked } from "./booked.ts";

const MINUTE = 60_000;
/** Lately, so that the import keeps a place to go on from. */
const BEGIN = Math.floor(Date.now() / (15 * MINUTE)) * 15 * MINUTE - 240 * MINUTE;
const reply = (n: number, output: number, model = "claude-sonnet-4-5") => ({
  type: "assistant",
  uuid: `a${n}-${output}`,
  timestamp: new Date(BEGIN + n * 20 * MINUTE).toISOString(),
  requestId: `r${n}`,
  message: {
    id: `m${n}`,
    role: "assistant",
    model,
    content: [{ type: "text", text: `answer ${n}` }],
    usage: { input_tokens: 10, output_tokens: output },
  },
});
const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const toId = (n: number) => `claude-code:${toKey(n)}`;

let clock = Date.now() / 1000 - 86_400;
/** In place: the file keeps its birth. */
function write(home: string, n: number, rows: readonly object[]): void {
  const path = join(home, ".claude/projects/-w-app", `${toKey(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  utimesSync(path, ++clock, clock);
}

async function figures(t: TestKernel) {
  const { sessions } = await t.json<{ sessions: { id: string; usage: SessionUsage }[] }>("/api/sessions");
  const own = sessions.map(({ id, usage }) => [id, usage] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const { totals, evidence } = await t.json<UsageReport>("/api/usage?tz=UTC");
  const days = await t.json<UsageReport>("/api/usage?by=model&tz=UTC");
  return {
    own,
    usage: totals.usage,
    requests: evidence.requests,
    models: days.rows.map(({ key, usage }) => [key, usage]),
  };
}

const importOnly = (t: TestKernel, n: number) => t.send("POST", "/api/import", { sessions: [toId(n)] });

it("a reply that was taken in half-written and forked then counts once, as large as it became", async () => {
  const home = await makeTempDir();
  write(home, 1, [reply(1, 2)]);
  const t = await openBooked(home, "data");
  await t.json("/api/scan");
  await importOnly(t, 1); // followed while it was written
  write(home, 2, [reply(1, 800)]);
  await t.json("/api/scan");
  await importOnly(t, 2);
  write(home, 1, [reply(1, 2), reply(1, 800)]);
  await t.json("/api/scan");
  await importOnly(t, 1);
  const { usage } = await figures(t);
  expect(usage).toEqual({
    "claude-sonnet-4-5": { input: 10, output: 800, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 },
  });
});

it("what another model answered under the same ids is no copy, with and without an archive", async () => {
  const home = await makeTempDir();
  write(home, 1, [reply(1, 100)]);
  write(home, 2, [reply(1, 70, "claude-haiku-4-5")]);
  const t = await openBooked(home, "data");
  await t.send("POST", "/api/import", { all: true });
  const stateless = await t.kernel.inject("insights").stateless({ by: "model", tz: "UTC" });
  const outputs = (usage: SessionUsage) => Object.values(usage).reduce((sum, tokens) => sum + tokens.output, 0);
  expect(outputs((await figures(t)).usage)).toBe(170);
  expect(outputs(stateless.totals.usage)).toBe(170);
});

it("a session that is to be read again is recounted once, from the logs that are there, and nothing of it is an earlier text", async () => {
  const home = await makeTempDir();
  write(home, 1, [reply(1, 5), reply(2, 6)]);
  write(home, 2, [reply(1, 5), reply(3, 7)]);
  const t = await openBooked(home, "data");
  await t.send("POST", "/api/import", { all: true });
  const before = await figures(t);
  // As a team's server marks what its update reads otherwise.
  const { db } = t.kernel.storage;
  await db.run("update session set format = 0, copied = 0");
  await t.close();
  const again = await openBooked(home, "data");
  expect((await again.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 2, failed: [] });
  expect(await figures(again)).toEqual(before);
  expect(await again.kernel.storage.db.all("select * from earlier")).toEqual([]);
  expect((await again.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 0 });
});

it("reads no book but those of the replies it meets, in an archive of any size", async () => {
  const home = await makeTempDir();
  const booksRead = async (sessions: number) => {
    const t = await openBooked(home, `data-${sessions}`);
    for (let n = 0; n < sessions; n++) write(home, n, [reply(100 + n * 2, 5), reply(101 + n * 2, 6)]);
    await t.send("POST", "/api/import", { all: true });
    await t.close();
    write(home, 1, [reply(102, 5), reply(103, 6), reply(3, 7)]);
    const again = await openBooked(home, `data-${sessions}`);
    const { db } = again.kernel.storage;
    let rows = 0;
    const { all } = db;
    db.all = async <T>(sql: string, params?: readonly (string | number | null | Uint8Array)[]) => {
      const found = await all<T>(sql, params);
      if (sql.includes("session_replies")) rows += found.length;
      return found;
    };
    expect((await again.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 1 });
    await again.close();
    return rows;
  };
  const few = await booksRead(5);
  expect(await booksRead(40)).toBe(few);
});

it("books keep their numbers when the catalogue is compacted", async () => {
  const home = await makeTempDir();
  const t = await openBooked(home, "data");
  for (const n of [1, 2, 3]) write(home, n, [reply(n, 5)]);
  await t.send("POST", "/api/import", { all: true });
  write(home, 1, [reply(1, 5), reply(11, 5)]);
  await t.send("POST", "/api/import", { all: true });
  await t.kernel.storage.db.compact();
  await t.close();
  const again = await openBooked(home, "data");
  for (const n of [2, 3]) write(home, 10 + n, [reply(n, 5)]);
  await again.send("POST", "/api/import", { all: true });
  expect((await figures(again)).requests).toBe(4);
});

/** Logs as lists of [reply, output]; a log repeats a reply with other amounts, and other logs repeat it too. */
const log = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9 })), {
  minLength: 1,
  maxLength: 6,
});
const world = fc.array(log, { minLength: 2, maxLength: 4 }).chain((logs) =>
  fc.record({
    logs: fc.constant(logs),
    /** Which log grows by one record and is imported next. */
    order: fc.shuffledSubarray(
      logs.flatMap((rows, n) => rows.map(() => n)),
      { minLength: logs.flat().length },
    ),
  }),
);

it("any cut of the logs in time, in any order, ends in the totals of one import of the whole", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(world, async ({ logs, order }) => {
      const home = await makeTempDir();
      const data = `data-${run++}`;
      const t = await openBooked(home, data);
      const rows = logs.map((list) => list.map(([n, output]) => reply(n, output)));
      // Files are made in the order of their names, so that both archives see the same ages.
      logs.forEach((_, n) => {
        write(home, n, []);
      });
      const lengths = logs.map(() => 0);
      for (const n of order) {
        lengths[n] = (lengths[n] ?? 0) + 1;
        write(home, n, rows[n]?.slice(0, lengths[n]) ?? []);
        await t.json("/api/scan");
        await importOnly(t, n);
      }
      const grown = await figures(t);
      const stateless = await t.kernel.inject("insights").stateless({ by: "model", tz: "UTC" });
      await t.close();
      const fresh = await openBooked(home, `${data}-whole`);
      await fresh.send("POST", "/api/import", { all: true });
      expect(grown).toEqual(await figures(fresh));
      expect(stateless.totals.usage).toEqual(grown.usage);
      expect(stateless.evidence.requests).toBe(grown.requests);
      await fresh.close();
      rmSync(home, { recursive: true, force: true });
    }),
    { numRuns: rounds(25, 6), endOnFailure: true },
  );
});
