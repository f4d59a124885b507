/** A folder of very many logs is listed, read and reported in slices. */
import { Dir } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sortInSlices } from "../../core/utils/sort.ts";
import archive, { type ScanFrame, type ScannedProject } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { createClock } from "../clock.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const LOGS = 3_000;
const clock = createClock();
let t: TestKernel;
beforeAll(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()] });
  const folder = join(t.home, ".claude/projects/-w-app");
  await mkdir(folder, { recursive: true });
  for (let n = 0; n < LOGS; n += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => {
        const key = `aaaaaaaa-0000-4000-8000-${String(n + i).padStart(12, "0")}`;
        const message = { role: "user", content: `text ${n + i}` };
        return writeFile(
          join(folder, `${key}.jsonl`),
          `${JSON.stringify({ type: "user", uuid: key, cwd: `/w/${i % 2}`, timestamp: "2026-11-01T10:00:00.000Z", message })}\n`,
        );
      }),
    );
});
afterAll(() => t.close());

/**
 * How often `spy` is called during `work`, and at most in one round of the event loop. Time passes with each read of the clock, whatever the
 * machine: eight milliseconds, a slice, at every second one.
 */
async function ofARound(
  spy: { mock: { calls: unknown[] }; mockRestore(): void },
  work: () => Promise<unknown>,
): Promise<{ all: number; most: number }> {
  const calls = () => spy.mock.calls.length;
  let [last, most] = [calls(), 0];
  let running = true;
  const round = () => {
    most = Math.max(most, calls() - last);
    last = calls();
    if (running) setImmediate(round);
  };
  setImmediate(round);
  try {
    await clock.during(5, work);
    round();
    return { all: calls(), most };
  } finally {
    running = false;
    spy.mockRestore();
  }
}

describe("a folder of 3,000 logs", () => {
  it("P2: is listed a slice at a time", async () => {
    const readSync = Dir.prototype.readSync;
    const read = vi.spyOn(Dir.prototype, "readSync").mockImplementation(function (this: Dir) {
      return readSync.call(this);
    });
    const { all, most } = await ofARound(read, () => t.kernel.inject("importer").scan());
    expect(all).toBeGreaterThan(LOGS);
    expect(most).toBeLessThanOrEqual(1_100);
  });

  it.each([
    ["claude-code", claude],
    ["codex", codex],
  ] as const)("has its names told apart a slice at a time by %s", async (_, plugin) => {
    const { adapter } = plugin();
    if (!adapter) throw new Error("it is an adapter");
    const asked = vi.spyOn(Set.prototype, "add");
    const { all, most } = await ofARound(asked, async () => {
      for await (const { path } of adapter.scan(join(t.home, ".claude/projects"), t.kernel.env))
        if (!path.endsWith(".jsonl")) throw new Error(path);
    });
    expect(all).toBeGreaterThanOrEqual(LOGS);
    expect(most).toBeLessThanOrEqual(1_100);
  });

  it("is looked into with the same few buffers: collecting thousands of them is what made turns long", async () => {
    const made = vi.spyOn(Buffer, "allocUnsafe");
    try {
      await t.json("/api/scan");
      expect(made.mock.calls.filter(([bytes]) => bytes > 32_768).length).toBeLessThan(20);
    } finally {
      made.mockRestore();
    }
  });

  it("is answered whole as JSON, and as events while it is found out", async () => {
    const whole = await t.json<{ projects: ScannedProject[] }>("/api/scan");
    expect(whole.projects.map(({ path, sessions }) => [path, sessions.length]).sort()).toEqual([
      ["/w/0", LOGS / 2],
      ["/w/1", LOGS / 2],
    ]);
    const events = await t.fetch("/api/scan", { headers: { accept: "text/event-stream" } });
    const frames = (await events.text())
      .split("\n\n")
      .flatMap((text): ScanFrame[] => (text === "" ? [] : [JSON.parse(text.slice("data: ".length))]));
    expect(frames[0]).toMatchObject({ type: "tools", sessions: LOGS });
    expect(frames.at(-1)).toEqual({ type: "done" });
    const told = frames.flatMap((frame) => (frame.type === "sessions" ? frame.sessions : []));
    expect(frames.length).toBeGreaterThan(8);
    const flat = whole.projects.flatMap(({ sessions, tools: _, ...project }) =>
      sessions.map((session) => ({ ...session, project })),
    );
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect([...told].sort(byId)).toEqual([...flat].sort(byId));
  });

  it("is stored a few sessions at a time", async () => {
    const { found } = await t.kernel.inject("importer").scan();
    const sessions = [...found.values()].slice(0, 48).map(({ id }) => id);
    const stored = vi.fn();
    const stop = t.kernel.hooks.hook("session:replace", stored);
    const { all, most } = await ofARound(stored, () => t.send("POST", "/api/import", { sessions }));
    stop();
    expect(all).toBe(48);
    // 24 are read together.
    expect(most).toBeLessThanOrEqual(6);
  });
});

it("sortInSlices sorts as sort does, equal ones in their order", async () => {
  const list = fc.array(fc.nat(50), { minLength: 1_000, maxLength: 5_000, size: "max" });
  await fc.assert(
    fc.asyncProperty(list, async (numbers) => {
      const items = numbers.map((value, n) => ({ value, n }));
      const byValue = (a: { value: number }, b: { value: number }) => a.value - b.value;
      expect(await sortInSlices(items, byValue)).toEqual([...items].sort(byValue));
    }),
    { numRuns: 10 },
  );
});

it("P2: many short sorts, one after another, let others in like a long one", async () => {
  const items = Array.from({ length: 1_025 }, (_, n) => (n * 7) % 1_025);
  let rounds = 0;
  let running = true;
  const round = () => {
    rounds++;
    if (running) setImmediate(round);
  };
  setImmediate(round);
  try {
    // Two milliseconds pass with each read of the clock: one such sort looks three times and is never a slice long.
    await clock.during(2, async () => {
      for (let n = 0; n < 50; n++) await sortInSlices(items, (a, b) => a - b);
    });
  } finally {
    running = false;
  }
  expect(rounds).toBeGreaterThan(20);
});
