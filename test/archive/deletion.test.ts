/** What the tools delete is known to be missing; what the user deletes goes with all it started, and comes back with it. */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessarcError, type SqlValue, type Statement, yieldNow } from "sessarc";
import { expect, it } from "vitest";
import archive, { type Project, type Session } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const start = () => createTestKernel({ plugins: [archive(), claude()] });
const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const ID = `claude-code:${KEY}`;
const folder = (t: TestKernel) => join(t.home, ".claude/projects/-w-app");
function write(path: string, text: string, row: object = {}, at = new Date()): void {
  mkdirSync(dirname(path), { recursive: true });
  const message = { role: "user", content: text };
  writeFileSync(
    path,
    `${JSON.stringify({ type: "user", uuid: text, sessionId: KEY, timestamp: at.toISOString(), message, ...row })}\n`,
  );
  // A row is made before it is written.
  utimesSync(path, at, new Date(at.getTime() + 50));
}
/** More than go at once where many go. */
const COUNT = 130;
const toLog = (at: string, n: number) => join(at, `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
function writeMany(t: TestKernel): void {
  for (let n = 0; n < COUNT; n++) write(toLog(folder(t), n), `hello ${n}`);
}
const importAll = (t: TestKernel) => t.send("POST", "/api/import", { all: true });
const listed = async (t: TestKernel) => (await t.json<{ sessions: Session[] }>("/api/sessions")).sessions;

it("a log that its tool deleted is missing and not live, until it is back", async () => {
  const t = await start();
  const path = join(folder(t), `${KEY}.jsonl`);
  write(path, "hello");
  await importAll(t);
  expect(await listed(t)).toMatchObject([{ live: true, source: { missing: false } }]);
  rmSync(path);
  await t.send("POST", "/api/sync?wait=1");
  expect(await listed(t)).toMatchObject([{ live: false, source: { missing: true } }]);
  write(path, "hello");
  await t.send("POST", "/api/sync?wait=1");
  expect(await listed(t)).toMatchObject([{ live: true, source: { missing: false } }]);
});

it("a session goes with its sub-agents, which sync does not bring back; imported by name, all are back", async () => {
  const t = await start();
  write(join(folder(t), `${KEY}.jsonl`), "hello");
  for (const n of [1, 2])
    write(join(folder(t), KEY, "subagents", `agent-${n}.jsonl`), `work ${n}`, { isSidechain: true, agentId: `${n}` });
  await importAll(t);
  const before = await listed(t);
  expect(before).toHaveLength(3);
  expect((await t.send("DELETE", `/api/sessions/${ID}`)).body).toEqual({ deleted: true, subagents: 2, pushedTo: [] });
  expect(await listed(t)).toEqual([]);
  expect(await t.kernel.storage.transcripts.keys()).toEqual([]);
  expect((await t.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 0, skipped: 3 });
  expect((await t.send("POST", "/api/import", { sessions: [ID] })).body).toMatchObject({ imported: 3 });
  expect((await listed(t)).map((one) => one.id).sort()).toEqual(before.map((one) => one.id).sort());
});

it("status counts the bytes of all parts", async () => {
  const t = await start();
  const path = join(folder(t), `${KEY}.jsonl`);
  write(path, "hello");
  await importAll(t);
  const bytes = async () =>
    (await t.json<{ storage: { transcriptBytes: number } }>("/api/status")).storage.transcriptBytes;
  const first = await bytes();
  write(path, "another one altogether", {}, new Date(Date.now() - 5_000));
  await importAll(t);
  const parts = await t.kernel.storage.db.all<{ parts: string }>(
    "select parts from session union all select parts from earlier",
  );
  const sum = parts.flatMap((row) => JSON.parse(row.parts) as [number, number][]).reduce((n, [, size]) => n + size, 0);
  expect(parts).toHaveLength(2);
  expect(await bytes()).toBe(sum);
  expect(sum).toBeGreaterThan(first);
});

it("a project of many sessions goes, or is counted elsewhere, some at a time; what an error leaves is done by asking again", async () => {
  const t = await start();
  // Without a folder, so that they can be counted to another project.
  writeMany(t);
  await importAll(t);
  const [project] = await t.json<Project[]>("/api/projects?git=0");
  const { db } = t.kernel.storage;
  const { batch, run } = db;
  /** Rows that one write changed, or statements it was. */
  let most = 0;
  let until = Number.POSITIVE_INFINITY;
  const count = (amount: number) => {
    most = Math.max(most, amount);
  };
  const fail = () => {
    if (--until < 0) throw new SessarcError("STORAGE_FULL", {});
  };
  Object.assign(db, {
    async batch(statements: Statement[]) {
      fail();
      count(statements.length);
      return batch(statements);
    },
    async run(sql: string, params?: SqlValue[]) {
      fail();
      const answer = await run(sql, params);
      count(answer.changes);
      return answer;
    },
  });
  const removed: string[] = [];
  t.kernel.hooks.hook("session:removed", ({ id }) => void removed.push(id));
  const ask = async (method: string, what = "", body?: object) => {
    const { status } = await t.send(method, `/api/projects/${project?.id}${what}`, body);
    until = Number.POSITIVE_INFINITY;
    return status;
  };
  const counts = async () => (await t.json<Project[]>("/api/projects?git=0")).map((one) => one.sessionCount);

  until = 2;
  expect(await ask("POST", "/associate", { path: t.home })).toBe(507);
  expect((await counts()).reduce((sum, n) => sum + n, 0)).toBe(COUNT);
  expect(await ask("POST", "/associate", { path: t.home })).toBe(200);
  expect(await counts()).toEqual([COUNT]);
  until = 2;
  expect(await ask("POST", "/unlink")).toBe(507);
  expect(await counts()).toHaveLength(2);
  expect(await ask("POST", "/unlink")).toBe(200);
  expect(await counts()).toEqual([COUNT]);

  until = 2;
  expect(await ask("DELETE")).toBe(507);
  const [left = 0] = await counts();
  expect(left).toBeGreaterThan(0);
  expect(removed).toHaveLength(COUNT - left);
  expect(await ask("DELETE")).toBe(200);
  expect(await listed(t)).toEqual([]);
  expect(new Set(removed).size).toBe(COUNT);
  expect(removed).toHaveLength(COUNT);
  expect(await t.kernel.storage.transcripts.keys()).toEqual([]);
  expect(most).toBeLessThanOrEqual(COUNT);
  expect(t.errors.splice(0)).toHaveLength(3);
});

it.each([
  ["DELETE", ""],
  ["POST", "/unlink"],
])("a project that sessions are just counted to: %s%s comes after the last of them", async (method, what) => {
  const t = await start();
  writeMany(t);
  await importAll(t);
  const [project] = await t.json<Project[]>("/api/projects?git=0");
  const { db } = t.kernel.storage;
  const { run } = db;
  let other: Promise<number> | undefined;
  let isDone = false;
  let portions = 0;
  db.run = async (sql: string, params?: readonly SqlValue[]) => {
    const answer = await run(sql, params);
    const place = await db.get<{ id: string }>("select project_id as id from association");
    // Some are counted there, and the others will be, however slowly.
    other ??= t.send(method, `/api/projects/${place?.id}${what}`).then(({ status }) => {
      isDone = true;
      return status;
    });
    if (++portions === 2) for (let turns = 0; turns < 30_000 && !isDone; turns++) await yieldNow();
    return answer;
  };
  const associated = await t.send("POST", `/api/projects/${project?.id}/associate`, { path: t.home });
  expect([associated.status, await other]).toEqual([200, 200]);
  const projects = await t.json<Project[]>("/api/projects?git=0");
  const left = method === "DELETE" ? [] : [{ id: project?.id, sessionCount: COUNT, associatedFrom: null }];
  expect(projects).toMatchObject(left);
  expect(projects).toHaveLength(left.length);
  expect(await listed(t)).toHaveLength(method === "DELETE" ? 0 : 100);
});

it("many logs that moved, or are gone, are noted some at a time", async () => {
  const t = await start();
  writeMany(t);
  await importAll(t);
  const { db } = t.kernel.storage;
  const { batch } = db;
  let most = 0;
  db.batch = (statements: readonly Statement[]) => {
    most = Math.max(most, statements.length);
    return batch(statements);
  };
  const [before, after] = [folder(t), join(t.home, ".claude/projects/-w-other")];
  renameSync(before, after);
  expect((await t.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 0, unchanged: COUNT });
  const placed = "select count(*) as n from session where missing = 0 and source_path like ?";
  expect(await db.get(placed, [`${after}%`])).toEqual({ n: COUNT });
  rmSync(after, { recursive: true });
  const { importer } = t.kernel.inject("archive/open");
  await importer.runPaths(
    Array.from({ length: COUNT }, (_, n) => toLog(after, n)),
    (found) => found,
  );
  expect(await db.get("select count(*) as n from session where missing = 1")).toEqual({ n: COUNT });
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(COUNT / 2);
});

it("closing waits for no more of many logs that moved than are being written; the rest is noted at the next start", async () => {
  const t = await start();
  writeMany(t);
  await importAll(t);
  const after = join(t.home, ".claude/projects/-w-other");
  renameSync(folder(t), after);
  const { db } = t.kernel.storage;
  const { batch } = db;
  let writes = 0;
  let closed: Promise<void> | undefined;
  db.batch = async (statements) => {
    await batch(statements);
    writes++;
    closed ??= t.kernel.close();
  };
  await t.kernel.inject("importer").run((scan) => scan.found.all(), new Set());
  await closed;
  expect(writes).toBe(1);
  const again = await createTestKernel({ plugins: [archive(), claude()], home: t.home });
  await importAll(again);
  const placed = "select count(*) as n from session where missing = 0 and source_path like ?";
  expect(await again.kernel.storage.db.get(placed, [`${after}%`])).toEqual({ n: COUNT });
});

it("closing ends the deletion of a large project between two batches; what is left is there at the next start", async () => {
  const t = await start();
  writeMany(t);
  await importAll(t);
  const [project] = await t.json<Project[]>("/api/projects?git=0");
  const { db } = t.kernel.storage;
  const { batch } = db;
  let closed: Promise<void> | undefined;
  db.batch = async (statements) => {
    await batch(statements);
    closed ??= t.kernel.close();
  };
  const { status, body } = await t.send("DELETE", `/api/projects/${project?.id}`);
  expect({ status, body }).toMatchObject({ status: 503, body: { code: "SHUTTING_DOWN" } });
  await closed;
  const again = await createTestKernel({ plugins: [archive(), claude()], home: t.home });
  expect((await again.json<Project[]>("/api/projects?git=0"))[0]?.sessionCount).toBe(COUNT - 40);
});

it.each([
  ["DELETE", ""],
  ["POST", "/unlink"],
])("a disk that is full midway: %s%s says what is done, and asking again does the rest", async (method, what) => {
  const t = await start();
  writeMany(t);
  await importAll(t);
  const [project] = await t.json<Project[]>("/api/projects?git=0");
  await t.send("POST", `/api/projects/${project?.id}/associate`, { path: t.home });
  const [place] = await t.json<Project[]>("/api/projects?git=0");
  const { db } = t.kernel.storage;
  const { batch, run } = db;
  let writes = 0;
  const full = () => {
    if (writes++ === 2) throw new SessarcError("STORAGE_FULL", {});
  };
  db.batch = async (statements) => {
    full();
    return batch(statements);
  };
  db.run = async (sql, params) => {
    full();
    return run(sql, params);
  };
  const { status, body } = await t.send(method, `/api/projects/${place?.id}${what}`);
  expect({ status, body }).toMatchObject({ status: 507, body: { code: "STORAGE_FULL" } });
  expect(JSON.stringify(body)).toContain("80 sessions were done, the rest is unchanged");
  t.errors.length = 0;
  expect((await t.send(method, `/api/projects/${place?.id}${what}`)).status).toBe(200);
  const projects = await t.json<Project[]>("/api/projects?git=0");
  expect(projects).toMatchObject(method === "DELETE" ? [] : [{ id: project?.id, sessionCount: COUNT }]);
});
