/** A folder of very many logs is listed, looked into and told in slices. */
import { Dir } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { sortInSlices } from "sessarc";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import archive, { type ScanFrame, type ScannedProject } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const LOGS = 3_000;
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

describe("a folder of 3,000 logs", () => {
  it("P2: is listed a slice at a time", async () => {
    let read = 0;
    let [last, most] = [0, 0];
    const readSync = Dir.prototype.readSync;
    vi.spyOn(Dir.prototype, "readSync").mockImplementation(function (this: Dir) {
      read++;
      return readSync.call(this);
    });
    let running = true;
    const round = () => {
      most = Math.max(most, read - last);
      last = read;
      if (running) setImmediate(round);
    };
    setImmediate(round);
    let now = performance.now();
    // Time passes with each look at the clock, whatever the machine: eight milliseconds, a slice, at every second one.
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      now += 5;
      return now;
    });
    try {
      await t.kernel.inject("archive").importer.scan();
    } finally {
      running = false;
      clock.mockRestore();
      vi.mocked(Dir.prototype.readSync).mockRestore();
    }
    expect(read).toBeGreaterThan(LOGS);
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
  let now = performance.now();
  // Two milliseconds pass with each look at the clock: one such sort looks three times and is never a slice long.
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    now += 2;
    return now;
  });
  try {
    for (let n = 0; n < 50; n++) await sortInSlices(items, (a, b) => a - b);
  } finally {
    running = false;
    clock.mockRestore();
  }
  expect(rounds).toBeGreaterThan(20);
});
