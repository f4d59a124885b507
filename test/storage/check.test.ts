/** The doctor's check by SQLite: it finds whatever is wrong with a page, and delays no request. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { FORMAT, PAGE } from "../../core/storage/catalog-file.ts";
import { openDatabase } from "../../core/storage/database.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import { openInThread } from "../../core/storage/thread.ts";
import { openFiles } from "../open-files.ts";
import { threadEntry } from "./catalogue.ts";

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
  db.exec(`pragma page_size = ${PAGE}; pragma user_version = ${FORMAT};
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

const store = (bytes: Uint8Array) => writeFile(join(dir, "catalog.db"), bytes);

const entry = await threadEntry();
const KINDS = [["in this thread", openDatabase] as const, ["in its own thread", openInThread] as const];

function open(how: typeof openDatabase | typeof openInThread = openDatabase) {
  const db = how({ dir, entry, onNotice: () => {} });
  onTestFinished(() => db.close());
  return db;
}

/** Where the first page of a kind begins, behind the first page, which is the schema's. */
function toPage(bytes: Buffer, kind: number): number {
  for (let at = PAGE; at < bytes.length; at += PAGE)
    if (bytes[at] === kind && bytes.readUInt16BE(at + 3) > 2) return at;
  throw new Error(`no page of kind ${kind}`);
}
/** Where cell `n` of a leaf begins. */
const cell = (bytes: Buffer, page: number, n: number, head = 8) => page + bytes.readUInt16BE(page + head + n * 2);

const HARMS: [what: string, change: (bytes: Buffer) => void, said: RegExp][] = [
  [
    "rows in the wrong order",
    (bytes) => {
      const at = toPage(bytes, TABLE) + 8;
      bytes
        .subarray(at, at + 4)
        .swap32()
        .swap16();
    },
    /^a: .*[Rr]owid \d+ out of order/,
  ],
  [
    "a branch of a table that leads nowhere",
    (bytes) => bytes.writeUInt32BE(99_999, toPage(bytes, TABLE_ABOVE) + 8),
    /^a: /,
  ],
  [
    "an index that says other than its table",
    (bytes) => {
      const at = cell(bytes, toPage(bytes, INDEX), 3) + 8;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
    },
    /^(a|pairs): .*(missing from index|out of order)/,
  ],
  [
    "a branch of an index that leads nowhere",
    (bytes) => bytes.writeUInt32BE(99_999, toPage(bytes, INDEX_ABOVE) + 8),
    /^(a|pairs): /,
  ],
  [
    "a long row whose pages end too soon",
    (bytes) => {
      // The row of 120,000 bytes is the last of its table: each of its pages begins with the number of the next one.
      const next = (page: number) => bytes.readUInt32BE((page - 1) * PAGE);
      const of = Array.from({ length: bytes.length / PAGE }, (_, i) => i + 1);
      const chained = of.find((page) => next(page) === page + 1 && next(page + 1) === page + 2);
      if (!chained) throw new Error("no long row");
      bytes.writeUInt32BE(0, chained * PAGE);
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
    (bytes) => bytes.writeUInt32BE(99_999, (bytes.readUInt32BE(32) - 1) * PAGE),
    /[Ff]reelist/,
  ],
  ["an unused page", (bytes) => bytes.writeUInt32BE(bytes.length / PAGE, 28), /never used/],
];

it.each(HARMS)("finds %s", async (_, change, said) => {
  const bytes = Buffer.from(sound);
  const more = said.source.includes("never") ? Buffer.alloc(PAGE) : Buffer.alloc(0);
  const whole = Buffer.concat([bytes, more]);
  change(whole);
  await store(whole);
  const fault = await open().check();
  expect(fault).toMatch(said);
});

describe.each(KINDS)("a catalogue %s", (_, how) => {
  it("has no fault where nothing is wrong, with what is only in the log, and answers meanwhile", async () => {
    await store(sound);
    const db = open(how);
    await db.batch([["insert into a values (2000, 'later')"], ["delete from a where n < 200"]]);
    const [fault, row] = await Promise.all([db.check(), db.get("select text from a where n = 2000")]);
    expect(fault).toBeUndefined();
    expect(row).toEqual({ text: "later" });
    await db.close();
    if (process.platform === "linux") expect(openFiles(dir)).toBe(0);
  });

  it("is checked to the end though it is compacted meanwhile", async () => {
    await store(sound);
    const db = open(how);
    const checked = db.check();
    await db.run("delete from pairs");
    await db.compact();
    expect(await checked).toBeUndefined();
    await db.close();
    if (process.platform === "linux") expect(openFiles(dir)).toBe(0);
  });

  it("is not checked further when the caller is gone, or when it closes", async () => {
    await store(sound);
    const db = open(how);
    const gone = new AbortController();
    const checked = db.check(gone.signal);
    gone.abort(new Error("the client is gone"));
    await expect(checked).rejects.toThrow("the client is gone");
    await expect(db.check(AbortSignal.abort(new Error("gone before")))).rejects.toThrow("gone before");
    const last = db.check();
    const closed = db.close();
    await expect(last).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await closed;
    if (process.platform === "linux") expect(openFiles(dir)).toBe(0);
  });
});

it("is what the doctor asks for", async () => {
  const t = await createTestKernel({ plugins: [] });
  onTestFinished(() => t.close());
  const report: unknown = await (await t.kernel.fetch("/api/doctor")).json();
  expect(report).toHaveProperty(
    "checks",
    expect.arrayContaining([{ name: "catalogue", status: "ok", detail: expect.stringContaining("intact") }]),
  );
});
