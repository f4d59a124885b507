/** A damaged pack is in the way of every session with a chunk in it: the doctor names them, and repairs those whose logs are there. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DoctorCheck } from "sessarc";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { claudePath, claudeRows, importAll, packsIn, startIn, writeLog } from "./_logs.ts";

const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-00000000000${n}`;
const toId = (n: number) => `claude-code:${toKey(n)}`;
const COUNT = 3;

async function doctor(t: TestKernel, fix = false): Promise<DoctorCheck | undefined> {
  const report: { checks: DoctorCheck[]; fix: boolean } = { checks: [], fix };
  await t.kernel.hooks.callHook("doctor:check", report);
  return report.checks.find(({ name }) => name === "packs of stored logs");
}
const stored = async (t: TestKernel, n: number) => {
  const answer = await t.fetch(`/api/sessions/${encodeURIComponent(toId(n))}/log?file=0`);
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined;
};

async function begin() {
  const home = await makeTempDir();
  const logs: { path: string; bytes: Buffer }[] = [];
  for (let n = 0; n < COUNT; n++) {
    const said = { key: toKey(n), cwd: home, turns: 3 };
    const path = await writeLog(claudePath(home, said), claudeRows(said));
    logs.push({ path, bytes: await readFile(path) });
  }
  const t = await startIn(home);
  await importAll(t);
  const pack = join(home, "data/logs", (await packsIn(home))[0] ?? "");
  return { home, t, logs, pack };
}

it.each([
  [
    "a bit of it is another",
    (pack: string) => readFile(pack).then((all) => writeFile(pack, all.fill((all[9] ?? 0) ^ 1, 9, 10))),
  ],
  ["its file is gone", (pack: string) => rm(pack)],
])("%s: the sessions are named, and stored again from their logs", async (_, damage) => {
  const { home, t, logs, pack } = await begin();
  expect(await doctor(t)).toMatchObject({ status: "ok" });
  await damage(pack);
  const found = await doctor(t);
  expect(found?.status).toBe("fail");
  for (let n = 0; n < COUNT; n++) expect(found?.detail).toContain(toId(n));
  expect(await doctor(t, true)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("3 sessions stored again from their logs"),
  });
  expect(await doctor(t)).toMatchObject({ status: "ok" });
  for (const [n, { path, bytes }] of logs.entries()) {
    await rm(path);
    expect((await stored(t, n))?.equals(bytes)).toBe(true);
  }
  const rows = await t.kernel.storage.db.all<{ refs: number; pack: string }>("select refs, pack from rescue_chunk");
  expect(rows.every((one) => one.refs === 1 && one.pack !== "")).toBe(true);
  expect((await packsIn(home)).length).toBe(1);
});

it("a log that is gone stays named until it comes back or its session is deleted, and no other one suffers", async () => {
  const { home, t, logs, pack } = await begin();
  await rm(logs[1]?.path ?? "");
  await t.send("POST", "/api/sync?wait=1");
  await rm(pack);
  const left = await doctor(t, true);
  expect(left?.status).toBe("fail");
  expect(left?.detail).toMatch(/^2 sessions stored again from their logs; the stored logs of 1 session cannot be read/);
  expect(left?.detail).toContain(toId(1));
  expect((await stored(t, 0))?.equals(logs[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
  expect(await stored(t, 1)).toBeUndefined();
  // A copy from a backup of the user's.
  await writeFile(logs[1]?.path ?? "", logs[1]?.bytes ?? "");
  await t.send("POST", "/api/sync?wait=1");
  expect(await doctor(t, true)).toMatchObject({ status: "ok" });
  await rm(logs[1]?.path ?? "");
  await t.send("POST", "/api/sync?wait=1");
  expect((await stored(t, 1))?.equals(logs[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
  await rm(join(home, "data/logs"), { recursive: true });
  await t.send("DELETE", `/api/sessions/${encodeURIComponent(toId(1))}`);
  for (const n of [0, 2]) await rm(logs[n]?.path ?? "");
  await t.send("POST", "/api/sync?wait=1");
  expect((await doctor(t, true))?.detail).not.toContain(toId(1));
  for (const n of [0, 2]) await t.send("DELETE", `/api/sessions/${encodeURIComponent(toId(n))}`);
  expect(await doctor(t)).toMatchObject({ status: "ok" });
  expect(await t.kernel.storage.db.all("select * from rescue_chunk")).toEqual([]);
});
