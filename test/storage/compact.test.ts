/** The room of deleted rows is given back: nothing else changes, whatever is written or killed meanwhile. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { openInThread } from "../../core/storage/thread.ts";
import type { Database } from "../../core/storage/types.ts";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { childScript } from "../scripts.ts";
import { threadEntry } from "./catalogue.ts";
import { fill, LEFT } from "./compact-fill.ts";

const entry = await threadEntry();
const KINDS: [where: string, open: (dir: string) => Database][] = [
  ["in this thread", (dir) => openDatabase({ dir, onNotice: () => {} })],
  ["in its own thread", (dir) => openInThread({ dir, entry, onNotice: () => {} })],
];

describe.each(KINDS)("a catalogue %s", (_, open) => {
  it("is smaller afterwards and says the same, rows and numbers of rows, views and triggers", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await fill(db);
    const all = async (of: typeof db) => [
      await of.all("select rowid, * from t order by rowid"),
      await of.all("select * from w order by k"),
      await of.all("select * from v"),
      await of.all("select type, name, sql from sqlite_master order by name"),
    ];
    const before = await all(db);
    const said = await db.compact();
    expect(said.after * 2).toBeLessThan(said.before);
    expect(await all(db)).toEqual(before);
    expect(await db.get("pragma integrity_check")).toEqual({ integrity_check: "ok" });
    // Numbers once given are not given again, and the trigger still runs.
    await db.run("insert into counted (x) values ('new')");
    expect(await db.get("select max(n) as n from counted")).toEqual({ n: 11 });
    await db.run("insert into t values ('late', 'x')");
    expect(await db.get("select count(*) as n from w where k = 'late'")).toEqual({ n: 1 });
    await db.close();
    const again = open(dir);
    expect(await again.get("select count(*) as n from t")).toEqual({ n: LEFT + 1 });
    await again.close();
  });

  it("loses nothing of what is written meanwhile", async () => {
    const dir = await makeTempDir();
    const db = open(dir);
    await fill(db);
    let written = 0;
    let busy = true;
    const writing = (async () => {
      while (busy) await db.run("insert into t values (?, 'meanwhile')", [`m${written++}`]);
    })();
    await db.compact();
    busy = false;
    await writing;
    const count = () => db.get("select count(*) as n from t where x = 'meanwhile'");
    expect(await count()).toEqual({ n: written });
    await db.close();
    const again = open(dir);
    expect(await again.get("select count(*) as n from t")).toEqual({ n: LEFT + written });
    await again.close();
  });
});

it("is whole when the process is killed before any of its changes on the disk", async () => {
  const script = await childScript("storage/compact-child");
  const kills: number[] = [];
  for (let nth = 1; ; nth += LONG ? 1 : 5) {
    const dir = await makeTempDir();
    const job = spawn(process.execPath, [...script, dir, String(nth)], { stdio: ["ignore", "ignore", "inherit"] });
    const [code, signal] = (await once(job, "exit")) as [number | null, string | null];
    const db = openDatabase({ dir, onNotice: () => {} });
    expect(await db.get("select count(*) as n from t"), `killed before change ${nth}`).toEqual({ n: LEFT });
    expect(await db.get("pragma integrity_check")).toEqual({ integrity_check: "ok" });
    await db.close();
    if (signal !== "SIGKILL") {
      expect(code).toBe(0);
      break;
    }
    kills.push(nth);
  }
  expect(kills.length).toBeGreaterThan(1);
});

it("is done where the only table that counted is gone", async () => {
  const db = openDatabase({ dir: await makeTempDir(), onNotice: () => {} });
  await db.run("create table counted (n integer primary key autoincrement); insert into counted values (1)");
  await db.run("drop table counted");
  await db.run("create table t (x)");
  await db.compact();
  expect(await db.all("select name from sqlite_master where name not like 'sqlite_%'")).toEqual([{ name: "t" }]);
  await db.close();
});

it("is given up when the catalogue is closed meanwhile, and nothing has changed", async () => {
  const dir = await makeTempDir();
  let closing: Promise<void> | undefined;
  const room = async () => {
    closing = db.close();
    return Number.MAX_SAFE_INTEGER;
  };
  const db = openDatabase({ dir, room });
  await fill(db);
  await expect(db.compact()).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  await closing;
  const again = openDatabase({ dir });
  expect(await again.get("select count(*) as n from t")).toEqual({ n: LEFT });
  await again.close();
});

it("refuses where nothing may be written, and where the disk has no room for another catalogue", async () => {
  const dir = await makeTempDir();
  const owner = openDatabase({ dir, room: async () => 4_096 });
  await fill(owner);
  await expect(owner.compact()).rejects.toMatchObject({ code: "STORAGE_FULL" });
  expect(await owner.get("select count(*) as n from t")).toEqual({ n: LEFT });
  await owner.close();
  const reader = openDatabase({ dir, readOnly: true });
  await expect(reader.compact()).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
  await reader.close();
});
