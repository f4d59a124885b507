import { chmod, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GoneFolder, Rescued, RescueOverview, RescuePlan, StateOf, Undone } from "../../plugins/rescue/index.ts";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import {
  claudePath,
  claudeRows,
  codexPath,
  codexRows,
  importAll,
  packsIn,
  startIn,
  TOOLS,
  told,
  writeLog,
} from "./_logs.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const readOverview = (t: TestKernel) => t.json<RescueOverview>("/api/rescue");
const listed = async (t: TestKernel, state: string) =>
  (
    await t.json<{ sessions: { session: { id: string }; states: StateOf[]; stored: boolean }[] }>(
      `/api/rescue/sessions?state=${state}`,
    )
  ).sessions;
const plan = async (t: TestKernel, id: string, folder?: string) =>
  (await t.send<{ plans: RescuePlan[] }>("POST", "/api/rescue/plan", { sessions: [id], folder })).body.plans[0];
const restore = (t: TestKernel, id: string, folder?: string) =>
  t.send<{ rescued: Rescued[] }>("POST", "/api/rescue/restore", { sessions: [id], folder });
const undo = (t: TestKernel, id: string) => t.send<Undone>("POST", "/api/rescue/undo", { session: id });
const sync = (t: TestKernel) => t.send("POST", "/api/sync?wait=1");

describe("states", () => {
  it("says which sessions are listed, hidden, about to be deleted, gone, and whose folder is gone", async () => {
    const home = await makeTempDir();
    const cwd = join(home, "app");
    await mkdir(cwd);
    const say = (n: number, extra: object = {}, folder = cwd) => {
      const said = { key: `aaaaaaaa-0000-4000-8000-00000000000${n}`, cwd: folder, turns: 1, extra };
      return writeLog(claudePath(home, said), claudeRows(said));
    };
    await say(1);
    await say(2, { entrypoint: "sdk-cli" });
    const old = await say(3);
    await utimes(old, new Date(), new Date(Date.now() - 25 * 86_400_000));
    const gone = await say(4);
    await say(5, {}, join(home, "moved"));
    const codex = { key: "01a1faa1-8729-76b0-92bf-27f194dda42a", cwd, turns: 1, extra: { source: "exec" } };
    await writeLog(codexPath(home, codex), codexRows(codex));
    const t = await startIn(home);
    await importAll(t);
    await rm(gone);
    await sync(t);
    const overview = await readOverview(t);
    expect(overview).toMatchObject({
      sessions: 6,
      notListed: 3,
      states: { listed: 3, hidden: 2, dying: 1, gone: 1, "folder-gone": 1 },
      retention: [{ tool: "claude-code", days: 30, changeable: true }],
    });
    expect((await listed(t, "hidden")).map(({ session, states }) => [session.id, states])).toEqual(
      expect.arrayContaining([
        ["claude-code:aaaaaaaa-0000-4000-8000-000000000002", [{ state: "hidden", reason: "headless" }]],
        [`codex:${codex.key}`, [{ state: "hidden", reason: "headless" }]],
      ]),
    );
    const [dying] = await listed(t, "dying");
    expect(dying?.states).toEqual([
      { state: "listed" },
      { state: "dying", at: new Date(Math.round((await stat(old)).mtimeMs) + 30 * 86_400_000).toISOString() },
    ]);
    expect((await listed(t, "gone")).map(({ stored }) => stored)).toEqual([true]);
    const { total } = await t.json<{ total: number }>("/api/sessions?state=folder-gone");
    expect(total).toBe(1);
  });

  it("lists folders that are gone, how many sessions can be copied from each, and where it may be now", async () => {
    const home = await makeTempDir();
    const there = join(home, "new/app");
    await mkdir(there, { recursive: true });
    const say = (n: number, folder: string) => {
      const said = { key: `aaaaaaaa-0000-4000-8000-00000000000${n}`, cwd: folder, turns: n };
      return writeLog(claudePath(home, said), claudeRows(said));
    };
    const app = join(home, "old/app");
    const tool = join(home, "old/tool");
    for (const [n, folder] of [there, app, app, tool].entries()) await say(n + 1, folder);
    const t = await startIn(home);
    await importAll(t);
    const { folders } = await t.json<{ folders: GoneFolder[] }>("/api/rescue/folders");
    expect(folders).toEqual([
      { path: tool, sessions: 1, copyable: 1, tools: ["claude-code"], endedAt: "2026-01-01T00:00:03.000Z", now: null },
      { path: app, sessions: 2, copyable: 2, tools: ["claude-code"], endedAt: "2026-01-01T00:00:02.000Z", now: there },
    ]);
    expect(await listed(t, `folder-gone&folder=${encodeURIComponent(app)}`)).toHaveLength(2);
    expect(await listed(t, "folder-gone")).toHaveLength(3);
  });

  it("changes how long an assistant retains its logs by one edit, after a backup", async () => {
    const home = await makeTempDir();
    const said = { key: KEY, cwd: home, turns: 1 };
    await writeLog(claudePath(home, said), claudeRows(said));
    const settings = join(home, ".claude/settings.json");
    const before = '{\n  "model": "opus", // no comment\n}\n'.replace(" // no comment", "").replace(",", "");
    await writeFile(settings, before);
    const t = await startIn(home);
    await importAll(t);
    const body = { tool: "claude-code", days: 3650 };
    const dry = await t.send("POST", "/api/rescue/retention", body);
    expect(dry.body).toMatchObject({ path: settings, name: "cleanupPeriodDays", before: null, after: "3650" });
    expect(await readFile(settings, "utf8")).toBe(before);
    await t.send("POST", "/api/rescue/retention", { ...body, write: true });
    expect(JSON.parse(await readFile(settings, "utf8"))).toEqual({ model: "opus", cleanupPeriodDays: 3650 });
    expect((await readOverview(t)).retention).toMatchObject([{ days: 3650, source: settings }]);
    const [backup] = await t.kernel.storage.files.getKeys("rescue:settings");
    expect(Buffer.from((await t.kernel.storage.files.getItemRaw(backup ?? "")) ?? "").toString()).toBe(before);
  });
});

describe("stored logs", () => {
  it("have the log's bytes, and only the new bytes of one that grew", async () => {
    const home = await makeTempDir();
    const said = { key: KEY, cwd: home, turns: 400 };
    const rows = claudeRows(said);
    const path = await writeLog(claudePath(home, said), rows.slice(0, 700));
    const t = await startIn(home);
    await importAll(t);
    const first = await packsIn(home);
    expect(first).toHaveLength(1);
    await writeLog(path, rows);
    await importAll(t);
    const second = await packsIn(home);
    expect(second).toHaveLength(2);
    expect(second).toEqual(expect.arrayContaining(first));
    const bytes = await readFile(path);
    await rm(path);
    await restore(t, `claude-code:${KEY}`);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    const { stored } = await readOverview(t);
    expect(stored.bytes).toBe(bytes.length);
    expect(stored.stored).toBeLessThan(bytes.length / 5);
  });

  it("follow a log that was rewritten, and are removed with their session and on request", async () => {
    const home = await makeTempDir();
    const said = { key: KEY, cwd: home, turns: 3 };
    const path = await writeLog(claudePath(home, said), claudeRows(said));
    const other = { ...said, key: KEY.replace(/1$/, "2") };
    await writeLog(claudePath(home, other), claudeRows(other));
    const t = await startIn(home);
    await importAll(t);
    await writeLog(path, claudeRows({ ...said, turns: 9 }).reverse());
    await importAll(t);
    const files = () => packsIn(home);
    expect(await files()).toHaveLength(2);
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(`claude-code:${other.key}`)}`);
    expect(await files()).toHaveLength(1);
    for (const body of [undefined, {}, [], { all: false }])
      expect((await t.send("DELETE", "/api/rescue/logs", body)).status).toBe(400);
    expect((await t.send<{ bytes: number }>("DELETE", "/api/rescue/logs", { all: true })).body.bytes).toBeGreaterThan(
      0,
    );
    expect(await files()).toEqual([]);
    await rm(path);
    await sync(t);
    expect(await plan(t, `claude-code:${KEY}`)).toMatchObject({ reason: "its log was not stored", steps: [] });
  });

  it("are not made where the configuration says none", async () => {
    const home = await makeTempDir();
    const said = { key: KEY, cwd: home, turns: 3, extra: { entrypoint: "sdk-ts" } };
    await writeLog(claudePath(home, said), claudeRows(said));
    const t = await startIn(home, { rescue: { logs: "none" } });
    await importAll(t);
    expect(await readOverview(t)).toMatchObject({ states: { hidden: 1 }, stored: { setting: "none", sessions: 0 } });
  });
});

describe.each(TOOLS)("$name", ({ name, path: pathIn, rows }) => {
  const id = `${name}:${KEY}`;
  async function lost() {
    const home = await makeTempDir();
    const cwd = join(home, "work/app");
    await mkdir(cwd, { recursive: true });
    const said = { key: KEY, cwd, turns: 3 };
    const path = await writeLog(pathIn(home, said), rows(said));
    if (name === "gemini-cli") {
      await writeFile(join(home, ".gemini/projects.json"), JSON.stringify({ projects: { [cwd]: "app" } }));
      await writeFile(join(home, ".gemini/tmp/app/.project_root"), cwd);
    }
    await chmod(path, 0o640);
    const t = await startIn(home);
    await importAll(t);
    const before = await told(t);
    const bytes = await readFile(path);
    await rm(path);
    await sync(t);
    return { t, home, cwd, path, bytes, before };
  }

  it("gets its log back at its place, with its permissions and a new time, and nothing counts twice", async () => {
    const { t, path, bytes, before } = await lost();
    expect((await plan(t, id))?.steps[0]).toEqual({ kind: "write", path, bytes: bytes.length, there: false });
    const { status, body } = await restore(t, id);
    expect([status, body]).toMatchObject([200, { rescued: [{ written: [path] }] }]);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    const { mode, mtimeMs } = await stat(path);
    expect(mode & 0o777).toBe(0o640);
    expect(Date.now() - mtimeMs).toBeLessThan(3_600_000);
    await sync(t);
    expect(await told(t)).toEqual(before);
    expect(await listed(t, "gone")).toEqual([]);
    // Twice changes nothing.
    expect((await restore(t, id)).body.rescued[0]?.written).toEqual([]);
    expect(await told(t)).toEqual(before);
    const undone = await undo(t, id);
    expect(undone.body).toEqual({ session: id, removed: [path], left: [] });
    await expect(stat(path)).rejects.toThrow();
    expect(await told(t)).toEqual(before);
    expect((await undo(t, id)).body).toMatchObject({ code: "RESCUE_NOTHING" });
  });

  it("never replaces a file, and leaves one that went on", async () => {
    const { t, path, bytes } = await lost();
    await writeLog(path, [{ type: "mine" }]);
    const mine = await readFile(path);
    await restore(t, id);
    expect((await readFile(path)).equals(mine)).toBe(true);
    await rm(path);
    await restore(t, id);
    await writeFile(path, Buffer.concat([bytes, Buffer.from("{}\n")]));
    expect((await undo(t, id)).body).toMatchObject({ removed: [], left: [path] });
    expect((await stat(path)).size).toBe(bytes.length + 3);
  });

  it("comes into another folder under a new id, linked and counted once", async () => {
    const { t, home, before } = await lost();
    const folder = join(home, "work/moved");
    await mkdir(folder);
    const { body } = await restore(t, id, folder);
    const copy = body.rescued[0]?.copy ?? "";
    expect(copy).not.toBe(id);
    const { session } = await t.json<{ session: { cwd: string; messageCount: number; forkedFrom: string } }>(
      `/api/sessions/${encodeURIComponent(copy)}`,
    );
    expect(session).toMatchObject({ cwd: folder, forkedFrom: id, messageCount: 0 });
    const after = (await told(t)) as { id: string; usage: object; messages: object[] }[];
    expect(after.filter((one) => one.id === id)).toEqual(before);
    expect(after.find((one) => one.id === copy)?.usage).toEqual({});
    // Codex' reader leaves out what a fork repeats; the others show it.
    expect(after.find((one) => one.id === copy)?.messages.length).toBe(name === "codex" ? 0 : 6);
    expect((await restore(t, id, folder)).body.rescued[0]?.written).toEqual([]);
    await undo(t, id);
    await sync(t);
    expect(((await told(t)) as { id: string }[]).filter((one) => one.id === id)).toEqual(before);
  });

  it("is not written through a link, nor outside of the assistant's folders", async () => {
    const { t, home, path } = await lost();
    const outside = join(home, "outside");
    await mkdir(outside);
    const folder = dirname(path);
    await rm(folder, { recursive: true });
    await symlink(outside, folder);
    expect((await restore(t, id)).body).toMatchObject({ code: "RESCUE_IMPOSSIBLE" });
    expect(await readdir(outside)).toEqual([]);
    await rm(folder);
    const db = t.kernel.storage.db;
    for (const bad of [
      join(home, "outside/x.jsonl"),
      `${folder}/../../../../../outside/x.jsonl`,
      "x.jsonl",
      "/etc/x.jsonl",
    ]) {
      const row = await db.get<{ files: string }>("select files from rescue_log where session = ?", [id]);
      const files = JSON.parse(row?.files ?? "[]") as { path: string }[];
      const hostile = files.map((file) => ({ ...file, path: bad }));
      await db.run("update rescue_log set files = ? where session = ?", [JSON.stringify(hostile), id]);
      expect((await plan(t, id))?.reason, bad).toMatch(/is not written/);
      expect((await restore(t, id)).status).toBe(422);
    }
    expect(await readdir(outside)).toEqual([]);
  });
});
