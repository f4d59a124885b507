/** Old logs give their room back: only those whose bytes are stored go, and each comes back byte for byte. */
import { appendFile, link, mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Reclaimable, Reclaimed } from "../../plugins/rescue/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import type { TestKernel } from "../kernel.ts";
import { claudePath, claudeRows, importAll, startIn, TOOLS, told, writeLog } from "./_logs.ts";

const DAY = 86_400_000;
const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const toKey = (n: number) => KEY.replace(/1$/, String(n));
async function age(path: string, days: number): Promise<void> {
  const at = new Date(Date.now() - days * DAY);
  await utimes(path, at, at);
}
const plan = (t: TestKernel, query = "") => t.json<Reclaimable>(`/api/rescue/reclaim${query}`);
const reclaim = (t: TestKernel, days = 30) => t.send<Reclaimed>("POST", "/api/rescue/reclaim", { days });
const undo = (t: TestKernel) => t.send<Reclaimed>("POST", "/api/rescue/reclaim/undo");
const states = async (t: TestKernel, id: string) => {
  for (const state of ["listed", "reclaimed", "gone"]) {
    const { sessions } = await t.json<{ sessions: { id: string }[] }>(`/api/sessions?state=${state}`);
    if (sessions.some((one) => one.id === id)) return state;
  }
  return undefined;
};
const isThere = (path: string) => stat(path).then(Boolean, () => false);

async function homeWith(ages: readonly number[]) {
  const home = await makeTempDir();
  const paths: string[] = [];
  for (const [n, days] of ages.entries()) {
    const said = { key: toKey(n + 1), cwd: home, turns: 3 };
    const path = await writeLog(claudePath(home, said), claudeRows(said));
    await age(path, days);
    paths.push(path);
  }
  const t = await startIn(home);
  await importAll(t);
  return { home, t, paths };
}

describe.each(TOOLS)("$name", ({ name, path: pathIn, rows }) => {
  it("loses its old log, keeps texts and figures, and has it back byte for byte", async () => {
    const home = await makeTempDir();
    const cwd = join(home, "app");
    await mkdir(cwd);
    const said = { key: KEY, cwd, turns: 4 };
    const path = await writeLog(pathIn(home, said), rows(said));
    await age(path, 40);
    const bytes = await readFile(path);
    const t = await startIn(home);
    await importAll(t);
    const before = await told(t);
    expect(await plan(t)).toMatchObject({ days: 30, sessions: 1, tools: [{ tool: name, sessions: 1 }], stays: [] });
    expect(await isThere(path)).toBe(true);
    const { body } = await reclaim(t);
    expect(body).toMatchObject({ sessions: 1, left: [] });
    expect(body.bytes).toBeGreaterThanOrEqual(bytes.length);
    expect(await isThere(path)).toBe(false);
    expect(await told(t)).toEqual(before);
    const id = `${name}:${KEY}`;
    expect(await states(t, id)).toBe("reclaimed");
    expect(await plan(t)).toMatchObject({ sessions: 0, reclaimed: { sessions: 1, bytes: body.bytes } });
    // What is stored is the only copy now.
    const refused = await t.send<{ code: string }>("DELETE", "/api/rescue/logs", { all: true });
    expect([refused.status, refused.body.code]).toEqual([409, "LOGS_RECLAIMED"]);
    expect((await undo(t)).body).toEqual({ sessions: 1, bytes: body.bytes, left: [] });
    expect((await readFile(path)).equals(bytes)).toBe(true);
    await t.send("POST", "/api/sync?wait=1");
    expect(await states(t, id)).toBe("listed");
    expect(await told(t)).toEqual(before);
    expect((await plan(t)).reclaimed).toEqual({ sessions: 0, bytes: 0 });
    // It is the assistant's own log again: an undo of a rescue does not take it away.
    expect((await t.send("POST", "/api/rescue/undo", { session: id })).status).toBe(404);
    expect((await t.send("DELETE", "/api/rescue/logs", { all: true })).status).toBe(200);
  });
});

it("a thread that is pinned in Codex stays, and all of its threads while its database cannot be read", async () => {
  const codex = TOOLS.find(({ name }) => name === "codex");
  if (!codex) throw new Error("the logs of Codex are missing");
  const home = await makeTempDir();
  for (const key of [toKey(1), toKey(2)]) {
    const said = { key, cwd: home, turns: 3 };
    await age(await writeLog(codex.path(home, said), codex.rows(said)), 40);
  }
  const state = join(home, ".codex", "state_5.sqlite");
  const { Database } = await (await import("sql.js")).default();
  const db = new Database();
  db.run("create table threads (id text primary key, title text not null, is_pinned integer not null default 0)");
  db.run("insert into threads values (?, 'a', 1), (?, 'b', 0)", [toKey(1), toKey(2)]);
  const bytes = db.export();
  db.close();
  const t = await startIn(home);
  await importAll(t);
  await writeFile(state, "no database");
  expect(await plan(t)).toMatchObject({ sessions: 0, stays: [{ reason: "pinned", sessions: 2 }] });
  expect((await reclaim(t)).body).toMatchObject({ sessions: 0 });
  await writeFile(state, bytes);
  expect(await plan(t)).toMatchObject({ sessions: 1, stays: [{ reason: "pinned", sessions: 1 }] });
  expect((await reclaim(t)).body).toMatchObject({ sessions: 1, left: [] });
  expect([await states(t, `codex:${toKey(1)}`), await states(t, `codex:${toKey(2)}`)]).toEqual(["listed", "reclaimed"]);
});

it("young logs stay, and so do those that changed since they were stored, links, and logs under a second name", async () => {
  const { t, paths } = await homeWith([40, 40, 3, 40, 20]);
  const [first = "", changed = "", , linked = ""] = paths;
  const { mtimeMs } = await stat(changed);
  const bytes = await readFile(changed);
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
  await rm(changed);
  await appendFile(changed, bytes);
  await utimes(changed, mtimeMs / 1000, mtimeMs / 1000);
  await link(linked, `${linked}.same`);
  const { body } = await reclaim(t);
  expect(body.sessions).toBe(1);
  expect(body.left.map(({ session }) => session.at(-1)).sort()).toEqual(["2", "4"]);
  expect(await Promise.all(paths.map(isThere))).toEqual([false, true, true, true, true]);
  expect(await isThere(first)).toBe(false);
  expect((await reclaim(t, 6)).status).toBe(400);
  expect((await t.send("GET", "/api/rescue/reclaim?days=1")).status).toBe(400);
  expect((await plan(t, "?days=7")).sessions).toBe(3);
});

it("a log that was not stored as it is stays, and a session of which a sub-agent is young", async () => {
  const { t, home, paths } = await homeWith([40, 40]);
  const [grown = "", parent = ""] = paths;
  await appendFile(
    grown,
    `${JSON.stringify({ type: "user", uuid: "x", sessionId: toKey(1), message: { role: "user", content: "more" } })}\n`,
  );
  await age(grown, 39);
  const agent = join(dirname(parent), toKey(2), "subagents", "agent-1.jsonl");
  await writeLog(agent, claudeRows({ key: toKey(2), cwd: home, turns: 1, extra: { isSidechain: true, agentId: "1" } }));
  await importAll(t);
  // Stored, and the agent's log is of today.
  expect(await plan(t)).toMatchObject({ sessions: 1 });
  await age(agent, 40);
  await importAll(t);
  const sizes = await Promise.all([grown, parent, agent].map(async (path) => (await stat(path)).size));
  expect(await plan(t)).toMatchObject({ sessions: 2, bytes: sizes.reduce((a, b) => a + b) });
  await t.kernel.storage.db.run("update rescue_log set version = 'keep old' where session = ?", [
    `claude-code:${toKey(1)}`,
  ]);
  expect(await plan(t)).toMatchObject({ sessions: 1, stays: [{ reason: "behind", sessions: 1 }] });
  expect((await reclaim(t)).body.sessions).toBe(1);
  expect(await Promise.all([grown, parent, agent].map(isThere))).toEqual([true, false, false]);
  const { body } = await undo(t);
  expect(body.sessions).toBe(1);
  expect(await Promise.all([grown, parent, agent].map(isThere))).toEqual([true, true, true]);
});

it("a kill between the note and the removal leaves nothing lost", async () => {
  const { t, paths } = await homeWith([40]);
  const [path = ""] = paths;
  const bytes = await readFile(path);
  await t.kernel.storage.db.run("insert into rescue_reclaimed (session, bytes, at) values (?, 1, 'now')", [
    `claude-code:${toKey(1)}`,
  ]);
  expect(await states(t, `claude-code:${toKey(1)}`)).toBe("listed");
  expect((await undo(t)).body).toMatchObject({ sessions: 1, left: [] });
  expect((await readFile(path)).equals(bytes)).toBe(true);
});

it("`sessarc reclaim` counts, removes with --yes, and puts back with --undo", async () => {
  const home = await makeTempDir();
  const said = { key: KEY, cwd: home, turns: 3 };
  const path = await writeLog(claudePath(home, said), claudeRows(said));
  await age(path, 60);
  await runCommand(["import"], home);
  const counted = await runCommand(["reclaim"], home);
  expect(counted.stdout).toMatch(
    /^1 session was not written for 30 days; their logs take .*\n {2}Claude Code {2}1 session, /,
  );
  expect(counted.stderr).toContain("--yes removes them");
  expect(await isThere(path)).toBe(true);
  expect((await runCommand(["reclaim", "--older-than", "2d"], home)).stderr).toContain("7d or more");
  expect((await runCommand(["reclaim", "--yes", "--older-than", "45d"], home)).stdout).toContain("1 log removed");
  expect(await isThere(path)).toBe(false);
  expect((await runCommand(["reclaim"], home)).stdout).toContain("1 log removed before");
  expect((await runCommand(["vacuum", "--logs"], home)).stderr).toContain("sessarc reclaim --undo");
  expect((await runCommand(["reclaim", "--undo"], home)).stdout).toContain("1 log put back");
  expect(await isThere(path)).toBe(true);
});
