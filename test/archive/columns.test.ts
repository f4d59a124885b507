/** Signatures that were turned around rule out what the signatures themselves rule out, and no more. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { tempName } from "sessarc/files";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ColumnFile, countIn, turnAround } from "../../plugins/archive/search/columns.ts";
import { Shelf } from "../../plugins/archive/search/shelf.ts";
import { mayHold, toGrams } from "../../plugins/archive/search/signature.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { signed } from "./signed.ts";

/** Two more than two files are made of: they go along with the second. */
const SESSIONS = 14;
let home: string;
let t: TestKernel;
let running: TestKernel | undefined;
let columns: string;
const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const log = (n: number) => join(home, ".claude/projects/-w-app", `${uuid(n)}.jsonl`);
/** Their order is not that of their ids. */
const toTime = (n: number) => new Date(Date.UTC(2026, 9, 1 + ((n * 5) % 14)));
const line = (n: number, text: string) =>
  `${JSON.stringify({
    type: "user",
    uuid: `${n} ${text}`,
    timestamp: toTime(n).toISOString(),
    cwd: "/w/app",
    message: { role: "user", content: text },
  })}\n`;

interface Answer {
  results: { session: { id: string } }[];
  stats: { chunks: number; candidates: number; inflated: number };
  damaged: number;
}
const search = (q: string) => t.json<Answer>(`/api/search?q=${encodeURIComponent(q)}`);
const ids = async (q: string) => (await search(q)).results.map(({ session }) => session.id.slice(-2)).sort();
/** A kernel whose files of columns hold some chunks. */
async function startAgain(): Promise<void> {
  await running?.close();
  t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false }, home });
  running = t;
  t.kernel.inject("archive/open").index.keepFrom(4, 8);
  columns = join(t.kernel.storage.dataDir, "index", "search");
}
const tidy = () => t.kernel.inject("archive/open").index.tidy();
const files = async () => (await readdir(columns)).map((name) => join(columns, name)).sort();
const read = () => t.kernel.storage.transcripts.stats.bytesRead;

/** What is nowhere is ruled out without a text being read. The first one reads the archive's words, to offer the right spelling. */
async function expectNothingRead(): Promise<void> {
  expect(await search("zyzzogeton")).toMatchObject({ results: [], stats: { candidates: 0, inflated: 0 } });
  const words = read();
  expect(await ids("zyzzogetonia")).toEqual([]);
  expect(read()).toBe(words);
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-columns-"));
  running = undefined;
  await startAgain();
  await mkdir(dirname(log(0)), { recursive: true });
  for (let n = 0; n < SESSIONS; n++) await writeFile(log(n), line(n, `common words, and pineapple${n}x of its own`));
  await t.send("POST", "/api/import", { all: true });
});

afterEach(async () => {
  await t.close();
  await rm(home, { recursive: true, force: true });
});

it("hold each chunk of every width, and rule out what is not there", async () => {
  const texts = Array.from({ length: 40 }, (_, n) =>
    Array.from({ length: 1 << (n % 14) }, (_, i) => `word${(n * 7919 + i * 104_729) % 99_991}`).join(" "),
  );
  const sessions = texts.map((text, n) => ({
    key: String(n).padStart(16, "0"),
    signatures: [signed(text)],
  }));
  await mkdir(columns, { recursive: true });
  const path = join(columns, "some");
  await writeFile(path, await turnAround(sessions));
  const file = new ColumnFile(path);
  for (const word of ["word104729", "word7919", "nowhere", ...texts.map((text) => text.split(" ").at(-1) ?? "")]) {
    const grams = toGrams([word]);
    const bits = file.having(grams.fives);
    for (const { key, signatures } of sessions) {
      const place = file.sessions.find((one) => one.key === key);
      const [signature] = signatures;
      if (!place || !signature) throw new Error(`${key} is not in it`);
      const passes = countIn(bits, place) > 0;
      if (mayHold(signature, 0, signature.length, { threes: [], either: [], fives: grams.fives }))
        expect(passes).toBe(true);
      // A set as wide as the rows says exactly the same.
      else if (signature[1] === 15) expect(passes).toBe(false);
    }
  }
  file.close();
});

it("answer as before, without reading what they rule out, also after a restart", async () => {
  const before = [await ids("pineapple3x"), await ids("common"), await ids("pine"), await ids("zyzzogeton")];
  expect(before).toEqual([["03"], expect.any(Array), expect.any(Array), []]);
  await tidy();
  expect(await files()).toHaveLength(2);
  await startAgain();
  await expectNothingRead();
  expect((await search("zyzzogeton")).stats).toMatchObject({ chunks: SESSIONS, candidates: 0, inflated: 0 });
  expect([await ids("pineapple3x"), await ids("common"), await ids("pine"), await ids("zyzzogeton")]).toEqual(before);
  expect(await t.json("/api/search/total?q=common")).toMatchObject({ sessions: SESSIONS });
});

it("find what was appended, imported and deleted since, and make room for it", async () => {
  await search("zyzzogeton");
  await tidy();
  const first = await files();
  for (let n = 0; n < SESSIONS; n++) await appendFile(log(n), line(n, `later quandary${n}x`));
  await t.send("POST", "/api/sync?wait=1");
  expect(await ids("quandary5x")).toEqual(["05"]);
  expect(await ids("pineapple5x")).toEqual(["05"]);
  await tidy();
  for (const old of first) expect(await files()).not.toContain(old);
  expect(await ids("quandary5x")).toEqual(["05"]);
  await t.send("DELETE", `/api/sessions/claude-code:${uuid(5)}`);
  expect(await ids("quandary5x")).toEqual([]);
  expect(await ids("quandary6x")).toEqual(["06"]);
});

it("leave alone what others write beside them meanwhile", async () => {
  await search("zyzzogeton");
  await tidy();
  await startAgain();
  const writing = join(columns, tempName());
  await writeFile(writing, "half of it");
  expect(await ids("pineapple3x")).toEqual(["03"]);
  expect(await files()).toContain(writing);
});

it("that are damaged are looked past, and made again", async () => {
  await search("zyzzogeton");
  await tidy();
  for (const path of await files()) {
    const bytes = await readFile(path);
    // Each row has a bit that it should not have or lack.
    for (let at = 2_000; at < bytes.length; at += 3) bytes[at] = (bytes[at] as number) ^ 1;
    await writeFile(path, bytes);
  }
  expect(await ids("pineapple3x")).toEqual(["03"]);
  await tidy();
  await startAgain();
  await expectNothingRead();
  for (const path of await files()) await writeFile(path, "short");
  await startAgain();
  expect(await ids("pineapple3x")).toEqual(["03"]);
  await t.close();
  await rm(dirname(columns), { recursive: true });
  await writeFile(dirname(columns), "no folder");
  await startAgain();
  expect(await ids("pineapple3x")).toEqual(["03"]);
  // That nothing could be made is reported; the answer was right all the same.
  await expect.poll(() => t.errors.splice(0)).toMatchObject([{ code: "ENOTDIR" }]);
});

it("others get their turn though all signatures are there at once", async () => {
  const shelf = new Shelf({ folder: join(home, "shelf"), readOnly: false });
  shelf.keepFrom(1, 8);
  let turns = 0;
  const next = () => {
    turns++;
    waiting = setImmediate(next);
  };
  let waiting = setImmediate(next);
  const seen: number[] = [];
  const signatures = async () => {
    seen.push(turns);
    // Longer than a slice.
    for (const began = performance.now(); performance.now() - began < 10; );
    return undefined;
  };
  const missing = ["a", "b", "c", "d"].map((key) => ({ key, chunks: 1, signatures }));
  await shelf.tidy(() => new Set(), missing);
  clearImmediate(waiting);
  expect(new Set(seen).size).toBe(missing.length);
});

it("a session too large for a file is checked once, and no reason to ask for all keys again", async () => {
  const shelf = new Shelf({ folder: join(home, "shelf"), readOnly: false });
  shelf.keepFrom(4, 8);
  const asked = { keys: 0, signatures: 0 };
  const keys = () => {
    asked.keys++;
    return new Set<string>();
  };
  const signatures = async () => {
    asked.signatures++;
    return Array.from({ length: 5 }, () => signed("some words"));
  };
  const missing = [{ key: "a".repeat(16), chunks: 5, signatures }];
  await shelf.tidy(keys, missing);
  await shelf.tidy(keys, missing);
  expect(asked).toEqual({ keys: 1, signatures: 1 });
  // Another text of it may fit.
  await shelf.tidy(keys, [{ key: "b".repeat(16), chunks: 5, signatures }]);
  expect(asked).toEqual({ keys: 2, signatures: 2 });
});

it("are made of sessions that are neighbours in time", async () => {
  await search("nowhere");
  await tidy();
  const byTime = Array.from({ length: SESSIONS }, (_, n) => n).sort((a, b) => +toTime(a) - +toTime(b));
  const made = (await files()).map((path) => new ColumnFile(path));
  const toFile = (n: number) =>
    made.findIndex((file) => file.having(toGrams([`pineapple${n}x`]).fives).some((byte) => byte !== 0));
  const order = byTime.map(toFile);
  for (const file of made) file.close();
  expect(made.length).toBeGreaterThan(1);
  expect(order.filter((file, i) => file !== order[i - 1])).toHaveLength(made.length);
});
