/** Stored logs stay within a budget: which are removed for it, which never are, and where that is reported. */
import { randomBytes } from "node:crypto";
import { rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sessarc";
import { expect, it } from "vitest";
import type { RescueOverview } from "../../plugins/rescue/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import type { TestKernel } from "../kernel.ts";
import { claudePath, claudeRows, importAll, packsIn, startIn, writeLog } from "./_logs.ts";

const DAY = 86_400_000;
const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-00000000000${n}`;

/** A log of some 45 KB that compresses to about 21 KB, last written so many days ago. */
async function say(home: string, n: number, daysAgo: number): Promise<string> {
  const note = randomBytes(20_000).toString("hex");
  const said = { key: toKey(n), cwd: home, turns: 1, extra: {} };
  const path = await writeLog(claudePath(home, said), [...claudeRows(said), { type: "note", note }]);
  const at = new Date(Date.now() - daysAgo * DAY);
  await utimes(path, at, at);
  return path;
}
const stored = async (t: TestKernel) =>
  (
    await t.kernel.storage.db.all<{ id: string }>(
      "select session as id from rescue_log where files is not null order by session",
    )
  ).map(({ id }) => Number(id.at(-1)));
/** Bytes of all files that hold what is stored. */
const onDisk = async (home: string) => {
  const sizes = (await packsIn(home)).map(async (name) => (await stat(join(home, "data/logs", name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};
const room = async (t: TestKernel) => (await t.json<RescueOverview>("/api/rescue")).stored;
const set = (t: TestKernel, value: unknown) => t.send("PATCH", "/api/settings", { "rescue.logs": value });
const sync = (t: TestKernel) => t.send("POST", "/api/sync?wait=1");
interface Check {
  name: string;
  status: string;
  detail: string;
}
const check = async (t: TestKernel) =>
  (await t.json<{ checks: Check[] }>("/api/doctor")).checks.find(({ name }) => name === "stored logs");

it("stores the newest logs within the budget, and leaves the oldest that their assistant still has out", async () => {
  const home = await makeTempDir();
  for (let n = 1; n <= 5; n++) await say(home, n, n);
  const t = await startIn(home);
  await set(t, 0.000065);
  await importAll(t);
  expect(await stored(t)).toEqual([1, 2, 3]);
  expect(await onDisk(home)).toBe((await room(t)).stored);
  expect(await room(t)).toMatchObject({ setting: 0.000065, sessions: 3, budget: 65_000, leftOut: 2, isOver: false });
  // A new one takes the place of the oldest.
  await say(home, 6, 0);
  await importAll(t);
  expect(await stored(t)).toEqual([1, 2, 6]);
  // Nothing of that is tried again while there is no room.
  const { revision } = await t.kernel.inject("rescue").condition("listed");
  await importAll(t);
  expect((await t.kernel.inject("rescue").condition("listed")).revision).toBe(revision);
  // More room is used at once.
  expect((await set(t, "0.0002")).status).toBe(200);
  expect(await stored(t)).toEqual([1, 2, 3, 4, 5, 6]);
  await set(t, 0.00005);
  expect(await stored(t)).toEqual([1, 6]);
  expect(await onDisk(home)).toBe((await room(t)).stored);
});

it("never removes a log that its assistant deletes soon or has deleted, and says when only such are left", async () => {
  const home = await makeTempDir();
  await say(home, 1, 1);
  await say(home, 2, 25);
  const gone = await say(home, 3, 2);
  const t = await startIn(home);
  await importAll(t);
  await rm(gone);
  await sync(t);
  expect(await stored(t)).toEqual([1, 2, 3]);
  expect(await check(t)).toMatchObject({ status: "ok" });
  await set(t, 0.000001);
  expect(await stored(t)).toEqual([2, 3]);
  expect(await room(t)).toMatchObject({ isOver: true, removable: 0, budget: 1_000 });
  expect(await check(t)).toMatchObject({ status: "warn", detail: expect.stringContaining("none is removed") });
  expect(await t.json("/api/status")).toMatchObject({ rescue: { isOver: true } });
  // Nothing further is stored; what that leaves without a log is said.
  await say(home, 4, 26);
  await importAll(t);
  expect(await stored(t)).toEqual([2, 3]);
  expect(await room(t)).toMatchObject({ leftOutDying: 1 });
});

it("a request for the status adds up nothing again that has not changed", async () => {
  const home = await makeTempDir();
  await say(home, 1, 1);
  const t = await startIn(home);
  await importAll(t);
  const { db } = t.kernel.storage;
  const asked: string[] = [];
  const { get, all } = db;
  const note = (sql: string) => {
    asked.push(sql);
    return sql;
  };
  Object.assign(db, {
    get: ((sql, ...rest) => get.call(db, note(sql), ...rest)) as Database["get"],
    all: ((sql, ...rest) => all.call(db, note(sql), ...rest)) as Database["all"],
  });
  const added = async () => {
    asked.length = 0;
    await t.json("/api/status");
    return asked.filter((sql) => sql.includes("rescue_log")).length;
  };
  expect(await added()).toBeGreaterThan(0);
  expect(await added()).toBe(0);
  await say(home, 2, 2);
  await importAll(t);
  expect(await added()).toBeGreaterThan(0);
  expect((await room(t)).sessions).toBe(2);
});

it("stores a log that is about to be deleted in the place of one that stays", async () => {
  const home = await makeTempDir();
  for (const n of [1, 2]) await say(home, n, n);
  const t = await startIn(home, { rescue: { logs: 0.00005 } });
  await importAll(t);
  await say(home, 3, 26);
  await importAll(t);
  expect(await stored(t)).toEqual([1, 3]);
});

it("takes keep, none and numbers of GB, and refuses anything else", async () => {
  const home = await makeTempDir();
  const t = await startIn(home);
  expect((await room(t)).budget).toBeLessThanOrEqual(20e9);
  for (const value of ["keep", "none", 5, "5", "0.5", 0.5])
    expect([value, (await set(t, value)).status]).toEqual([value, 200]);
  for (const value of [0, -1, "0", "-5", "", "5 GB", "1e9", 1e7, true, {}, [5], "Infinity"])
    expect([value, (await set(t, value)).status]).toEqual([value, 400]);
  expect(await t.json("/api/settings")).toMatchObject({
    settings: expect.arrayContaining([expect.objectContaining({ key: "rescue.logs", value: "0.5" })]),
  });
});

it("GET /storage and `sessarc status` show what takes how much, and what can be given back", async () => {
  const home = await makeTempDir();
  for (let n = 1; n <= 3; n++) await say(home, n, n);
  const t = await startIn(home);
  await importAll(t);
  interface Report {
    bytes: number;
    catalogue: { bytes: number };
    transcripts: { bytes: number };
    derived: { bytes: number };
    files: { bytes: number };
    logs: { stored: number };
    back: { logs: number };
    tools: { tool: string; sessions: number; transcripts: number; logs: number }[];
  }
  const report = await t.json<Report>("/api/storage");
  const { catalogue, transcripts, derived, files: others, logs } = report;
  expect(report.bytes).toBe(catalogue.bytes + transcripts.bytes + derived.bytes + others.bytes + logs.stored);
  expect(report.tools).toEqual([
    { tool: "claude-code", label: "Claude Code", sessions: 3, transcripts: transcripts.bytes, logs: logs.stored },
  ]);
  expect(report.back.logs).toBe(logs.stored);
  expect(transcripts.bytes).toBe(
    (await t.json<{ storage: { transcriptBytes: number } }>("/api/status")).storage.transcriptBytes,
  );
  await t.send("DELETE", `/api/sessions/claude-code:${toKey(1)}`);
  expect((await t.json<Report>("/api/storage")).tools[0]?.sessions).toBe(2);
  await t.close();
  const { stdout, stderr } = await runCommand(["status", "--data-dir", join(home, "data")], home);
  expect([stderr, stdout]).toEqual([
    "",
    expect.stringMatching(/disk +\d.*\n +transcripts .*, catalogue .*, raw logs .* of .*\n +Claude Code /),
  ]);
});
