/**
 * Nothing over big data holds the event loop: the clock moves when it is read, and between two rounds of the loop little may have been
 * done. So it is counted in work, on a machine of any speed.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createClock } from "../clock.ts";

/** Pieces of work (a chunk inflated, a directory read, a page of rows) between two rounds: four reads of the clock, four directories each. */
const MOST = 20;
/** ms that pass with each read of the clock: four reads are a slice. */
const STEP = 2;

let t: TestKernel;
let done = 0;

const clock = createClock();

function log(session: number, messages: number): string {
  const text = "words of a message that was said in a long session, again and again ".repeat(14);
  return Array.from({ length: messages }, (_, n) => {
    const id = `${session}-${n}`;
    const message = { role: "user", content: `${id} ${text}` };
    const timestamp = new Date(Date.UTC(2026, 9, 1) + n * 1000).toISOString();
    return `${JSON.stringify({ type: "user", uuid: id, timestamp, cwd: "/w/app", message })}\n`;
  }).join("");
}

beforeAll(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()] });
  const folder = join(t.home, ".claude/projects/-w-app");
  await mkdir(folder, { recursive: true });
  const path = (n: number) => join(folder, `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
  await writeFile(path(0), log(0, 4_000));
  for (let n = 1; n <= 60; n++) await writeFile(path(n), log(n, 1));
  await t.send("POST", "/api/import", { all: true });
  const { transcripts, db } = t.kernel.storage;
  const count = <A extends unknown[], R>(work: (...args: A) => R) => {
    return (...args: A) => {
      done++;
      return work(...args);
    };
  };
  transcripts.index = count(transcripts.index);
  db.all = count(db.all) as typeof db.all;
});
afterAll(() => t.close());

/** Most work between two rounds of the loop while `ask` runs, and all of it. */
async function readTurns(ask: () => Promise<unknown>): Promise<{ most: number; all: number }> {
  const { stats } = t.kernel.storage.transcripts;
  const work = () => done + stats.inflated;
  const begun = work();
  let [last, most] = [begun, 0];
  let running = true;
  const round = () => {
    most = Math.max(most, work() - last);
    last = work();
    if (running) setImmediate(round);
  };
  setImmediate(round);
  try {
    await clock.during(STEP, ask);
  } finally {
    running = false;
  }
  return { most: Math.max(most, work() - last), all: work() - begun };
}

describe("between two rounds of the event loop", () => {
  const first = "claude-code:aaaaaaaa-0000-4000-8000-000000000000";

  it.each([
    ["all messages of a session", `/api/sessions/${first}/messages`],
    ["a page of a kind that is rare", `/api/sessions/${first}/messages?kinds=note&limit=5`],
    ["the last messages of a kind that is rare", `/api/sessions/${first}/messages?kinds=note&before=4000&limit=5`],
    ["a search of two letters", "/api/search?q=zq"],
    ["a total", "/api/search/total?q=words"],
    ["the doctor", "/api/doctor"],
  ])("P2: %s do little", async (_, path) => {
    const { most, all } = await readTurns(async () => (await t.fetch(path)).text());
    expect(all).toBeGreaterThan(40);
    expect(most).toBeLessThanOrEqual(MOST);
  });
});
