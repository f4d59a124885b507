/** What the catalogue's own thread adds to the contract: the lock's owner is asked, errors arrive whole, and it may end. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "sessarc";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { acquireLock } from "../../core/storage/lock.ts";
import { type InThreadOptions, openInThread } from "../../core/storage/thread.ts";
import { makeTempDir } from "../_setup.ts";
import { CREATE, ids, pickMain, threadEntry } from "./catalogue.ts";

const entry = await threadEntry();

let dir: string;
beforeEach(async () => {
  dir = await makeTempDir();
});
function open(options: Partial<InThreadOptions> = {}) {
  const db = openInThread({ dir, entry, onNotice: () => {}, ...options });
  onTestFinished(() => db.close());
  return db;
}

it("answers many rows as they are, in order", async () => {
  const db = open();
  await db.run(
    "create table t (id integer, text text); with recursive n (i) as (select 0 union all select i + 1 from n where i < 2344) insert into t select i, 'row ' || i from n",
  );
  const rows = await db.all<{ id: number; text: string }>("select id, text from t order by id");
  expect(rows).toEqual(Array.from({ length: 2345 }, (_, id) => ({ id, text: `row ${id}` })));
  expect(await db.all("select id from t where id < 0")).toEqual([]);
});

it("stores bytes that are a part of a larger buffer", async () => {
  const db = open();
  await db.run("create table t (data blob)");
  const large = Buffer.from("before, the part, after");
  await db.batch([["insert into t values (?)", [large.subarray(8, 16)]]]);
  expect(await db.get("select data from t where data = ?", [large.subarray(8, 16)])).toEqual({
    data: new Uint8Array(Buffer.from("the part")),
  });
});

it("answers nothing of a query that fails after its first rows", async () => {
  const db = open();
  await db.run("create table t (text text)");
  await db.batch(Array.from({ length: 1_200 }, () => ["insert into t values ('{}')"]));
  await db.run("insert into t values ('not JSON')");
  await expect(db.all("select json_extract(text, '$') from t")).rejects.toThrow(/malformed JSON.*\(in: select/);
});

it("asks the holder of the lock only when the lock file is not that of this process", async () => {
  const lock = await acquireLock(dir);
  onTestFinished(() => lock.release());
  const prove = vi.fn(lock.prove);
  const db = open({ lock: { info: lock.info, prove } });
  await db.run(CREATE);
  expect(prove).not.toHaveBeenCalled();
  const path = join(dir, "lock.json");
  const own = await readFile(path, "utf8");
  await writeFile(path, own.replace(lock.info.token, "another"));
  prove.mockRejectedValue(new SessarcError("ARCHIVE_LOCKED", { pid: 1, url: undefined }));
  await expect(db.run("insert into t values (1, '')")).rejects.toMatchObject({
    code: "ARCHIVE_LOCKED",
    params: { pid: 1 },
  });
  await writeFile(path, own);
  await expect(db.run("insert into t values (2, '')")).rejects.toMatchObject({ code: "ARCHIVE_LOCKED" });
  expect(await ids(db)).toEqual([]);
});

it("gives back the lock when it is closed, after the log", async () => {
  const closed = vi.fn(async () => {
    expect(await readdir(dir)).toEqual(["catalog.db"]);
  });
  const db = open({ onClosed: closed });
  await db.run(CREATE);
  await db.close();
  expect(closed).toHaveBeenCalledTimes(1);
  await expect(db.all("select 1")).rejects.toThrow("The catalogue is closed");
  const again = open();
  expect(await ids(again)).toEqual([]);
  expect(again.stats.fileBytes).toBeGreaterThan(0);
});

it("says what is damaged, in every call, with its remedy", async () => {
  await writeFile(pickMain(dir), "not a database at all");
  const db = open();
  const wrong = { code: "CATALOG_DAMAGED", message: expect.stringContaining(pickMain(dir)), fix: expect.any(String) };
  await expect(db.ready).rejects.toMatchObject(wrong);
  await expect(db.all("select 1")).rejects.toMatchObject(wrong);
});

it("fails the calls of a thread that ends, and the next call finds what was acknowledged", async () => {
  const source = `
    import { parentPort } from "node:worker_threads";
    await import(${JSON.stringify(entry.href)});
    parentPort.on("message", ({ sql }) => sql === "select 'end'" && process.exit(7));
  `;
  const db = open({ entry: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
  await db.run(CREATE);
  await db.run("insert into t values (1, '')");
  const { generation } = db;
  const ended = { code: "WORKER_ENDED", message: expect.stringContaining("exited with 7") };
  await expect(db.all("select 'end'")).rejects.toMatchObject(ended);
  expect(db.generation).toBeGreaterThan(generation);
  expect(await ids(db)).toEqual([1]);
  await db.run("insert into t values (2, '')");
  expect(await ids(db)).toEqual([1, 2]);
});
