/** What one appended line costs does not grow with the archive: counted in rows and statements, not in time. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SqlValue } from "sessarc";
import { expect, it } from "vitest";
import { toParts } from "../../plugins/archive/catalogue/types.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { createTestKernel } from "../kernel.ts";

const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

function reply(session: number, n: number): string {
  const at = new Date(Date.UTC(2026, 10, 1 + (session % 20), 10, n)).toISOString();
  const usage = { input_tokens: 1, output_tokens: n + 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const message = {
    id: `m${session}-${n}`,
    role: "assistant",
    model: "model-x",
    content: [{ type: "text", text: "word" }],
    usage,
  };
  const row = {
    type: "assistant",
    uuid: `u${session}-${n}`,
    requestId: `r${session}-${n}`,
    timestamp: at,
    cwd: "/w/app",
    message,
  };
  return `${JSON.stringify({ ...row, sessionId: uuid(session) })}\n`;
}

/** Rows answered and statements asked, tables looked through as a whole, from an appended line to the search that finds it. */
async function costOfOneLine(sessions: number) {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const path = (n: number) => join(t.home, ".claude/projects/-w-app", `${uuid(n)}.jsonl`);
  await mkdir(dirname(path(0)), { recursive: true });
  for (let n = 0; n < sessions; n++) await writeFile(path(n), reply(n, 0));
  await t.send("POST", "/api/import", { all: true });
  const search = () => t.json("/api/search?q=word&limit=1");
  await search();
  const { db } = t.kernel.storage;
  const { importer } = t.kernel.inject("archive/open");
  const cost = { rows: 0, statements: 0, scanned: new Set<string>() };
  const asked = new Map<string, readonly SqlValue[]>();
  const all = db.all;
  const get = db.get;
  db.all = async <T>(sql: string, params: readonly SqlValue[] = []) => {
    const rows = await all<T>(sql, params);
    cost.rows += rows.length;
    cost.statements++;
    asked.set(sql, params);
    return rows;
  };
  db.get = async <T>(sql: string, params: readonly SqlValue[] = []) => (await db.all<T>(sql, params))[0];
  await appendFile(path(3), reply(3, 1));
  const report = await importer.runPaths([path(3)], (found) => found);
  await search();
  db.all = all;
  db.get = get;
  // Adds up rows of all sessions: its cost grows with them.
  const usage = await t.json("/api/usage?by=model");
  for (const [sql, params] of asked) {
    for (const { detail } of await all<{ detail: string }>(`explain query plan ${sql}`, params)) {
      const [, table] =
        /^SCAN (?!CONSTANT ROW)(\w+)\b(?! USING (?:COVERING )?INDEX session_(?:uncompared|unsettled))/.exec(detail) ??
        [];
      if (table) cost.scanned.add(`${table}: ${sql}`);
    }
  }
  const [project] = await t.kernel.inject("archive/open").projects();
  const listed = async (url: string) =>
    (await t.json<{ sessions: { id: string }[] }>(url)).sessions.map(({ id }) => id);
  return {
    ...{ cost, report, usage: usage as { totals: { tokens: { output: number } } } },
    ofProject: await listed(`/api/projects/${project?.id}?git=0`),
    all: await listed("/api/sessions?limit=200"),
  };
}

it("reads as many rows for one line in an archive of 150 sessions as in one of 30", async () => {
  const small = await costOfOneLine(30);
  const large = await costOfOneLine(150);
  expect(small.report).toMatchObject({ imported: 1, failed: [] });
  expect(large.report).toMatchObject({ imported: 1, failed: [] });
  expect(large.usage.totals.tokens.output).toBe(152);
  expect(large.ofProject).toEqual(large.all);
  expect(large.all).toHaveLength(150);
  expect(large.cost).toEqual(small.cost);
  // Traces are of sessions that the archive has not; their lists are as many as assistants.
  const fewRows = new Set(["p", "project", "project_alias", "association", "trace_file", "t"]);
  expect([...large.cost.scanned].filter((found) => !fewRows.has(found.split(":")[0] ?? ""))).toEqual([]);
});

it("looks up a log that is new in a folder, and none of those beside it", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const path = (n: number) => join(t.home, ".claude/projects/-w-app", `${uuid(n)}.jsonl`);
  await mkdir(dirname(path(0)), { recursive: true });
  for (let n = 0; n < 20; n++) await writeFile(path(n), reply(n, 0));
  await t.send("POST", "/api/import", { all: true });
  const { importer } = t.kernel.inject("archive/open");
  const told = async (n: number) => {
    const found: string[] = [];
    const report = await importer.runPaths([path(n)], (all) => {
      found.push(...all.map(({ ref }) => ref.key));
      return all;
    });
    return { found, imported: report.imported };
  };
  await writeFile(path(20), reply(20, 0));
  expect(await told(20)).toEqual({ found: [uuid(20)], imported: 1 });
  // Another listing, not compared with the archive yet: checked as a whole once.
  await t.json("/api/scan?projects=0");
  await writeFile(path(21), reply(21, 0));
  expect(await told(21)).toMatchObject({ imported: 1 });
  await writeFile(path(22), reply(22, 0));
  // What changed without a word of it is found along with it.
  await appendFile(path(7), reply(7, 1));
  const { found, imported } = await told(22);
  expect([found.sort(), imported]).toEqual([[uuid(7), uuid(22)], 2]);
});

it("logs that were read and that the disk then refused are new at the next check of their folder", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const path = (n: number) => join(t.home, ".claude/projects/-w-app", `${uuid(n)}.jsonl`);
  await mkdir(dirname(path(0)), { recursive: true });
  await writeFile(path(0), reply(0, 0));
  await t.send("POST", "/api/import", { all: true });
  const { importer } = t.kernel.inject("archive/open");
  const { db } = t.kernel.storage;
  const { batch } = db;
  db.batch = () => Promise.reject(new Error("no room"));
  await writeFile(path(1), reply(1, 0));
  await expect(importer.runPaths([path(1)], (all) => all)).rejects.toThrow("no room");
  db.batch = batch;
  await writeFile(path(2), reply(2, 0));
  expect((await importer.runPaths([path(2)], (all) => all)).imported).toBe(2);
});

it("P8: keeps no more memory for the signature of a small part than it is large: sessions grow by such parts", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const path = join(t.home, ".claude/projects/-w-app", `${uuid(0)}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, reply(0, 0));
  await t.send("POST", "/api/import", { all: true });
  const { id, parts } = await t.kernel.inject("archive/open").row(`claude-code:${uuid(0)}`);
  for (const part of toParts({ parts })) {
    const { sidecars } = await t.kernel.storage.transcripts.index(id, part);
    expect(sidecars.length).toBeGreaterThan(0);
    expect(sidecars.buffer.byteLength).toBe(sidecars.length);
  }
});
