/** Pages of messages hold what was asked for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

it("`before` with kinds gives the last ones of those kinds, however far back they are", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()] });
  const key = "aaaaaaaa-0000-4000-8000-000000000001";
  const path = join(t.home, ".claude/projects/-w-app", `${key}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    type: n % 700 === 0 ? "user" : "assistant",
    uuid: `u${n}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    message: { role: n % 700 === 0 ? "user" : "assistant", content: [{ type: "text", text: `text ${n}` }] },
  }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
  const seqs = async (query: string) =>
    (await t.json<{ messages: { seq: number }[] }>(`/api/sessions/claude-code:${key}/messages?${query}`)).messages.map(
      (one) => one.seq,
    );
  expect(await seqs("before=1999&limit=2&kinds=user")).toEqual([700, 1400]);
  expect(await seqs("before=1400&limit=5&kinds=user")).toEqual([0, 700]);
  expect(await seqs("before=50&limit=3")).toEqual([47, 48, 49]);
  expect(await seqs("before=2&limit=3")).toEqual([0, 1]);
  expect(await seqs("before=99999&limit=2")).toEqual([1998, 1999]);
  expect(await seqs("after=10&before=13&limit=9")).toEqual([11, 12]);
});

it("`cursor` continues after a page of messages as `after` does, and an invalid one is refused", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()] });
  const key = "aaaaaaaa-0000-4000-8000-000000000001";
  const path = join(t.home, ".claude/projects/-w-app", `${key}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = Array.from({ length: 7 }, (_, n) => ({
    type: "user",
    uuid: `u${n}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    message: { role: "user", content: `text ${n}` },
  }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
  const url = `/api/sessions/claude-code:${key}/messages?limit=3`;
  const pages: number[][] = [];
  for (let cursor: string | null = null, more = true; more && pages.length < 5; more = cursor !== null) {
    const page: { messages: { seq: number }[]; nextCursor: string | null } = await t.json(
      cursor === null ? url : `${url}&cursor=${cursor}`,
    );
    pages.push(page.messages.map(({ seq }) => seq));
    cursor = page.nextCursor;
  }
  expect(pages).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
  for (const wrong of ["x", "-1", "1.5", ""]) expect((await t.fetch(`${url}&cursor=${wrong}`)).status).toBe(400);
});

describe("lists of sessions", () => {
  const key = (n: number) => `bbbbbbbb-0000-4000-8000-0000000000${String(n).padStart(2, "0")}`;
  const toId = (n: number) => `claude-code:${key(n)}`;
  const titles = ["Größe ändern", "ПРИВЕТ мир", "100% sure_thing", "plain", "Σίσυφος"];
  let t: TestKernel;

  function write(n: number, at = n): void {
    const path = join(t.home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const row = (kind: string) => ({
      type: kind,
      uuid: `${kind}${n}`,
      sessionId: key(n),
      timestamp: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString(),
      message: { role: kind, content: [{ type: "text", text: `${titles[n] ?? "more"} common` }] },
    });
    writeFileSync(path, ["user", "assistant"].map((kind) => `${JSON.stringify(row(kind))}\n`).join(""));
  }
  interface Page {
    sessions?: { id: string }[];
    results?: { session: { id: string } }[];
    nextCursor: string | null;
  }
  const toIds = ({ sessions, results }: Page) =>
    sessions?.map((one) => one.id) ?? results?.map((one) => one.session.id) ?? [];

  interface Listed {
    id: string;
    errorCount: number;
    messageCount: number;
    activeMs: number;
    source: { bytes: number };
    cost: { microdollars: number; unpriced: string[] } | null;
  }
  let priced: TestKernel;
  function writePriced(
    n: number,
    { model, output, failed }: { model: string; output: number; failed?: boolean },
  ): void {
    const path = join(priced.home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const row = (type: string, content: object[], message = {}) => ({
      type,
      uuid: `${type}${n}${content.length}`,
      sessionId: key(n),
      timestamp: "2026-01-01T00:00:00Z",
      message: { role: type, content, ...message },
    });
    const call = { type: "tool_use", id: `t${n}`, name: "Bash", input: { command: "x" } };
    const rows = [
      row("user", [{ type: "text", text: "go" }]),
      row("assistant", [call], { id: `m${n}`, model, usage: { input_tokens: 0, output_tokens: output } }),
      ...(failed ? [row("user", [{ type: "tool_result", tool_use_id: `t${n}`, is_error: true, content: "no" }])] : []),
    ];
    writeFileSync(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
  async function walk(query: string): Promise<string[]> {
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: Page = await priced.json(
        `/api/sessions?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      seen.push(...toIds(page));
      cursor = page.nextCursor;
    }
    return seen;
  }

  beforeAll(async () => {
    t = await createTestKernel({ plugins: [archive(), claude()] });
    for (let n = 0; n < 12; n++) write(n);
    await t.send("POST", "/api/import", { all: true });
    const rates = (output: number) => ({ input: 1, output });
    priced = await createTestKernel({
      plugins: [archive(), claude(), insights()],
      config: { prices: { cheap: rates(1), dear: rates(10) } },
    });
    for (let n = 0; n < 11; n++) {
      const model = n % 5 === 4 ? "unknown-model" : n % 2 === 0 ? "cheap" : "dear";
      writePriced(n, { model, output: 100 * (n % 3), failed: n % 4 === 1 });
    }
    await priced.send("POST", "/api/import", { all: true });
  });
  afterAll(() => Promise.all([t.close(), priced.close()]));

  it.each(["/api/sessions?sort=recent&", "/api/sessions?sort=messages&", "/api/sessions?sort=active&", "/api/search?"])(
    "%s: sessions that arrive while one pages move nothing",
    async (path) => {
      const seen: string[] = [];
      let arriving = 20;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: Page = await t.json(`${path}limit=5${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        seen.push(...toIds(page));
        cursor = page.nextCursor;
        write(arriving, arriving + 100);
        await t.send("POST", "/api/import", { all: true });
        arriving++;
      }
      const before = Array.from({ length: 12 }, (_, n) => toId(n));
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(before));
    },
  );

  it("sessions without any time come last by time, in either direction, however new their files are", async () => {
    const own = await createTestKernel({ plugins: [archive(), claude()] });
    for (let n = 0; n < 9; n++) {
      const path = join(own.home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      const timestamp = n % 3 === 0 ? undefined : new Date(Date.UTC(2026, 0, 1 + n)).toISOString();
      const row = {
        type: "user",
        uuid: `u${n}`,
        sessionId: key(n),
        timestamp,
        message: { role: "user", content: "go" },
      };
      writeFileSync(path, `${JSON.stringify(row)}\n`);
    }
    await own.send("POST", "/api/import", { all: true });
    const walked = async (query: string) => {
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: Page & { total: number } = await own.json(
          `/api/sessions?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        expect([query, page.total]).toEqual([query, 9]);
        seen.push(...toIds(page));
        cursor = page.nextCursor;
      }
      return seen;
    };
    const undated = [0, 3, 6].map(toId);
    for (const limit of [1, 2, 4, 6, 9, 50]) {
      const recent = await walked(`limit=${limit}`);
      expect(recent.slice(0, 6)).toEqual([8, 7, 5, 4, 2, 1].map(toId));
      expect(recent.slice(6).sort()).toEqual(undated);
      const oldest = await walked(`sort=oldest&limit=${limit}`);
      expect(oldest.slice(0, 6)).toEqual([1, 2, 4, 5, 7, 8].map(toId));
      expect(oldest.slice(6).sort()).toEqual(undated);
    }
    for (const wrong of ["recent:x1:a", "recent:u:a", "messages:u1:a"])
      expect((await own.fetch(`/api/sessions?cursor=${wrong}`)).status).toBe(400);
  });

  it("a total never says at least 0, however little time a page has; pages count on, and find each session once", async () => {
    const { index } = t.kernel.inject("archive/open");
    const all = await t.json<{ total: { sessions: number } }>("/api/search?q=common&limit=100");
    // Only the oldest hold "plain": a page without time has checked the newest by then.
    for (const q of ["common", "plain", "sure_thing", "nowhere at all"]) {
      const seen: string[] = [];
      let cursor: Parameters<typeof index.search>[0]["cursor"];
      do {
        const page = await index.search({
          ...{ query: parseQuery(q), projects: null, limit: 3, sort: "recent", budgetMs: -1 },
          cursor,
        });
        seen.push(...page.results.map(({ id }) => id));
        expect(page.total).not.toEqual({ sessions: 0, relation: "gte" });
        expect(page.total.sessions).toBeGreaterThanOrEqual(seen.length);
        cursor = page.next ?? undefined;
      } while (cursor);
      expect(new Set(seen).size).toBe(seen.length);
      if (q === "common") expect(seen).toHaveLength(all.total.sessions);
      if (q === "plain") expect(seen).toEqual([toId(3)]);
      if (q === "nowhere at all") expect(seen).toEqual([]);
    }
  });

  it.each(["errors", "size", "messages", "active", "cost"])(
    "sort=%s: pages hold each session once, in order, ties by id",
    async (sort) => {
      const value = (one: Listed) =>
        ({ errors: one.errorCount, size: one.source.bytes, messages: one.messageCount, active: one.activeMs })[sort] ??
        (one.cost === null || (one.cost.microdollars === 0 && one.cost.unpriced.length > 0)
          ? -1
          : one.cost.microdollars);
      const all = (await priced.json<{ sessions: Listed[] }>("/api/sessions?limit=1000")).sessions;
      expect(new Set(all.map(value)).size).toBeLessThan(all.length);
      expect(new Set(all.map(value)).size).toBeGreaterThan(sort === "active" ? 0 : 1);
      const wanted = all.sort((a, b) => value(b) - value(a) || (a.id < b.id ? -1 : 1)).map((one) => one.id);
      for (const limit of [1, 4]) expect(await walk(`sort=${sort}&limit=${limit}`)).toEqual(wanted);
      const some = await walk(`sort=${sort}&limit=2&model=dear,unknown-model&kind=main`);
      expect(some.length).toBeGreaterThan(1);
      expect(some).toEqual(wanted.filter((id) => some.includes(id)));
    },
  );

  it("a session that changes moves to its place among the costs", async () => {
    const [first = ""] = await walk("sort=cost&limit=100");
    writePriced(6, { model: "dear", output: 9_000_000 });
    await priced.send("POST", "/api/import", { all: true });
    expect(first).not.toBe(toId(6));
    expect((await walk("sort=cost&limit=100"))[0]).toBe(toId(6));
    await priced.send("DELETE", `/api/sessions/${toId(6)}`);
    expect(await walk("sort=cost&limit=3")).not.toContain(toId(6));
  });

  it("a cursor that is invalid, or of another order, is refused", async () => {
    const { nextCursor } = await t.json<Page>("/api/sessions?limit=2");
    const wrong = ["5", "x", "recent:", "recent:abc:id", "active:1", nextCursor?.replace("recent", "oldest") ?? ""];
    for (const cursor of wrong) {
      for (const path of ["/api/sessions?", "/api/search?", "/api/search?q=common&"]) {
        const answer = await t.fetch(`${path}cursor=${encodeURIComponent(cursor)}`);
        expect([path, cursor, answer.status]).toEqual([path, cursor, 400]);
      }
    }
    expect((await t.fetch(`/api/sessions?sort=active&cursor=${encodeURIComponent(nextCursor ?? "")}`)).status).toBe(
      400,
    );
  });

  it("`q` folds the case of every script, and takes % and _ as they are", async () => {
    const found = async (q: string) => toIds(await t.json<Page>(`/api/sessions?q=${encodeURIComponent(q)}`));
    expect(await found("GRÖSSE Ä")).toEqual([toId(0)]);
    expect(await found("привет МИР")).toEqual([toId(1)]);
    expect(await found("ΣΊΣΥΦΟΣ")).toEqual([toId(4)]);
    expect(await found("0% SURE_")).toEqual([toId(2)]);
    expect(await found("%ä")).toEqual([]);
    expect(await found(key(3).toUpperCase())).toEqual([toId(3)]);
  });

  it("`kind`, `model` and `errors` narrow a list", async () => {
    const found = (query: string) => walk(`limit=100&${query}`);
    expect(await found("model=cheap")).not.toEqual(await found("model=dear"));
    expect(await found("model=chea")).toEqual([]);
    expect((await found("model=cheap,dear")).length).toBe(
      (await found("model=cheap")).length + (await found("model=dear")).length,
    );
    expect(await found("kind=subagent")).toEqual([]);
    expect(await found("kind=main")).toEqual(await found(""));
    expect((await found("errors=1")).length).toBeGreaterThan(0);
    expect((await found("errors=1")).length).toBeLessThan((await found("")).length);
  });

  it("parameters narrow what the query says", async () => {
    const found = async (query: string) => toIds(await t.json<Page>(`/api/search?limit=100&${query}`)).length;
    const all = await found("q=common");
    expect(all).toBeGreaterThan(11);
    expect(await found("q=common+tool:claude&tool=code")).toBe(all);
    expect((await t.fetch("/api/search?q=common+tool:claude&tool=codex")).status).toBe(400);
    expect(await found("q=common+kind:user&kind=user,assistant")).toBe(all);
    expect(await found("q=common+kind:user&kind=assistant")).toBe(0);
    expect(await found("q=common+project:nothing&project=app")).toBe(0);
    expect(await found("q=common+after:2026-01-01T00:05:00Z&after=2025-01-01")).toBe(all - 5);
    expect(await found("q=common+before:2026-01-01T00:05:00Z&before=2030-01-01")).toBe(5);
    expect(await found("q=common+-is:error&errors=1")).toBe(0);
  });
});
