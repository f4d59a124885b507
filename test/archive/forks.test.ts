/** What a fork copied counts once: tokens, messages, calls and files. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import archive, { type Session } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";

const start = () => createTestKernel({ plugins: [archive(), insights(), claude()] });
const at = (n: number) => new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString();
const PARENT = "aaaaaaaa-0000-4000-8000-000000000001";
const FORK = "ffffffff-0000-4000-8000-000000000002";
const pathOf = (t: TestKernel, id: string) => join(t.home, ".claude/projects/-w-app", `${id}.jsonl`);

let clock = Date.now() / 1000 - 86_400;
function write(path: string, rows: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  utimesSync(path, ++clock, clock);
}

/** A question, a reply that reads a file, and its failure. `copy`: ids of the records as a fork writes them. */
const turn = (n: number, copy = "") => [
  {
    type: "user",
    uuid: `u${n}${copy}`,
    timestamp: at(n),
    cwd: "/w/app",
    message: { role: "user", content: `word${n}` },
  },
  {
    type: "assistant",
    uuid: `a${n}${copy}`,
    timestamp: at(n),
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "tool_use", id: `t${n}`, name: "Read", input: { file_path: `/w/app/${n}.ts` } }],
      usage: { input_tokens: 10, output_tokens: n },
    },
  },
  {
    type: "user",
    uuid: `x${n}${copy}`,
    timestamp: at(n),
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: `t${n}`, content: "no", is_error: true }] },
  },
];

async function sessions(t: TestKernel): Promise<Record<string, Session>> {
  const { sessions: all } = await t.json<{ sessions: Session[] }>("/api/sessions");
  return Object.fromEntries(all.map((session) => [session.id.slice("claude-code:".length), session]));
}
const facts = async (t: TestKernel, id: string) => {
  const { tools, files, kinds } = JSON.parse((await t.kernel.inject("archive").row(`claude-code:${id}`)).facts);
  return { tools, files, kinds };
};
const importOnly = (t: TestKernel, id: string) => t.send("POST", "/api/import", { sessions: [`claude-code:${id}`] });

it.each([
  ["parent first", [PARENT, FORK]],
  ["fork first", [FORK, PARENT]],
  ["both at once", [null]],
] as const)(
  "counts the copied part at the parent, and links the two by the replies they share: %s",
  async (_, order) => {
    const t = await start();
    write(pathOf(t, PARENT), [...turn(1), ...turn(2)]);
    await new Promise((resolve) => setImmediate(resolve));
    write(pathOf(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3)]);
    await t.json("/api/scan");
    for (const id of order) {
      if (id === null) await t.send("POST", "/api/import", { all: true });
      else await importOnly(t, id);
    }
    const all = await sessions(t);
    expect(all[PARENT]).toMatchObject({ messageCount: 6, errorCount: 2, copiedMessages: 0, forkedFrom: null });
    expect(all[FORK]).toMatchObject({
      messageCount: 3,
      errorCount: 1,
      copiedMessages: 6,
      forkedFrom: `claude-code:${PARENT}`,
      usage: { "claude-sonnet-4-5": { input: 10, output: 3 } },
      inheritedUsage: { "claude-sonnet-4-5": { input: 20, output: 3 } },
    });
    expect(await facts(t, FORK)).toEqual({
      kinds: { user: 1, tool_use: 1, tool_result: 1 },
      tools: { Read: [1, 1] },
      files: { "/w/app/3.ts": [1, 0] },
    });
    // All of it is shown.
    expect((await t.json<{ total: number }>(`/api/sessions/claude-code:${FORK}/messages`)).total).toBe(9);
    const usage = await t.json<{ totals: { messages: number } }>("/api/usage?by=tool");
    expect(usage.totals.messages).toBe(9);
    // It goes on.
    write(pathOf(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3), ...turn(4)]);
    await t.send("POST", "/api/import", { all: true });
    expect((await sessions(t))[FORK]).toMatchObject({ messageCount: 6, errorCount: 2, copiedMessages: 6 });
  },
);

it("finds an error that a fork copied in both texts, as all else it copied", async () => {
  const t = await start();
  write(pathOf(t, PARENT), [...turn(1), ...turn(2)]);
  write(pathOf(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3).slice(0, 2)]);
  await t.send("POST", "/api/import", { all: true });
  expect((await sessions(t))[FORK]).toMatchObject({ errorCount: 0, copiedMessages: 6 });
  for (const q of ["no kind:tool_result", "no is:error"])
    expect(await t.json(`/api/search/total?q=${encodeURIComponent(q)}`)).toMatchObject({ sessions: 2, messages: 4 });
});

/** Sessions in the order they were begun: of which one each is a fork, how many of its turns it has, and how many it adds. */
const family = fc
  .array(fc.record({ of: fc.nat(), keeps: fc.integer({ min: 1, max: 4 }), adds: fc.integer({ min: 0, max: 2 }) }), {
    minLength: 2,
    maxLength: 4,
  })
  .map((plans) => {
    const logs: number[][] = [];
    let next = 1;
    for (const { of, keeps, adds } of plans) {
      const copied = logs[of % (logs.length + 1)]?.slice(0, keeps) ?? [];
      logs.push([...copied, ...Array.from({ length: adds + (copied.length === 0 ? 1 : 0) }, () => next++)]);
    }
    return logs;
  });
const history = family.chain((logs) =>
  fc.record({
    logs: fc.constant(logs),
    /** A run imports what a log says by then: which log grows by one record, and whether a run follows. */
    steps: fc.tuple(
      fc.shuffledSubarray(
        logs.flatMap((turns, n) => turns.flatMap(() => [n, n, n])),
        { minLength: logs.flat().length * 3 },
      ),
      fc.array(fc.boolean(), { minLength: 90, maxLength: 90 }),
    ),
  }),
);
const keyOf = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const LATELY = Math.floor(Date.now() / 900_000) * 900_000 - 3 * 3_600_000;
/** One that is imported in pieces as it grows: a place to go on from is kept of late ones alone. */
const lately = (n: number, copy: string) =>
  turn(n, copy).map((row, i) => ({ ...row, timestamp: new Date(LATELY + n * 300_000 + i * 1_000).toISOString() }));

/** All that is counted of each session. */
async function counted(t: TestKernel) {
  const rows = await t.kernel.storage.db.all<{ id: string; facts: string }>(
    `select id, parent_id, forked_from, copied, message_count, error_count, active_ms, usage, inherited, evidence, facts, started_at,
       ended_at, lineage >= 8 as open from session order by id`,
  );
  const usage = await t.json<{ totals: object; rows: object[] }>("/api/usage?tz=UTC&by=day");
  return {
    rows: rows.map((row) => ({ ...row, facts: JSON.parse(row.facts) })),
    totals: usage.totals,
    days: usage.rows,
  };
}

it("any family of forks, in any order and any pieces, ends in the figures and links of one import of the whole", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ logs, steps: [order, runs] }) => {
      const home = await makeTempDir();
      const open = (data: string) =>
        createTestKernel({ home, plugins: [archive(), insights(), claude()], config: { dataDir: join(home, data) } });
      const t = await open("pieces");
      const rows = logs.map((turns, n) => turns.flatMap((one) => lately(one, `-${n}`)));
      // Files are made in the order of their names, so that both archives see the same ages.
      for (const n of logs.keys()) write(pathOf(t, keyOf(n)), []);
      const lengths = logs.map(() => 0);
      for (const [step, n] of order.entries()) {
        lengths[n] = (lengths[n] ?? 0) + 1;
        write(pathOf(t, keyOf(n)), rows[n]?.slice(0, lengths[n]) ?? []);
        if (runs[step]) await t.send("POST", "/api/import", { all: true });
      }
      await t.send("POST", "/api/import", { all: true });
      const pieces = await counted(t);
      await t.close();
      const fresh = await open("whole");
      await fresh.send("POST", "/api/import", { all: true });
      expect(pieces).toEqual(await counted(fresh));
      await fresh.close();
      const backwards = await open("backwards");
      await backwards.json("/api/scan");
      for (const n of [...logs.keys()].reverse())
        await backwards.send("POST", "/api/import", { sessions: [`claude-code:${keyOf(n)}`] });
      expect(pieces).toEqual(await counted(backwards));
      await backwards.close();
      rmSync(home, { recursive: true, force: true });
    }),
    { numRuns: rounds(60, 6), endOnFailure: true },
  );
});
