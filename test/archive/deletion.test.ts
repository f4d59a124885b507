/** What the tools delete is known to be missing; what the user deletes goes with all it started, and comes back with it. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import archive, { type Session } from "../../plugins/archive/index.ts";
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
  utimesSync(path, at, at);
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
  expect((await t.send("DELETE", `/api/sessions/${ID}`)).body).toEqual({ deleted: true, subagents: 2 });
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
