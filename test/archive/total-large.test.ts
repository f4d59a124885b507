/** Totals over many chunks, counted in jobs, and kept for the next one. Equal to a look at every message. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { type Row, toEntry } from "../../plugins/archive/search/entry.ts";
import { parseQuery, type Query } from "../../plugins/archive/search/query.ts";
import type { SearchIndex, SearchRequest } from "../../plugins/archive/search/search.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { indexByJobs } from "./by-jobs.ts";

const SESSIONS = 150;
const WORDS = ["the", "THE", "Then", "other", "none", "ſthe", "検索", "Straße", "kelvin", "\u212aelvin", "a.b", "zq"];
const began = Date.UTC(2026, 8, 1);

let t: TestKernel;
let folder: string;
/** What every session says, by its number. */
const said: { text: string; kind: "user" | "assistant"; at: number }[][] = [];
const open: SearchIndex[] = [];

const toLog = (n: number) =>
  join(t.home, ".claude/projects/-w-app", `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
const toRows = (n: number, from = 0) =>
  (said[n] ?? [])
    .slice(from)
    .map(({ text, kind, at }, i) => {
      const id = `u${n}-${from + i}`;
      const message = { id, role: kind, model: "m", content: [{ type: "text", text }] };
      return `${JSON.stringify({ type: kind, uuid: id, timestamp: new Date(at).toISOString(), cwd: "/w/app", message })}\n`;
    })
    .join("");

beforeAll(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  folder = join(t.home, "counts");
  mkdirSync(dirname(toLog(0)), { recursive: true });
  for (let n = 0; n < SESSIONS; n++) {
    said.push(
      Array.from({ length: 4 }, (_, i) => ({
        text: `${WORDS[(n * 7 + i * 5) % WORDS.length]} line ${i} ${(n + i) % 9 ? "of the" : ""} ${WORDS[(n + i) % WORDS.length]}`,
        kind: i % 2 ? ("assistant" as const) : ("user" as const),
        at: began + n * 60_000 + i * 1000,
      })),
    );
    writeFileSync(toLog(n), toRows(n));
  }
  await t.send("POST", "/api/import", { all: true });
  // One session's log lost its first message: that is in an earlier text from now on.
  writeFileSync(toLog(3), toRows(3, 1));
  await t.send("POST", "/api/import", { all: true });
});
afterAll(async () => {
  for (const index of open) await index.close();
  await t.close();
});
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

/** A job holds a few sessions. */
function started(readOnly = false): SearchIndex {
  const index = indexByJobs(t.kernel, 0.02, { folder, readOnly });
  open.push(index);
  return index;
}
const readBest = (index: SearchIndex, query: Query, more: Partial<SearchRequest> = {}) =>
  index.search({ query, projects: null, limit: 5, sort: "relevance", budgetMs: 1e9, ...more });
const total = (index: SearchIndex, query: Query) => index.total({ query, projects: null });

/** A look at every message. */
function scan({ terms, kind, after, before }: Query): { sessions: number; messages: number; best: number[] } {
  const words = terms.map(({ text, negated }) => ({
    word: new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu"),
    negated,
  }));
  const counts = said.map(
    (messages) =>
      messages.filter(
        (one) =>
          words.every(({ word, negated }) => word.test(one.text) !== negated) &&
          kind.every((kinds) => kinds.includes(one.kind)) &&
          (after === null || one.at >= after) &&
          (before === null || one.at < before),
      ).length,
  );
  const best = counts.filter((n) => n > 0).sort((a, b) => b - a);
  return { sessions: best.length, messages: best.reduce((sum, n) => sum + n, 0), best };
}

const word = fc.oneof(fc.constantFrom(...WORDS, "line", "th", "e", "line 2", "of the", "für"), fc.constant("the"));
const at = fc.option(
  fc.integer({ min: -5, max: SESSIONS + 5 }).map((n) => began + n * 60_000 + 1500),
  { nil: null },
);

it("property: what is counted, or was counted before, is what a scan finds", async () => {
  const index = started();
  const later = started(true);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ text: word, negated: fc.nat(5).map((n) => n === 0) }), { minLength: 1, maxLength: 2 }),
      fc.constantFrom("", "kind:user", "kind:assistant,user", "is:error"),
      at,
      at,
      async (terms, filter, after, before) => {
        const query = { ...parseQuery(filter.replace(",", " kind:")), terms, after, before };
        const { best, ...expected } = query.error ? { sessions: 0, messages: 0, best: [] } : scan(query);
        expect(await total(index, query)).toMatchObject({ ...expected, relation: "eq" });
        const { results, total: all } = await readBest(later, query, { limit: 1_000 });
        expect(results.map(({ matchCount }) => matchCount).sort((a, b) => b - a)).toEqual(best);
        const ids = results.map(({ id }) => id);
        expect((await readBest(later, query)).results.map(({ id }) => id)).toEqual(ids.slice(0, 5));
        expect(all).toEqual({ sessions: expected.sessions, relation: "eq" });
        // A page of all that match: after some chunks in vain, jobs rule out the others.
        const page = await later.search({ query, projects: null, limit: 1_000, sort: "recent", budgetMs: 1e9 });
        expect(page.results.map(({ matchCount }) => matchCount).sort((a, b) => b - a)).toEqual(best);
        expect(await total(later, query)).toMatchObject({ ...expected, relation: "eq" });
      },
    ),
    { numRuns: rounds(400, 40) },
  );
});

it("a total is kept: when a log grew, only what is new since is counted", async () => {
  const query = parseQuery("THE");
  const { best: _, ...before } = scan(query);
  const { index } = t.kernel.inject("archive/open");
  expect(await total(index, query)).toMatchObject({ ...before, stats: { inflated: SESSIONS + 1 } });
  expect(await total(index, query)).toMatchObject({ ...before, stats: { inflated: 0 } });
  said[7]?.push({ text: "and the more", kind: "user", at: began });
  appendFileSync(toLog(7), toRows(7, 4));
  await t.send("POST", "/api/import", { all: true });
  const grown = await total(index, query);
  expect(grown).toMatchObject({ ...before, messages: before.messages + 1 });
  expect(grown.stats.inflated).toBeLessThan(5);
});

it("counts are stored: after a restart only what changed is counted, and a damaged file is counted again", async () => {
  const counts = t.kernel.storage.derived("counts-of-a-test");
  const restarted = () => {
    const index = indexByJobs(t.kernel, 0.02, { folder, readOnly: false, counts });
    open.push(index);
    return index;
  };
  const query = parseQuery("the");
  const { best: _, ...before } = scan(query);
  expect((await total(restarted(), query)).stats.inflated).toBeGreaterThan(SESSIONS);
  expect(await total(restarted(), query)).toMatchObject({ ...before, stats: { inflated: 0 } });
  expect(await total(restarted(), parseQuery("other"))).toMatchObject({ messages: scan(parseQuery("other")).messages });
  said[9]?.push({ text: "the last", kind: "user", at: began });
  appendFileSync(toLog(9), toRows(9, 4));
  await t.send("POST", "/api/import", { all: true });
  const grown = await total(restarted(), query);
  expect(grown.messages).toBe(before.messages + 1);
  expect(grown.stats.inflated).toBeLessThan(5);
  for (const name of readdirSync(counts.folder)) writeFileSync(join(counts.folder, name), "no counts");
  const again = await total(restarted(), query);
  expect(again).toMatchObject({ messages: before.messages + 1 });
  expect(again.stats.inflated).toBeGreaterThan(SESSIONS);
});

it("a text that another log was read for is another one", async () => {
  // A catalogue that was restored gives a text the number that another one had.
  const row = await t.kernel.storage.db.get<Row>("select * from session where parts like '[[1,%' limit 1");
  if (!row) throw new Error("none is as it was imported");
  const keys = ["10:1", "10:2"].map((source_version) => toEntry({ ...row, source_version }, []).key);
  expect(keys[0]).not.toBe(keys[1]);
});

it("the best matches of what there was time for, then those behind: each session counts once", async () => {
  const query = parseQuery("kelvin");
  const index = started(true);
  const ids: string[] = [];
  let pages = 0;
  for (let cursor: SearchRequest["cursor"]; ; pages++) {
    const { results, next, total } = await readBest(index, query, { budgetMs: 0, limit: 1_000, cursor });
    ids.push(...results.map(({ id }) => id));
    expect(total.relation).toBe(next || cursor ? "gte" : "eq");
    expect(total.sessions).toBe(ids.length);
    if (!next) break;
    cursor = next;
  }
  expect(pages).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(scan(query).sessions);
});

it("what could not be read is not kept as counted: the total reports it after a restart, too, and is whole once it can be", async () => {
  const { transcripts, dataDir } = t.kernel.storage;
  const earlier = transcripts.keyOf(`claude-code:${basename(toLog(3), ".jsonl")}`, 1);
  const path = join(dataDir, "transcripts", earlier.replace(":", "/"));
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, -1));
  const query = parseQuery("the");
  for (const when of ["at first", "after a restart"]) {
    const index = started();
    // Directories are in memory from here on: what is counted is chosen by them.
    await total(index, parseQuery("nowhere"));
    expect(await total(index, query), when).toMatchObject({ relation: "gte", damaged: 1 });
  }
  writeFileSync(path, bytes);
  const { best: _, ...expected } = scan(query);
  expect(await total(started(), query)).toMatchObject({ ...expected, relation: "eq", damaged: 0 });
});
