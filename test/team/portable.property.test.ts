/** Totals over machines are those of the logs, in every order of arrival. */
import { cpSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights, { type UsageReport } from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { create, family, type Log, toTokens, write as writeLog } from "../archive/families.ts";
import { claudeTurn } from "../claude-turn.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { Arrivals, type Chunks, type Pushed, readCounted, readMessages, writeAll } from "./portable.ts";

const machine = (home: string) => createTestKernel({ home, plugins: [archive(), claude()] });
const server = (arrivals: Arrivals) =>
  createTestKernel({ plugins: [archive(), insights(), arrivals.adapter(claude())] });

const toOutput = (usage: SessionUsage) => Object.values(usage).reduce((sum, tokens) => sum + tokens.output, 0);

async function totals(t: TestKernel) {
  const sums = async (by: string) => {
    const { rows } = await t.json<UsageReport>(`/api/usage?tz=UTC&by=${by}`);
    return Object.fromEntries(rows.map((row) => [row.key, toOutput(row.usage)]).filter(([, sum]) => sum !== 0));
  };
  const { evidence } = await t.json<UsageReport>("/api/usage?tz=UTC&by=model");
  return { models: await sums("model"), days: await sums("day"), requests: evidence.requests };
}

const of = <T>(logs: readonly Log[], each: (n: number) => T) => logs.map((_, n) => each(n));

/** Replies of the far future are refused. */
const past = (logs: readonly Log[]) => logs.every((log) => log.rows.every(({ turn }) => turn <= 11));

const world = family.filter(past).chain((logs) =>
  fc.record({
    logs: fc.constant(logs),
    /** Rows of each log when the home is copied, and in the copy later, as parts of all. */
    first: fc.tuple(...of(logs, () => fc.integer({ min: 0, max: 4 }))),
    second: fc.tuple(...of(logs, () => fc.integer({ min: 0, max: 4 }))),
    /** Orders in which sessions arrive. */
    seeds: fc.tuple(fc.nat(), fc.nat()),
  }),
);

it("two machines, the home of one a copy of the other's: each reply counts once, whatever arrives first", async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ logs, first, second, seeds }) => {
      const chunks: Chunks = new Map();
      const [home, copy] = [join(await makeTempDir(), "home"), join(await makeTempDir(), "home")];
      mkdirSync(home);
      create(home, logs);
      const lengths = logs.map((log, n) => Math.ceil((log.rows.length * (first[n] ?? 0)) / 4));
      for (const [n, length] of lengths.entries()) writeLog(home, logs, n, length);
      const a = await machine(home);
      await a.send("POST", "/api/import", { all: true });
      const pushed: Pushed[] = (await writeAll(a, chunks)).map((manifest) => ({ machine: "a", manifest }));
      cpSync(home, copy, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith("/data") });
      const there = logs.map((log, n) =>
        Math.max(lengths[n] ?? 0, Math.ceil((log.rows.length * (second[n] ?? 0)) / 4)),
      );
      for (const [n, length] of there.entries()) if (length !== lengths[n]) writeLog(copy, logs, n, length);
      const b = await machine(copy);
      await b.send("POST", "/api/import", { all: true });
      pushed.push(...(await writeAll(b, chunks)).map((manifest) => ({ machine: "b", manifest })));
      // The first machine goes on, too: some sessions arrive twice.
      for (const [n, log] of logs.entries()) writeLog(home, logs, n, log.rows.length);
      await a.send("POST", "/api/import", { all: true });
      const last = (await writeAll(a, chunks)).map((manifest) => ({ machine: "a", manifest }));
      const expected = toTokens(
        logs,
        logs.map((log) => log.rows.length),
      );
      let counted: unknown;
      for (const seed of seeds) {
        const arrivals = new Arrivals(chunks);
        const t = await server(arrivals);
        // What a machine pushes later of a session comes later.
        for (const one of shuffled(pushed, seed)) await arrivals.take(t, one);
        for (const one of shuffled(last, seed)) await arrivals.take(t, one);
        expect(await totals(t)).toEqual({ models: expected.models, days: expected.days, requests: expected.requests });
        const now = await readCounted(t);
        counted ??= now;
        expect(now).toEqual(counted);
        await t.close();
      }
      await Promise.all([a.close(), b.close()]);
    }),
    { numRuns: rounds(32, 4), endOnFailure: true },
  );
});

const KEYS = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"];
const turn = (n: number) => claudeTurn(n, { tool: "Edit" });
let clock = Date.now() / 1000 - 86_400;

const rewriting = fc.array(
  fc.record({
    log: fc.nat(KEYS.length - 1),
    turns: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }),
    keeps: fc.boolean(),
    push: fc.boolean(),
  }),
  { minLength: 2, maxLength: 10 },
);

it("logs that shrink and are rewritten: earlier texts arrive as they are here", async () => {
  await fc.assert(
    fc.asyncProperty(rewriting, async (steps) => {
      const home = await makeTempDir();
      const t = await machine(home);
      const chunks: Chunks = new Map();
      const arrivals = new Arrivals(chunks);
      const there = await server(arrivals);
      const logs: number[][] = KEYS.map(() => []);
      const push = async () => {
        for (const manifest of await writeAll(t, chunks)) await arrivals.take(there, { machine: "", manifest });
      };
      for (const { log, turns, keeps, push: now } of steps) {
        // No two logs share a turn.
        const own = turns.map((n) => n + 10 * log);
        logs[log] = keeps ? [...(logs[log] ?? []), ...own] : own;
        const path = join(home, ".claude/projects/-w-app", `${KEYS[log]}.jsonl`);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(
          path,
          (logs[log] ?? [])
            .flatMap(turn)
            .map((row) => `${JSON.stringify(row)}\n`)
            .join(""),
        );
        utimesSync(path, ++clock, clock);
        await t.send("POST", "/api/import", { all: true });
        if (now) await push();
      }
      await push();
      expect((await readCounted(there)).map(withoutTime)).toEqual((await readCounted(t)).map(withoutTime));
      const rows = await t.kernel.storage.db.all<{ id: string }>("select id from session");
      for (const { id } of rows) expect(await readMessages(there, id)).toEqual(await readMessages(t, id));
      await Promise.all([t.close(), there.close()]);
    }),
    { numRuns: rounds(60, 8), endOnFailure: true },
  );
});

/**
 * Active time of a log that was rewritten and then grew depends on the pieces in which it was read. The first prompt may be of a text
 * that was dropped since later ones have all of it. The context at the last prompt: locally that of the log as it is now, on
 * the server that of all replies.
 */
function withoutTime({
  active_ms: _activeMs,
  first_prompt: _firstPrompt,
  facts,
  ...row
}: Awaited<ReturnType<typeof readCounted>>[number]) {
  const { slots, last: _last, context: _context, ...others } = facts;
  const counts = Object.entries<{ m: number; e: number; u?: SessionUsage }>(slots).filter(
    ([, { m, e, u }]) => m + e > 0 || u,
  );
  return { ...row, facts: others, slots: Object.fromEntries(counts.map(([at, { m, e, u }]) => [at, { m, e, u }])) };
}

/** By a seed, so that a failure can be repeated. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const out = [...list];
  let state = seed + 1;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const j = state % (i + 1);
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}
