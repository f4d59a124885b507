/** What a flipped bit does to totals that are told by signatures: nothing, or it is said; pages and the doctor find it, and it is mended. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TranscriptPart } from "sessarc";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { checkTranscripts } from "../../plugins/archive/catalogue/check.ts";
import { partsOf } from "../../plugins/archive/catalogue/types.ts";
import archive from "../../plugins/archive/index.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { indexByJobs } from "./by-jobs.ts";

const ROWS = 200;
/** Footer bytes that mean nothing: zeros between its numbers and its name. */
const IDLE = [20, 8] as const;

let t: TestKernel;
let id: string;
let part: TranscriptPart;
let path: string;
let bytes: Buffer;

/** Where the one transcript lies, as it is now. */
async function locate(): Promise<void> {
  const row = await t.kernel.storage.db.get<{ id: string; parts: string }>("select id, parts from session");
  if (!row) throw new Error("nothing was imported");
  [part] = partsOf(row) as [TranscriptPart];
  id = row.id;
  path = join(t.home, "data/transcripts", ...t.kernel.storage.transcripts.keyOf(id, part.generation).split(":"));
  bytes = readFileSync(path);
}

beforeAll(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  const log = join(t.home, ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  const text = (i: number) => `the ${i === 7 ? "needle" : `word${i}`} ${"filling words ".repeat(40)}`;
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const message = { id: `m${i}`, role: "assistant", model: "m", content: [{ type: "text", text: text(i) }] };
    const timestamp = new Date(Date.UTC(2026, 8, 1) + i * 1000).toISOString();
    return JSON.stringify({ type: "assistant", uuid: `u${i}`, timestamp, cwd: "/w/app", message });
  });
  writeFileSync(log, `${rows.join("\n")}\n`);
  await t.send("POST", "/api/import", { all: true });
  await locate();
});
afterAll(() => t.close());
beforeEach(() => writeFileSync(path, bytes));

function flip(at: number): void {
  const other = Buffer.from(bytes);
  other[at] = (other[at] ?? 0) ^ (1 << (at & 7));
  writeFileSync(path, other);
}

/** As after a start. */
async function total(q: string) {
  const index = indexByJobs(t.kernel, 64, { folder: undefined, readOnly: true });
  const { messages, relation, damaged, stats } = await index.total({ query: parseQuery(q), projects: null });
  await index.close();
  return { messages, relation, damaged, inflated: stats.inflated };
}

it("property: a flipped bit anywhere in a transcript makes no total wrong in silence, and a check of it fails", async () => {
  const { transcripts } = t.kernel.storage;
  expect(await total("the")).toEqual({ messages: ROWS, relation: "eq", damaged: 0, inflated: 0 });
  expect(await total("needle")).toMatchObject({ messages: 1, relation: "eq", damaged: 0 });
  const tail = bytes.length - part.tail;
  const places = rounds(800, 100);
  for (let n = 0; n < places; n++) {
    // Half of them in the messages, half in what is said of them.
    const share = (n % (places / 2)) / (places / 2);
    const at = Math.floor(n < places / 2 ? share * tail : tail + share * part.tail);
    flip(at);
    const left = bytes.length - at;
    const idle = left <= IDLE[0] && left > IDLE[1];
    const whole = await transcripts.check(id, part).then(
      () => true,
      () => false,
    );
    expect(whole, `${at}`).toBe(idle);
    const readable = at < tail || idle;
    // Of messages that cannot be read is said what was stored.
    expect(await total("the"), `${at}`).toEqual(
      readable
        ? { messages: ROWS, relation: "eq", damaged: 0, inflated: 0 }
        : { messages: 0, relation: "eq", damaged: 1, inflated: 0 },
    );
    const needle = await total("needle");
    expect(needle.messages === 1 || needle.damaged === 1, `${at}`).toBe(true);
  }
});

it.each([
  ["a message", () => 10],
  ["a signature", () => bytes.length - part.tail + 10],
])("a flipped bit in %s: a page and the doctor find it, and the log mends it", async (_, at) => {
  flip(at());
  expect(await checkTranscripts(t.kernel, false)).toMatchObject({ status: "fail" });
  await t.kernel.inject("archive").importer.idle();
  await locate();
  expect(await checkTranscripts(t.kernel, false)).toMatchObject({ status: "ok" });

  flip(at());
  const fresh = indexByJobs(t.kernel, 64, { folder: undefined, readOnly: true });
  const page = { query: parseQuery("the"), projects: null, limit: 5, sort: "recent" as const, budgetMs: 1e9 };
  expect(await fresh.search(page)).toMatchObject({ damaged: 1 });
  await fresh.close();
  expect(await checkTranscripts(t.kernel, true)).toMatchObject({ status: "ok" });
  await locate();
  expect(await t.json("/api/search/total?q=the")).toMatchObject({ messages: ROWS, relation: "eq", damaged: 0 });
  expect(await t.json("/api/search?q=needle")).toMatchObject({ total: { sessions: 1, relation: "eq" }, damaged: 0 });
});
