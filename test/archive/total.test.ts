/** Totals are exact wherever they are counted, and count again only what changed. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { Changes } from "../../plugins/archive/catalogue/changes.ts";
import archive from "../../plugins/archive/index.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { SearchIndex } from "../../plugins/archive/search/search.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { indexByJobs } from "./by-jobs.ts";

const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const toLog = (t: TestKernel, n: number) => join(t.home, ".claude/projects/-w-app", `${toKey(n)}.jsonl`);
const began = Date.now() - 3_600_000;
const row = (n: number, text: string, uuid = `u${n}`) =>
  `${JSON.stringify({ type: n % 3 ? "assistant" : "user", uuid, timestamp: new Date(began + n * 100).toISOString(), cwd: "/w/app", message: { id: uuid, role: n % 3 ? "assistant" : "user", model: "m", content: [{ type: "text", text }] } })}\n`;
const words = (n: number) =>
  `${n % 2 ? "Other" : "none"} line ${n} ${n % 5 ? "" : "für the 検索 "}${"text ".repeat(200)}`;

it("a total by jobs is that of the service: earlier texts, filters, every script, what is damaged", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  for (let n = 0; n < 6; n++)
    writeFileSync(toLog(t, n), Array.from({ length: 120 }, (_, i) => row(i, words(i + n), `u${n}-${i}`)).join(""));
  await t.send("POST", "/api/import", { all: true });
  // Half of it is an earlier text now.
  writeFileSync(toLog(t, 1), Array.from({ length: 60 }, (_, i) => row(i, words(i + 1), `u1-${i}`)).join(""));
  await t.send("POST", "/api/import", { all: true });
  const index = indexByJobs(t.kernel, 0.001, { folder: undefined, readOnly: true });
  const same = async (q: string) => {
    const query = parseQuery(q);
    const one = await t.kernel.inject("archive/open").index.total({ query, projects: null });
    const other = await index.total({ query, projects: null });
    expect({ ...other, stats: null }).toEqual({ ...one, stats: null });
    return one;
  };
  expect(await same("the")).toMatchObject({ sessions: 6, messages: 6 * 60 + 6 * 12 });
  for (const q of ["THE -für", "検索", "kind:user line", '"line 7 "', "kind:assistant", "absent"]) await same(q);
  const { transcripts } = t.kernel.storage;
  const [key = ""] = await transcripts.keys();
  await transcripts.removeKey(key);
  expect((await same("other")).damaged).toBe(1);
});

it("a total without a waiting client reads nothing more", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  for (let n = 0; n < 3; n++) writeFileSync(toLog(t, n), row(0, "the needle", `u${n}`));
  await t.send("POST", "/api/import", { all: true });
  const { transcripts } = t.kernel.storage;
  const read = transcripts.stats.bytesRead;
  for (const q of ["absent", "the"]) {
    const asked = t.kernel.inject("archive/open").index.total({
      query: parseQuery(q),
      projects: null,
      signal: AbortSignal.abort(),
    });
    await expect(asked).rejects.toThrow("aborted");
    expect(transcripts.stats.bytesRead).toBe(read);
  }
});

it("a session whose first chunks do not match is on a later page, and in the total of the first", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  const long = (n: number) => row(n, `${n === 10 ? "zq " : ""}${"text ".repeat(13_200)}`, `u1-${n}`);
  writeFileSync(toLog(t, 0), row(11, "zq", "u0"));
  writeFileSync(toLog(t, 1), Array.from({ length: 11 }, (_, n) => long(n)).join(""));
  await t.send("POST", "/api/import", { all: true });
  interface Page {
    results: { session: { id: string } }[];
    total: object;
    nextCursor: string | null;
  }
  const first = await t.json<Page>("/api/search?q=zq&limit=1");
  expect(first).toMatchObject({
    results: [{ session: { id: `claude-code:${toKey(0)}` } }],
    total: { sessions: 2, relation: "eq" },
  });
  const next = await t.json<Page>(`/api/search?q=zq&limit=1&cursor=${encodeURIComponent(first.nextCursor ?? "")}`);
  expect(next).toMatchObject({ results: [{ session: { id: `claude-code:${toKey(1)}` } }], nextCursor: null });

  // A client that disconnects while such a session is read stops that.
  const { kernel } = t;
  const { transcripts } = kernel.storage;
  const gone = new AbortController();
  let read = 0;
  const index = new SearchIndex(
    kernel.storage.db,
    {
      ...transcripts,
      chunkBytes(...args) {
        if (++read % 3 === 0) gone.abort();
        return transcripts.chunkBytes(...args);
      },
    },
    kernel.inject("archive/open").readers,
    new Changes(),
    undefined,
    () => {},
    { folder: undefined, readOnly: true, onError: () => {} },
  );
  const query = parseQuery("zq");
  const asked = { query, projects: null, signal: gone.signal };
  await expect(index.search({ ...asked, limit: 5, sort: "recent", budgetMs: 1e9 })).rejects.toThrow("aborted");
  await expect(index.total(asked)).rejects.toThrow("aborted");
  expect(read).toBe(3);
});

it("what is found damaged in a text that was replaced meanwhile is not held against the new one", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  for (let n = 0; n < 2; n++) writeFileSync(toLog(t, n), row(0, "the needle", `u${n}`));
  await t.send("POST", "/api/import", { all: true });
  const { kernel } = t;
  const { transcripts } = kernel.storage;
  const changes = new Changes();
  let [asked, open] = [() => {}, () => {}];
  const waiting = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow: typeof transcripts = {
    ...transcripts,
    async index(id, part) {
      asked();
      await opened;
      return transcripts.index(id, part);
    },
  };
  const index = new SearchIndex(
    kernel.storage.db,
    slow,
    kernel.inject("archive/open").readers,
    changes,
    undefined,
    () => {},
    {
      folder: undefined,
      readOnly: true,
      onError: () => {},
    },
  );
  const search = (q: string) =>
    index.search({ query: parseQuery(q), projects: null, limit: 5, sort: "recent", budgetMs: 1e9 });
  const before = search("absent");
  await waiting;
  await t.send("DELETE", `/api/sessions/claude-code:${toKey(0)}`);
  await transcripts.remove(`claude-code:${toKey(0)}`, [1]);
  changes.mark([`claude-code:${toKey(0)}`]);
  const after = search("the");
  // It has read the list once it asks for a directory.
  await kernel.storage.db.all("select 1");
  open();
  await before;
  expect(await after).toMatchObject({ damaged: 0, results: [{ id: `claude-code:${toKey(1)}` }] });
  expect(await search("the")).toMatchObject({ damaged: 0, total: { sessions: 1, relation: "eq" } });
});

it("a search is answered while an import goes on that changes something all the time", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  writeFileSync(toLog(t, 0), row(0, "the needle", "u0"));
  await t.send("POST", "/api/import", { all: true });
  const { db, transcripts } = t.kernel.storage;
  const changes = new Changes();
  let reads = 0;
  const busy: typeof db = {
    ...db,
    all(sql, params) {
      if (++reads > 100) throw new Error("it reads on and on");
      changes.mark([`claude-code:${toKey(0)}`]);
      return db.all(sql, params);
    },
  };
  const { readers } = t.kernel.inject("archive/open");
  const index = new SearchIndex(busy, transcripts, readers, changes, undefined, () => {}, {
    folder: undefined,
    readOnly: true,
    onError: () => {},
  });
  expect(await index.total({ query: parseQuery("needle"), projects: null })).toMatchObject({ messages: 1 });
});

it("what was counted is not counted again while it stays: of a log that grew its session alone", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  mkdirSync(dirname(toLog(t, 0)), { recursive: true });
  for (let n = 0; n < 8; n++) writeFileSync(toLog(t, n), row(0, "the needle", `u${n}`));
  await t.send("POST", "/api/import", { all: true });
  const total = (query: string) =>
    t.json<{ messages: number; stats: { inflated: number } }>(`/api/search/total?${query}`);
  expect(await total("q=the")).toMatchObject({ messages: 8, stats: { inflated: 8 } });
  // Its log is not open yet: it is read whole, into one part.
  appendFileSync(toLog(t, 3), row(1, "the thread", "more"));
  await t.send("POST", "/api/import", { all: true });
  expect(await total("q=the")).toMatchObject({ messages: 9, stats: { inflated: 1 } });
  // Other filters of sessions ask for less of the same.
  expect(await total("q=the&tool=claude-code")).toMatchObject({ messages: 9, stats: { inflated: 0 } });
  // The name of a project, and the project of a session, change no count.
  const odd = join(dirname(toLog(t, 0)), "../odd", `${toKey(50)}.jsonl`);
  mkdirSync(dirname(odd), { recursive: true });
  writeFileSync(odd, row(0, "the odd one").replace('"cwd":"/w/app",', ""));
  await t.send("POST", "/api/import", { all: true });
  expect(await total("q=the")).toMatchObject({ messages: 10, stats: { inflated: 1 } });
  const projects = await t.json<{ id: string; virtual: boolean }[]>("/api/projects?git=0");
  const findId = (virtual: boolean) => projects.find((one) => one.virtual === virtual)?.id;
  await t.send("PATCH", `/api/projects/${findId(false)}`, { name: "another" });
  expect(await total("q=the project:another")).toMatchObject({ messages: 9, stats: { inflated: 0 } });
  const associated = await t.send("POST", `/api/projects/${findId(true)}/associate`, { path: t.home });
  expect(associated.status).toBe(200);
  expect(await total("q=the")).toMatchObject({ messages: 10, stats: { inflated: 0 } });
  await t.send("POST", `/api/projects/${findId(true)}/unlink`);
  expect(await total("q=the")).toMatchObject({ messages: 10, stats: { inflated: 0 } });
  rmSync(odd);
  await t.send("DELETE", `/api/projects/${findId(true)}`);
  expect(await total("q=the")).toMatchObject({ messages: 9, stats: { inflated: 0 } });
  rmSync(toLog(t, 4));
  await t.send("DELETE", `/api/sessions/claude-code:${toKey(4)}`);
  expect(await total("q=the")).toMatchObject({ messages: 8 });
});
