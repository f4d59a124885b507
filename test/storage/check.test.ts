/** What the doctor asks SQLite: off the main thread, and whatever is wrong with a page is found. */
import { mkdtemp, open as openFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createTestKernel } from "sessarc/test";
import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type CheckJob, checkFile } from "../../core/storage/check-job.ts";
import { openDatabase } from "../../core/storage/database.ts";
import { BLOCK } from "../../core/storage/paged-file.ts";
import type { Blocks } from "../../core/storage/snapshot.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import { createPool, type Pool } from "../../core/workers/pool.ts";
import { openFiles } from "../open-files.ts";

const LARGE: Blocks = { from: 0, keep: 2 };
/** What a page is, by its first byte. */
const [TABLE, TABLE_ABOVE, INDEX, INDEX_ABOVE] = [13, 5, 10, 2];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-check-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});

/** As SQLite writes it: trees of two levels, an index, a table without rowids, long rows in pages of their own, pages that are free. */
let sound: Uint8Array;
beforeAll(async () => {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  db.exec(`pragma page_size = ${BLOCK}; pragma user_version = 1;
    create table a (n integer primary key, text text); create index a_text on a (text);
    create table pairs (left text, right text, primary key (left, right)) without rowid;
    create table gone (text text);
    with recursive k(n) as (select 1 union all select n + 1 from k where n < 400) insert into a select n, n || hex(zeroblob(150)) from k;
    insert into pairs select n || 'left', hex(zeroblob(200)) from a;
    insert into a values (1000, hex(zeroblob(60000)));
    insert into gone select hex(zeroblob(4000)) from a where n < 60; delete from gone;`);
  sound = db.export();
  db.close();
});

/** A file as versions without checksums for blocks wrote it: what is wrong with its pages is no damage of the disk. */
async function store(bytes: Uint8Array): Promise<void> {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(0, 68);
  copy.writeUInt32BE(crc32(copy), 68);
  await writeFile(join(dir, "catalog.db"), copy);
}

function counted() {
  const own = createPool({ threads: 0 });
  const jobs: CheckJob[] = [];
  const pool: Pool = {
    ...own,
    run(task, ...args) {
      const [job] = args;
      if (task.export === "checkFile") jobs.push(job as CheckJob);
      return own.run(task, ...args);
    },
  };
  return { pool, jobs };
}

function open(pool = counted().pool) {
  const db = openDatabase({ dir, blocks: LARGE, pool, onNotice: () => {} });
  onTestFinished(() => db.close());
  return db;
}

/** Where the first page of a kind begins, behind the first page, which is the schema's. */
function pageOf(bytes: Buffer, kind: number): number {
  for (let at = BLOCK; at < bytes.length; at += BLOCK)
    if (bytes[at] === kind && bytes.readUInt16BE(at + 3) > 2) return at;
  throw new Error(`no page of kind ${kind}`);
}
/** Where cell `n` of a leaf begins. */
const cell = (bytes: Buffer, page: number, n: number, head = 8) => page + bytes.readUInt16BE(page + head + n * 2);

const HARMS: [what: string, change: (bytes: Buffer) => void, said: RegExp][] = [
  [
    "rows in the wrong order",
    (bytes) => {
      const at = pageOf(bytes, TABLE) + 8;
      bytes
        .subarray(at, at + 4)
        .swap32()
        .swap16();
    },
    /^a: .*[Rr]owid \d+ out of order/,
  ],
  [
    "a branch of a table that leads nowhere",
    (bytes) => bytes.writeUInt32BE(99_999, pageOf(bytes, TABLE_ABOVE) + 8),
    /^a: /,
  ],
  [
    "an index that says other than its table",
    (bytes) => {
      const at = cell(bytes, pageOf(bytes, INDEX), 3) + 8;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
    },
    /^(a|pairs): .*(missing from index|out of order)/,
  ],
  [
    "a branch of an index that leads nowhere",
    (bytes) => bytes.writeUInt32BE(99_999, pageOf(bytes, INDEX_ABOVE) + 8),
    /^(a|pairs): /,
  ],
  [
    "a long row whose pages end too soon",
    (bytes) => {
      // The row of 120,000 bytes is the last of its table: each of its pages begins with the number of the next one.
      const next = (page: number) => bytes.readUInt32BE((page - 1) * BLOCK);
      const of = Array.from({ length: bytes.length / BLOCK }, (_, i) => i + 1);
      const chained = of.find((page) => next(page) === page + 1 && next(page + 1) === page + 2);
      if (!chained) throw new Error("no long row");
      bytes.writeUInt32BE(0, chained * BLOCK);
    },
    /^a: /,
  ],
  [
    "a list of free pages with another length",
    (bytes) => bytes.writeUInt32BE(bytes.readUInt32BE(36) + 1, 36),
    /[Ff]reelist/,
  ],
  [
    "a list of free pages that leads nowhere",
    (bytes) => bytes.writeUInt32BE(99_999, (bytes.readUInt32BE(32) - 1) * BLOCK),
    /[Ff]reelist/,
  ],
  ["a page that is nobody's", (bytes) => bytes.writeUInt32BE(bytes.length / BLOCK, 28), /never used/],
];

it.each(HARMS)("finds %s", async (_, change, said) => {
  const bytes = Buffer.from(sound);
  const more = said.source.includes("never") ? Buffer.alloc(BLOCK) : Buffer.alloc(0);
  const whole = Buffer.concat([bytes, more]);
  change(whole);
  await store(whole);
  const fault = await open().check();
  expect(fault).toMatch(said);
});

it("finds nothing where nothing is wrong, in the pool alone, with what was written since the snapshot", async () => {
  await store(sound);
  const { pool, jobs } = counted();
  const db = open(pool);
  await db.flush();
  await db.batch([["insert into a values (2000, 'later')"], ["delete from a where n < 200"]]);
  const read = vi.spyOn(db, "all");
  expect(await db.check()).toBeUndefined();
  expect(read).not.toHaveBeenCalled();
  const [job] = jobs;
  expect(job?.source?.size).toBeGreaterThan(sound.length / 2);
  // What is handed over is what changed, in memory of both: the rest is read from the file.
  expect(job?.changes.bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(job?.changes.bytes.length).toBeLessThan(sound.length / 2);
  await db.close();
  if (process.platform === "linux") expect(openFiles(dir)).toBe(0);
});

it("a snapshot that is replaced meanwhile is read to its end, and its file then closed", async () => {
  await store(sound);
  const own = createPool({ threads: 0 });
  const pool: Pool = {
    ...own,
    async run(task, ...args) {
      if (task.export === "checkFile") {
        await db.run("delete from pairs");
        await db.flush();
      }
      return own.run(task, ...args);
    },
  };
  const db = open(pool);
  await db.flush();
  expect(await db.check()).toBeUndefined();
  await db.close();
  if (process.platform === "linux") expect(openFiles(dir)).toBe(0);
});

it("a block that does not fit its checksum is told by the file's name", async () => {
  await store(sound);
  const db = open();
  await db.flush();
  await db.close();
  const file = join(dir, "catalog.db");
  const again = open();
  await again.ready;
  // Beneath the open file: as a disk loses it.
  const handle = await openFile(file, "r+");
  await handle.write(Buffer.from([0x58]), 0, 1, BLOCK * 6 + 500);
  await handle.close();
  await expect(again.check()).rejects.toMatchObject({
    code: "CATALOG_DAMAGED",
    message: expect.stringContaining(file),
  });
});

it("ends when nobody waits for it, and says nothing of what it did not see", async () => {
  await store(sound);
  const gone = new AbortController();
  const own = createPool({ threads: 0 });
  let ended: unknown;
  const pool: Pool = {
    ...own,
    async run(task, ...args) {
      gone.abort(new Error("the client is gone"));
      try {
        return await own.run(task, ...args);
      } catch (error) {
        ended = error;
        throw error;
      }
    },
  };
  const db = open(pool);
  await expect(db.check(gone.signal)).rejects.toThrow("the client is gone");
  expect(ended).toMatchObject({ code: "SHUTTING_DOWN" });
  await expect(db.check(AbortSignal.abort(new Error("gone before")))).rejects.toThrow("gone before");
});

it("closing ends it, too", async () => {
  await store(sound);
  const own = createPool({ threads: 0 });
  let closed: Promise<void> | undefined;
  const pool: Pool = {
    ...own,
    run(task, ...args) {
      closed = db.close();
      return own.run(task, ...args);
    },
  };
  const db = open(pool);
  await expect(db.check()).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  await closed;
});

it("a small catalogue is handed over whole", async () => {
  const db = openDatabase({ dir, onNotice: () => {} });
  onTestFinished(() => db.close());
  await db.run("create table t (n integer)");
  expect(await db.check()).toBeUndefined();
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const bytes = Buffer.from(sound);
  bytes.writeUInt32BE(bytes.readUInt32BE(36) + 1, 36);
  const changes = { size: bytes.length, numbers: [...Array(bytes.length / BLOCK).keys()], bytes };
  expect(await checkFile({ source: undefined, changes, stop })).toMatch(/[Ff]reelist/);
});

it("the doctor has the pool do it, and no turn of the service's own", async () => {
  const t = await createTestKernel({ plugins: [] });
  onTestFinished(() => t.close());
  const { pool, storage } = t.kernel;
  const tasks = vi.spyOn(pool, "run");
  const reads = vi.spyOn(storage.db, "all");
  const report: unknown = await (await t.kernel.fetch("/api/doctor")).json();
  expect(report).toHaveProperty(
    "checks",
    expect.arrayContaining([{ name: "catalogue", status: "ok", detail: expect.stringContaining("intact") }]),
  );
  expect(tasks.mock.calls.map(([task]) => task.export)).toEqual(["checkFile"]);
  expect(reads.mock.calls.filter(([sql]) => sql.includes("integrity_check"))).toEqual([]);
});
