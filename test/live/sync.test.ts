import fs, { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import type { DoctorCheck, Kernel } from "sessarc";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import git from "../../plugins/git/index.ts";
import live, { type SyncStatus, type SyncTimes } from "../../plugins/live/index.ts";
import { createRoots } from "../../plugins/live/roots.ts";
import opencode from "../../plugins/opencode/index.ts";
import { makeTempDir } from "../_setup.ts";
import { PLAIN, T0, user, writeDatabase } from "../fixtures/opencode/build.ts";
import { countingGit, describeGit, makeRepo } from "../git/_repo.ts";
import { createTestKernel, type TestKernel, type TestKernelOptions } from "../kernel.ts";
import { prompt, reply } from "./_sse.ts";

const QUICK = { startMs: 10, quietMs: 40, newQuietMs: 40, maxWaitMs: 300, rootsMs: 50 };
let home: string;
let t: TestKernel;
let scans: number;

const key = (n: number) => `aaaaaaaa-0000-4000-8000-00000000000${n}`;
const toId = (n: number) => `claude-code:${key(n)}`;
function toLog(n: number): string {
  const path = join(home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}
async function start(config: TestKernelOptions["config"] = {}, times: Partial<SyncTimes> = QUICK): Promise<void> {
  const counted = claude();
  const { scan } = counted.adapter;
  counted.adapter.scan = (root, env) => {
    scans++;
    return scan(root, env);
  };
  t = await createTestKernel({ home, plugins: [archive(), counted, opencode(), live({ sync: times })], config });
}
/** Resolves with the first status after a run for which `test` holds. */
function until(test: (status: SyncStatus) => boolean | Promise<boolean>): Promise<void> {
  return new Promise((resolve) => {
    const off = t.kernel.hooks.hook("sync:changed", async (status) => {
      if (!(await test(status))) return;
      off();
      resolve();
    });
  });
}
/** Messages of its text, wherever they count: logs that say the same are forks of each other. */
const count = async (id: string) => {
  const row = await t.kernel.inject("archive").find(id);
  return row ? row.messageCount + row.copiedMessages : 0;
};
const importAll = () => t.send("POST", "/api/import", { all: true });
const sync = async () => (await t.json<{ sync: SyncStatus }>("/api/status")).sync;
const settled = () => until((status) => status.lastAt !== null && status.pending === 0);

beforeEach(async () => {
  home = await makeTempDir();
  scans = 0;
  writeFileSync(toLog(1), prompt(0) + reply(1));
});

describe("keeping the archive up to date", () => {
  it("takes in a new session without the rest that follows a run", async () => {
    // After its first run the service rests for the longest time there is, a minute.
    await start({}, { ...QUICK, rest: 1e9 });
    const first = settled();
    await importAll();
    await first;
    const there = until(async () => (await count(toId(2))) === 2);
    writeFileSync(toLog(2), prompt(0) + reply(1));
    await there;
  });

  it("takes in a log whose first row says nothing at its first message, without that rest", async () => {
    await start({}, { ...QUICK, rest: 1e9 });
    const first = settled();
    await importAll();
    await first;
    const looked = settled();
    const snapshot = { type: "file-history-snapshot", messageId: "x", snapshot: {}, isSnapshotUpdate: false };
    writeFileSync(toLog(2), `${JSON.stringify(snapshot)}\n`);
    await looked;
    const there = until(async () => (await count(toId(2))) === 1);
    appendFileSync(toLog(2), prompt(0, "asked at last"));
    await there;
  });

  it("waits for the first import, then takes in what is written and what is new", async () => {
    await start();
    expect(await sync()).toMatchObject({ mode: "off", roots: [] });
    const first = settled();
    await importAll();
    await first;
    expect(await sync()).toMatchObject({ mode: "watching", pending: 0, nextAt: expect.any(String) });
    const grown = until(async () => (await count(toId(1))) === 3);
    appendFileSync(toLog(1), prompt(2));
    await grown;
    const added = until(async () => (await count(toId(2))) === 1);
    writeFileSync(toLog(2), prompt(0));
    await added;
  });

  it("takes in what is written where no events come, says that it polls, and watches again when events come", async () => {
    // Written through another name of the same file: the folder that is watched hears nothing, as on a share. It would hear of the
    // name being made, maybe only after what is written first.
    const elsewhere = join(home, "elsewhere");
    linkSync(toLog(1), elsewhere);
    await start();
    const first = settled();
    await importAll();
    await first;
    expect((await sync()).mode).toBe("watching");
    const grown = until(async () => (await count(toId(1))) === 3);
    appendFileSync(elsewhere, prompt(2));
    await grown;
    expect((await sync()).mode).toBe("polling");
    const more = until(async () => (await count(toId(1))) === 4);
    appendFileSync(elsewhere, prompt(3));
    await more;
    // Told of again: it goes back to events. What came unheard meanwhile would have kept it.
    const watching = until(({ mode }) => mode === "watching");
    appendFileSync(toLog(1), prompt(4));
    await watching;
    expect(await count(toId(1))).toBe(5);
    const again = until(({ mode }) => mode === "polling");
    appendFileSync(elsewhere, prompt(5));
    await again;
  });

  it.skipIf(process.platform !== "linux")(
    "a system without a watch left: folders and databases are checked, and status and doctor report it",
    async () => {
      const { watch } = fs;
      const set = (to: typeof watch) => {
        fs.watch = to;
        syncBuiltinESMExports();
      };
      onTestFinished(() => set(watch));
      set(() => {
        throw Object.assign(new Error("EMFILE: too many open files, watch"), { code: "EMFILE" });
      });
      const database = join(home, ".local/share/opencode/opencode.db");
      mkdirSync(dirname(database), { recursive: true });
      await writeDatabase(database, [PLAIN]);
      await start({}, { ...QUICK, rootsMs: 60_000 }); // found by polling, not by the other looks
      const first = settled();
      await importAll();
      await first;
      const { mode, roots } = await sync();
      expect(mode).toBe("polling");
      expect(roots.filter(({ watched }) => watched)).toEqual(
        ["claude-code", "opencode"].map((tool) => ({
          tool,
          path: expect.any(String),
          watched: true,
          polling: {
            reason: expect.stringMatching(/^EMFILE/),
            recentMs: expect.any(Number),
            allMs: expect.any(Number),
          },
        })),
      );
      const { checks } = await t.json<{ checks: DoctorCheck[] }>("/api/doctor");
      expect(checks.filter(({ name }) => name === "changes of logs")).toHaveLength(2);
      const grown = until(async () => (await count(toId(1))) === 3);
      appendFileSync(toLog(1), prompt(2));
      await grown;
      const before = await count("opencode:ses_plain");
      const more = until(async () => (await count("opencode:ses_plain")) === before + 1);
      const messages = [...PLAIN.messages, user("msg_4", T0 + 10_000, "more")];
      await writeDatabase(database, [{ ...PLAIN, updated: Date.now() + 20_000, messages }]);
      await more;
      const failed = expect.objectContaining({ code: "WATCH_FAILED" });
      expect(t.errors.splice(0)).toEqual([failed, failed]); // the folder and the database
    },
  );

  it.each([600_000, 86_400_000])("goes on when the clock is set back by %i ms", async (back) => {
    await start();
    const first = settled();
    await importAll();
    await first;
    const real = Date.now;
    Date.now = () => real() - back;
    onTestFinished(() => {
      Date.now = real;
    });
    for (const n of [2, 3, 4]) {
      const grown = until(async () => (await count(toId(1))) > n);
      appendFileSync(toLog(1), prompt(n));
      await grown;
    }
    const added = until(async () => (await count(toId(2))) === 1);
    writeFileSync(toLog(2), prompt(0));
    utimesSync(toLog(2), Date.now() / 1000, Date.now() / 1000);
    await added;
  });

  it("watches a place again that was removed and recreated", async () => {
    await start();
    const first = settled();
    await importAll();
    await first;
    const isWatched = async () => (await sync()).roots.some(({ path, watched }) => path === projects && watched);
    const projects = join(home, ".claude/projects");
    await expect.poll(isWatched).toBe(true);
    const there = until(async () => (await count(toId(2))) === 1);
    rmSync(projects, { recursive: true });
    writeFileSync(toLog(2), prompt(0));
    await there;
    const grown = until(async () => (await count(toId(2))) === 3);
    appendFileSync(toLog(2), prompt(2) + reply(3));
    await grown;
  });

  it("a log its tool deleted, one with its folder, and all with their root are missing at once, and none when they are back", async () => {
    mkdirSync(join(home, ".claude/projects/-w-other"), { recursive: true });
    const other = join(home, ".claude/projects/-w-other", `${key(3)}.jsonl`);
    const write = () => {
      for (const path of [toLog(1), toLog(2)]) writeFileSync(path, prompt(0) + reply(1));
      mkdirSync(dirname(other), { recursive: true });
      writeFileSync(other, prompt(0));
    };
    write();
    await start();
    const first = settled();
    await importAll();
    await first;
    const gone = async () =>
      (await t.kernel.storage.db.all<{ id: string }>("select id from session where missing = 1 order by id")).map(
        ({ id }) => id,
      );
    const soon = (ids: string[]) => expect.poll(gone).toEqual(ids);
    rmSync(toLog(1));
    await soon([toId(1)]);
    rmSync(dirname(other), { recursive: true });
    await soon([toId(1), toId(3)]);
    write();
    await soon([]);
    rmSync(join(home, ".claude"), { recursive: true });
    await soon([toId(1), toId(2), toId(3)]);
    write();
    await soon([]);
    // A folder with another name: there before the old name is known to be gone, or after.
    const named = join(home, ".claude/projects/-w-named");
    renameSync(dirname(other), named);
    const at = async () => (await t.kernel.inject("archive").get(toId(3))).source.path;
    await expect.poll(at).toBe(join(named, `${key(3)}.jsonl`));
    await soon([]);
  });

  it("a place that goes while it is checked is no fault, and the others are watched", async () => {
    t = await createTestKernel({ home, plugins: [claude(), codex()] });
    const [gone, other] = [join(home, ".claude/projects"), join(home, ".codex/sessions")];
    mkdirSync(other, { recursive: true });
    const kernel = Object.assign(Object.create(t.kernel) as Kernel, {
      watch(path: string, onChange: Parameters<Kernel["watch"]>[1]) {
        if (path === gone) rmSync(gone, { recursive: true, force: true });
        return t.kernel.watch(path, onChange);
      },
    });
    const roots = createRoots(kernel, () => {}, 60_000);
    await roots.check();
    const watched = roots.list().flatMap((root) => (root.watched ? [root.path] : []));
    await roots.stop();
    expect(watched).toEqual([other]);
  });

  it("P3: a log it knows costs a stat, no listing of the others", async () => {
    // Places are checked as seldom as by default: every 50 ms, an event that a busy machine is late with counts as one that never came.
    await start({}, { ...QUICK, rootsMs: 60_000 });
    const first = settled();
    await importAll();
    await first;
    // The import's own, and one once the watches stood: of all that was written before they did.
    expect(scans).toBe(3);
    const grown = until(async () => (await count(toId(1))) === 3);
    appendFileSync(toLog(1), prompt(2));
    await grown;
    expect(scans).toBe(3);
  });

  it("a session that never rests is imported all the same", async () => {
    await start();
    const first = settled();
    await importAll();
    await first;
    let n = 2;
    const writing = setInterval(() => appendFileSync(toLog(1), prompt(n++)), 10);
    try {
      await until(async () => (await count(toId(1))) > 10);
    } finally {
      clearInterval(writing);
    }
  });

  it("takes in logs that grow in many folders at once", async () => {
    const folders = Array.from({ length: 30 }, (_, i) => `-w-p${i}`);
    const path = (folder: string, i: number) =>
      join(home, ".claude/projects", folder, `bbbbbbbb-0000-4000-8000-${String(i).padStart(12, "0")}.jsonl`);
    folders.forEach((folder, i) => {
      mkdirSync(dirname(path(folder, i)), { recursive: true });
      writeFileSync(path(folder, i), prompt(0));
    });
    await start();
    const first = settled();
    await importAll();
    await first;
    const counts = () =>
      Promise.all(folders.map((_, i) => count(`claude-code:bbbbbbbb-0000-4000-8000-${String(i).padStart(12, "0")}`)));
    const grown = until(async () => (await counts()).every((n) => n === 4));
    for (let n = 1; n < 4; n++)
      for (const [i, folder] of folders.entries()) appendFileSync(path(folder, i), n % 2 ? reply(n) : prompt(n));
    await grown;
  });

  it("a storm of 1,000 changes is few runs", async () => {
    const names = Array.from({ length: 200 }, (_, i) => `cccccccc-0000-4000-8000-${String(i).padStart(12, "0")}`);
    const path = (i: number) => join(home, ".claude/projects", `-w-q${i % 20}`, `${names[i]}.jsonl`);
    names.forEach((_, i) => {
      mkdirSync(dirname(path(i)), { recursive: true });
      writeFileSync(path(i), prompt(0));
    });
    await start();
    const first = settled();
    await importAll();
    await first;
    let runs = 0;
    const off = t.kernel.hooks.hook("sync:changed", () => void runs++);
    const whole = async () => {
      const { db } = t.kernel.storage;
      const row = await db.get<{ n: number }>(
        "select count(*) as n from session where message_count = 6 and id like '%:cccccccc%'",
      );
      return row?.n === names.length;
    };
    const grown = until(whole);
    const before = scans;
    for (let n = 1; n < 6; n++) for (const i of names.keys()) appendFileSync(path(i), prompt(n));
    await grown;
    off();
    expect(runs).toBeLessThanOrEqual(10);
    expect(scans - before).toBeLessThanOrEqual(1);
  });

  it("leaves alone while paused, and catches up when resumed", async () => {
    await start();
    const first = settled();
    await importAll();
    await first;
    const { body } = await t.send<SyncStatus>("POST", "/api/sync/pause");
    expect(body.mode).toBe("paused");
    appendFileSync(toLog(1), prompt(2));
    await expect.poll(async () => (await sync()).pending).toBeGreaterThan(0);
    expect(await count(toId(1))).toBe(2);
    const grown = until(async () => (await count(toId(1))) === 3);
    await t.send("POST", "/api/sync/resume");
    await grown;
    expect((await sync()).mode).toBe("watching");
  });

  it("sees a root that appears later, and a database that changes", async () => {
    await start();
    const first = settled();
    await importAll();
    await first;
    const path = join(home, ".local/share/opencode/opencode.db");
    const appeared = until(async () => (await count("opencode:ses_plain")) > 0);
    // Its sessions' own times count: one from before the first import is left out.
    await writeDatabase(path, [{ ...PLAIN, updated: Date.now() + 10_000 }]);
    await appeared;
    const before = await count("opencode:ses_plain");
    const more = {
      ...PLAIN,
      updated: Date.now() + 20_000,
      messages: [...PLAIN.messages, user("msg_4", T0 + 10_000, "more")],
    };
    const grown = until(async () => (await count("opencode:ses_plain")) === before + 1);
    await writeDatabase(path, [more]);
    await grown;
  });

  it("a root that appears is followed at once, whenever all roots are checked next", async () => {
    await start({}, { ...QUICK, rootsMs: 3_600_000 });
    const first = settled();
    await importAll();
    await first;
    const appeared = until(async () => (await count("opencode:ses_plain")) > 0);
    await writeDatabase(join(home, ".local/share/opencode/opencode.db"), [{ ...PLAIN, updated: Date.now() + 10_000 }]);
    await appeared;
  });

  it("an archive that is empty after an import takes in the first session, in this run and after a restart", async () => {
    rmSync(toLog(1));
    await start();
    await importAll();
    expect((await sync()).mode).toBe("watching");
    const taken = until(async () => (await count(toId(1))) === 2);
    writeFileSync(toLog(1), prompt(0) + reply(1));
    await taken;
    await t.send("DELETE", `/api/sessions/${toId(1)}`);
    await t.send("DELETE", `/api/projects/${(await t.json<{ id: string }[]>("/api/projects"))[0]?.id}`);
    await t.close();
    await start();
    const again = until(async () => (await count(toId(2))) === 1);
    writeFileSync(toLog(2), prompt(0));
    await again;
  });

  it("leaves out old logs that the user did not import, unless told to", async () => {
    writeFileSync(toLog(3), prompt(0));
    utimesSync(toLog(3), new Date("2026-01-01"), new Date("2026-01-01"));
    await start();
    const first = settled();
    await t.kernel.inject("importer").scan();
    await t.send("POST", "/api/import", { sessions: [toId(1)] });
    await first;
    expect(await count(toId(3))).toBe(0);
    await t.close();
    await start({ autoImport: true });
    await until(async () => (await count(toId(3))) === 1);
  });

  it("does nothing when it is switched off", async () => {
    await start({ sync: false });
    await importAll();
    expect(await sync()).toMatchObject({ mode: "off", roots: [] });
  });
});

describeGit("commits of a repository", () => {
  it("are counted in advance: the first list of projects starts one status and nothing else", async () => {
    const repo = makeRepo();
    repo.commit("one");
    repo.commit("two");
    writeFileSync(toLog(1), prompt(0).replaceAll('"/w/app"', JSON.stringify(repo.root)));
    const { binary, calls } = countingGit();
    t = await createTestKernel({ home, plugins: [archive(), claude(), git({ binary }), live({ sync: QUICK })] });
    await importAll();
    // The import asks for root commits; the count comes after the status.
    const counts = () => calls().lastIndexOf("rev-list") > calls().indexOf("status") && calls().includes("status");
    await expect.poll(counts).toBe(true);
    const before = calls().length;
    expect(await t.json("/api/projects")).toMatchObject([{ path: repo.root, git: { commitCount: 2 } }]);
    expect(calls().slice(before)).toEqual(["status"]);
  });
});
