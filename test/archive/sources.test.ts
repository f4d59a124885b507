/** Folders of logs elsewhere: added, scanned, imported, kept in sync, deleted from, removed. */
import { cp, mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import live from "../../plugins/live/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const ID = "00000000-0000-4000-8000-00000000000";
const row = (text: string) =>
  `${JSON.stringify({ type: "user", uuid: text, timestamp: "2026-11-20T10:00:00.000Z", cwd: "/w/app", message: { role: "user", content: text } })}\n`;

/** A log in a folder laid out as `~/.claude`; an old one, so that no rule about logs in use applies. */
async function writeLog(
  claudeDir: string,
  n: number,
  text = row("find the needle"),
  at = new Date("2026-11-20T10:00:00Z"),
) {
  const path = join(claudeDir, `projects/-w-app/${ID}${n}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await utimes(path, at, at);
  return path;
}

const start = (home?: string) =>
  createTestKernel({ plugins: [archive(), claude(), codex(), live()], ...(home && { home }) });
const add = (t: TestKernel, path: string, tool = "claude-code") =>
  t.send<{ code?: string; message?: string; path: string; sessions: number }>("POST", "/api/sources", { tool, path });
interface Listed {
  tools: { tool: string; sources: { path: string; added: boolean; exists: boolean; sessions: number }[] }[];
}
const list = async (t: TestKernel) =>
  (await t.json<Listed>("/api/sources")).tools.find((one) => one.tool === "claude-code")?.sources ?? [];

describe("POST /sources", () => {
  it("reads another folder too: scan, import, and the session's messages", async () => {
    const t = await start();
    const backup = await makeTempDir();
    await writeLog(join(t.home, ".claude"), 1);
    await writeLog(backup, 2);
    await writeLog(backup, 3);
    expect(await add(t, backup)).toEqual({
      status: 200,
      body: { path: backup, added: true, exists: true, sessions: 2 },
    });
    expect(await list(t)).toContainEqual({ path: backup, added: true, exists: true, sessions: 2 });
    expect(await list(t)).toContainEqual({
      path: join(t.home, ".claude/projects"),
      added: false,
      exists: true,
      sessions: 1,
    });
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 3, failed: [] });
    const { messages } = await t.json<{ messages: { text: string }[] }>(`/api/sessions/claude-code:${ID}2/messages`);
    expect(messages.map((one) => one.text)).toEqual(["find the needle"]);
  });

  it("takes a whole home, the tool's folder, and the folder of its logs", async () => {
    const t = await start();
    const [home, folder, logs] = [await makeTempDir(), await makeTempDir(), await makeTempDir()];
    await writeLog(join(home, ".claude"), 1);
    await writeLog(folder, 2);
    await writeLog(logs, 3);
    for (const path of [home, folder, join(logs, "projects")]) expect((await add(t, path)).body.sessions).toBe(1);
    const rollouts = join(await makeTempDir(), "sessions");
    await mkdir(join(rollouts, "2026/11/20"), { recursive: true });
    await writeFile(join(rollouts, `2026/11/20/rollout-2026-11-20T10-00-00-${ID}4.jsonl`), "");
    expect((await add(t, rollouts, "codex")).body.sessions).toBe(1);
  });

  it("is there after a restart, in settings.json beside what else it says", async () => {
    const home = await makeTempDir();
    const backup = await makeTempDir();
    await writeLog(backup, 2);
    await mkdir(join(home, "data"));
    const file = join(home, "data/settings.json");
    await writeFile(file, '{ "theme": "dark", "sources": { "codex": ["/elsewhere"] } }');
    const t = await start(home);
    await add(t, backup);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      theme: "dark",
      sources: { codex: ["/elsewhere"], "claude-code": [backup] },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await t.close();
    const again = await start(home);
    expect(await list(again)).toContainEqual({ path: backup, added: true, exists: true, sessions: 1 });
  });

  it("takes several at once, and loses none", async () => {
    const t = await start();
    const dirs = await Promise.all(Array.from({ length: 5 }, () => makeTempDir()));
    await Promise.all(dirs.map((dir) => add(t, dir)));
    expect((await list(t)).filter((one) => one.added).map((one) => one.path)).toEqual(dirs);
  });

  it("says what is wrong with a folder", async () => {
    const t = await start();
    const own = join(t.home, ".claude");
    await writeLog(own, 1);
    const backup = await makeTempDir();
    await writeLog(backup, 2);
    const file = join(backup, "file");
    await writeFile(file, "");
    const inData = join(t.kernel.config.dataDir, "x");
    await mkdir(inData, { recursive: true });
    const link = join(await makeTempDir(), "link");
    await symlink(own, link);
    for (const path of ["relative", join(backup, "nowhere"), file, "/a\0b"])
      expect(await add(t, path)).toMatchObject({ status: 422, body: { code: "NO_SUCH_FOLDER" } });
    expect(await add(t, inData)).toMatchObject({ status: 422, body: { code: "FOLDER_REFUSED" } });
    expect(await add(t, "")).toMatchObject({ status: 400 });
    expect(await add(t, backup, "notepad")).toMatchObject({ status: 400 });
    for (const path of [own, t.home, join(own, "projects"), join(own, "projects/-w-app"), link])
      expect(await add(t, path)).toMatchObject({ status: 409, body: { code: "FOLDER_KNOWN" } });
    await add(t, backup);
    for (const path of [backup, join(backup, "projects"), dirname(backup)])
      expect(await add(t, path), path).toMatchObject({ status: 409, body: { code: "FOLDER_KNOWN" } });
    expect((await list(t)).filter((one) => one.added)).toHaveLength(1);
  });
});

describe("a session in two places", () => {
  const id = `claude-code:${ID}1`;
  const findPath = async (t: TestKernel) => t.kernel.inject("importer").lastScan?.found.get(id)?.ref.path;

  it("is the longest log, whichever folder has it, and the scan reports it", async () => {
    const t = await start();
    const backup = await makeTempDir();
    const mine = await writeLog(join(t.home, ".claude"), 1, row("a"));
    const theirs = await writeLog(backup, 1, row("a") + row("b"));
    await add(t, backup);
    await t.send("POST", "/api/import", { all: true });
    expect(await findPath(t)).toBe(theirs);
    const { tools } = await t.json<{ tools: { tool: string; sessions: number; problems: object[] }[] }>("/api/scan");
    expect(tools.find((one) => one.tool === "claude-code")).toMatchObject({
      sessions: 1,
      problems: [{ path: mine, reason: `the same session as ${theirs}` }],
    });
    // The conversation goes on where it was held.
    await writeLog(join(t.home, ".claude"), 1, row("a") + row("b") + row("c"));
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 1 });
    expect(await findPath(t)).toBe(mine);
    expect((await t.json<{ messages: unknown[] }>(`/api/sessions/${id}/messages`)).messages).toHaveLength(3);
  });

  it("is the tool's own where both are alike: a later copy imports nothing, and is reported in one row", async () => {
    const t = await start();
    for (const n of [1, 2, 3]) await writeLog(join(t.home, ".claude"), n);
    await t.send("POST", "/api/import", { all: true });
    const backup = await makeTempDir();
    await cp(join(t.home, ".claude"), backup, { recursive: true });
    expect((await add(t, backup)).body.sessions).toBe(0);
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 0, unchanged: 3 });
    const { tools } = await t.json<{ tools: { tool: string; problems: { path: string; reason: string }[] }[] }>(
      "/api/scan",
    );
    expect(tools.find((one) => one.tool === "claude-code")?.problems).toEqual([
      {
        path: join(backup, "projects"),
        reason: `3 sessions are in ${join(t.home, ".claude/projects")} too; those count`,
      },
    ]);
  });
});

describe("what heeds added folders", () => {
  it("the rule about deleting logs", async () => {
    const t = await start();
    const backup = await makeTempDir();
    const path = await writeLog(backup, 2);
    await add(t, backup);
    await t.send("POST", "/api/import", { all: true });
    const answer = await t.send("DELETE", `/api/sessions/claude-code:${ID}2/source-file`);
    expect(answer).toMatchObject({ status: 200, body: { deleted: [path] } });
    await expect(stat(path)).rejects.toThrow();
  });

  it("sync: what is written there is imported automatically, until the folder is removed", async () => {
    const t = await start();
    const backup = await makeTempDir();
    await writeLog(backup, 2);
    await add(t, backup);
    await t.send("POST", "/api/import", { all: true });
    const sync = t.kernel.inject("sync");
    const places = () =>
      sync
        .status()
        .roots.filter((root) => root.watched)
        .map((root) => root.path);
    await expect.poll(places).toContain(join(backup, "projects"));
    await writeLog(backup, 2, row("find the needle") + row("b"), new Date());
    const count = async () =>
      (await t.json<{ session: { messageCount: number } }>(`/api/sessions/claude-code:${ID}2`)).session.messageCount;
    await expect.poll(count).toBe(2);
    const gone = await t.send("DELETE", `/api/sources?tool=claude-code&path=${encodeURIComponent(backup)}`);
    expect(gone.body).toEqual({ removed: true });
    expect(places()).not.toContain(join(backup, "projects"));
    expect(await count()).toBe(2); // what was imported stays
  });
});

describe("DELETE /sources", () => {
  it("removes what was added and nothing else", async () => {
    const t = await start();
    const backup = await makeTempDir();
    await writeLog(backup, 2);
    const query = (path: string) => `/api/sources?tool=claude-code&path=${encodeURIComponent(path)}`;
    expect(await t.send("DELETE", query(backup))).toMatchObject({ status: 404, body: { code: "FOLDER_UNKNOWN" } });
    await add(t, backup);
    await rm(backup, { recursive: true });
    expect(await list(t)).toContainEqual({ path: backup, added: true, exists: false, sessions: 1 });
    expect((await t.send("DELETE", query(backup))).status).toBe(200);
    expect((await list(t)).filter((one) => one.added)).toEqual([]);
    expect((await t.json<{ projects: object[] }>("/api/scan")).projects).toEqual([]);
  });
});

describe("`roots` of the configuration", () => {
  it("stand instead of the tool's own places", async () => {
    const home = await makeTempDir();
    const other = await makeTempDir();
    await writeLog(join(home, ".claude"), 1);
    await writeLog(other, 2);
    const config = { roots: { "claude-code": other } };
    const t = await createTestKernel({ home, plugins: [archive(), claude()], config });
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 1 });
    expect(await list(t)).toEqual([{ path: join(other, "projects"), added: false, exists: true, sessions: 1 }]);
  });
});

describe("assistants whose conversations cannot be read", () => {
  it("are listed with the reason where their folders are found, and in the doctor's report", async () => {
    const home = await makeTempDir();
    const amp = join(home, "amp-data");
    await mkdir(join(home, ".codeium/windsurf/cascade"), { recursive: true });
    await mkdir(amp);
    const t = await createTestKernel({ home, plugins: defaultPlugins(), env: { AMP_DATA_DIR: amp } });
    const { closed } = await t.json<{ closed: object[] }>("/api/sources");
    expect(closed).toEqual([
      { tool: "windsurf", label: "Windsurf", path: join(home, ".codeium/windsurf/cascade"), reason: "encrypted" },
      { tool: "amp", label: "Amp", path: amp, reason: "server" },
    ]);
    const { checks } = await t.json<{ checks: { name: string; status: string; detail: string }[] }>("/api/doctor");
    expect(checks.find((check) => check.name === "windsurf")).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("not imported: its conversations are encrypted"),
    });
    expect(checks.some((check) => check.name === "trae")).toBe(false);
  });
});
