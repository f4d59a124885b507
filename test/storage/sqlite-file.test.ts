import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteFile, sqliteVersion } from "../../core/storage/sqlite-file.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import { parseWal } from "../../core/storage/wal.ts";
import { diffFrames, makeWal } from "./wal-bytes.ts";

const PAGE = 4096;
let dir: string;
let path: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-sqlite-"));
  path = join(dir, "other.db");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** States of one database, one after each statement group. */
async function states(...groups: string[]): Promise<Uint8Array[]> {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  const out = groups.map((group) => {
    db.run(group);
    return db.export();
  });
  db.close();
  return out;
}

const insert = (from: number, to: number) =>
  `insert into t select value, printf('row %d ', value) || hex(zeroblob(200)) from generate(${from}, ${to})`.replace(
    /from generate\((\d+), (\d+)\)/,
    "from (with recursive g(value) as (select $1 union all select value + 1 from g where value < $2) select value from g)",
  );
const CREATE = "create table t (id integer primary key, text text)";
const count = async () => {
  const file = await openSqliteFile(path);
  const [row] = file.all<{ n: number }>("select count(*) as n from t");
  expect(file.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
  file.close();
  return row?.n;
};

describe("openSqliteFile", () => {
  it("reads values of every type, tables and columns", async () => {
    const [image] = await states(
      "create table t (a, b, c, d, e); create view v as select a from t; insert into t values (1, 'zwei', 2.5, x'0aff', null), (9007199254740993, '', -0.5, x'', 'x')",
    );
    await writeFile(path, image as Uint8Array);
    const file = await openSqliteFile(path);
    expect(file.tables()).toEqual(["t", "v"]);
    expect(file.columns("t")).toEqual(["a", "b", "c", "d", "e"]);
    expect(file.columns("none")).toEqual([]);
    const rows = file.all<Record<string, unknown>>("select * from t order by rowid");
    expect(rows[0]).toEqual({ a: 1, b: "zwei", c: 2.5, d: new Uint8Array([10, 255]), e: null });
    expect(typeof rows[1]?.a).toBe("number");
    expect(file.all("select a from t where b = ?", ["zwei"])).toEqual([{ a: 1 }]);
    expect(() => file.all("select * from absent")).toThrow(/no such table/);
    file.close();
  });

  it("answers the same question again and inside itself, also after one that was left half-way", async () => {
    const [bytes] = await states(`${CREATE}; ${insert(1, 4)}`);
    await writeFile(path, bytes as Uint8Array);
    const file = await openSqliteFile(path);
    const above = "select id from t where id > ? order by id";
    const ids = (after: number) => Array.from(file.iterate<{ id: number }>(above, [after]), (row) => row.id);
    const pairs: number[][] = [];
    for (const { id } of file.iterate<{ id: number }>(above, [2])) pairs.push([id, ...ids(id)]);
    expect(pairs).toEqual([[3, 4], [4]]);
    for (const _ of file.iterate(above, [0])) break;
    expect([ids(0), ids(3), ids(0)]).toEqual([[1, 2, 3, 4], [4], [1, 2, 3, 4]]);
    file.close();
  });

  it("stops early without reading the rest", async () => {
    const [image] = await states(`${CREATE}; ${insert(1, 500)}`);
    await writeFile(path, image as Uint8Array);
    const file = await openSqliteFile(path);
    for (const row of file.iterate<{ id: number }>("select id from t order by id")) if (row.id === 3) break;
    expect(file.all("select count(*) as n from t")).toEqual([{ n: 500 }]);
    file.close();
  });

  for (const bigEndian of [false, true]) {
    it(`reads what stands only in the log (${bigEndian ? "big" : "little"}-endian checksums)`, async () => {
      const [empty, full] = (await states(CREATE, insert(1, 300))) as [Uint8Array, Uint8Array];
      await writeFile(path, empty);
      expect(await count()).toBe(0);
      await writeFile(`${path}-wal`, makeWal(diffFrames(empty, full, PAGE), { pageSize: PAGE, bigEndian }));
      expect(await count()).toBe(300);
    });
  }

  it("reads up to the last commit: an open transaction, a torn frame and a flipped byte end the log", async () => {
    const [a, b, c] = (await states(`${CREATE}; ${insert(1, 10)}`, insert(11, 100), insert(101, 200))) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const first = diffFrames(a, b, PAGE);
    const second = diffFrames(b, c, PAGE);
    const both = makeWal([...first, ...second], { pageSize: PAGE });
    await writeFile(path, a);

    await writeFile(`${path}-wal`, both);
    expect(await count()).toBe(200);
    await writeFile(`${path}-wal`, both.subarray(0, both.length - 1));
    expect(await count()).toBe(100);
    const flipped = Buffer.from(both);
    flipped.write("x", 32 + first.length * (24 + PAGE) + 24 + 100);
    await writeFile(`${path}-wal`, flipped);
    expect(await count()).toBe(100);
    await writeFile(
      `${path}-wal`,
      makeWal([...first, ...second.map((f) => ({ ...f, commit: 0 }))], { pageSize: PAGE }),
    );
    expect(await count()).toBe(100);
  });

  it("ignores frames of an earlier round of the log", async () => {
    const [a, b, c] = (await states(`${CREATE}; ${insert(1, 10)}`, insert(11, 100), insert(101, 200))) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const old = makeWal(diffFrames(a, c, PAGE), { pageSize: PAGE, salts: [1, 2] });
    const fresh = makeWal(diffFrames(a, b, PAGE), { pageSize: PAGE, salts: [2, 9] });
    fresh.copy(old);
    await writeFile(path, a);
    await writeFile(`${path}-wal`, old);
    expect(await count()).toBe(100);
  });

  it("follows a log that shrinks the database", async () => {
    const [big, small] = (await states(`${CREATE}; ${insert(1, 2000)}`, "delete from t where id > 5; vacuum")) as [
      Uint8Array,
      Uint8Array,
    ];
    expect(small.length).toBeLessThan(big.length);
    await writeFile(path, big);
    await writeFile(`${path}-wal`, makeWal(diffFrames(big, small, PAGE), { pageSize: PAGE }));
    expect(await count()).toBe(5);
  });

  it("leaves no trace beside the source", async () => {
    const [a, b] = (await states(CREATE, insert(1, 50))) as [Uint8Array, Uint8Array];
    const wal = makeWal(diffFrames(a, b, PAGE), { pageSize: PAGE });
    await writeFile(path, a);
    await writeFile(`${path}-wal`, wal);
    await count();
    expect((await readdir(dir)).sort()).toEqual(["other.db", "other.db-wal"]);
    expect(Buffer.compare(await readFile(path), a)).toBe(0);
    expect(Buffer.compare(await readFile(`${path}-wal`), wal)).toBe(0);
  });

  it("opens an empty file as a database without tables", async () => {
    await writeFile(path, "");
    const file = await openSqliteFile(path);
    expect(file.tables()).toEqual([]);
    file.close();
  });

  it("names the limit and the remedy when a file is too large", async () => {
    const [image] = await states(`${CREATE}; ${insert(1, 300)}`);
    await writeFile(path, image as Uint8Array);
    const error = await openSqliteFile(path, { limitBytes: 10_000 }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "SOURCE_TOO_LARGE", params: { limit: 10_000 } });
    expect((error as { fix: string }).fix).toMatch(/Node 22/);
  });

  it("says what is missing, what is not a database, and what is broken inside", async () => {
    await expect(openSqliteFile(path)).rejects.toMatchObject({ code: "SOURCE_MISSING" });
    await expect(sqliteVersion(path)).rejects.toMatchObject({ code: "SOURCE_MISSING" });
    await writeFile(path, "this is a text file, not a database, and long enough to have a header");
    await expect(openSqliteFile(path)).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });

    const [image] = (await states(`${CREATE}; ${insert(1, 3000)}`)) as [Uint8Array];
    image.fill(0xee, PAGE, image.length);
    await writeFile(path, image);
    const file = await openSqliteFile(path);
    expect(() => file.all("select * from t")).toThrow(expect.objectContaining({ code: "SOURCE_DAMAGED" }));
    file.close();
  });

  it("refuses a file with a transaction half written into it", async () => {
    const [image] = (await states(CREATE)) as [Uint8Array];
    await writeFile(path, image);
    await writeFile(`${path}-journal`, Buffer.from("d9d505f920a163d700000001", "hex"));
    await expect(openSqliteFile(path)).rejects.toMatchObject({ code: "SOURCE_BUSY" });
    await writeFile(`${path}-journal`, Buffer.alloc(512));
    expect(await count()).toBe(0);
  });

  it("stays consistent while the other program writes and checkpoints", async () => {
    // 40 states; each has n rows and the sum of their ids in one other table, so a mixture of two states is seen.
    const groups = Array.from(
      { length: 40 },
      (_, i) => `${insert(i * 50 + 1, i * 50 + 50)}; update s set n = ${(i + 1) * 50}`,
    );
    const all = await states(`${CREATE}; create table s (n integer); insert into s values (0)`, ...groups);
    await writeFile(path, all[0] as Uint8Array);
    let stop = false;
    const writer = (async () => {
      for (let round = 1; round < all.length && !stop; round++) {
        const from = all[round - 1] as Uint8Array;
        const to = all[round] as Uint8Array;
        await writeFile(
          `${path}-wal`,
          makeWal(diffFrames(from, to, PAGE), { pageSize: PAGE, salts: [round, round * 7] }),
        );
        await writeFile(path, to, { flag: "r+" });
      }
    })();
    let reads = 0;
    while (reads < 12) {
      const file = await openSqliteFile(path).catch((error: { code: string }) => {
        // Nothing is returned: what an expectation answers is no file.
        expect(error.code).toBe("SOURCE_BUSY");
      });
      reads++;
      if (!file) continue;
      const [row] = file.all<{ n: number; rows: number }>("select n, (select count(*) from t) as rows from s");
      expect(row?.rows).toBe(row?.n);
      file.close();
    }
    stop = true;
    await writer;
  });
});

describe("sqliteVersion", () => {
  it("changes with the file and with the log, and only then", async () => {
    const [a, b] = (await states(CREATE, insert(1, 50))) as [Uint8Array, Uint8Array];
    await writeFile(path, a);
    const first = await sqliteVersion(path);
    expect(await sqliteVersion(path)).toBe(first);
    await writeFile(`${path}-wal`, makeWal(diffFrames(a, b, PAGE), { pageSize: PAGE }));
    const second = await sqliteVersion(path);
    expect(second).not.toBe(first);
    await writeFile(path, b);
    expect(await sqliteVersion(path)).not.toBe(second);
  });
});

describe("parseWal", () => {
  it("takes anything for a log", () => {
    expect(parseWal(new Uint8Array())).toBeUndefined();
    expect(parseWal(new Uint8Array(5000))).toBeUndefined();
    expect(parseWal(makeWal([], { pageSize: PAGE }))).toBeUndefined();
  });
});

const fixtures = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const real = join(fixtures, "opencode/generated-opencode-1.18.33-wal/opencode.db");

describe.skipIf(!existsSync(real))("a log written by the real tool (skipped without the shared fixtures)", () => {
  it("shows all tables though the main file is 4 KB", async () => {
    const file = await openSqliteFile(real);
    expect(file.tables().length).toBe(20);
    expect(file.tables()).toContain("message");
    expect(file.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(file.all<{ n: number }>("select count(*) as n from message")[0]?.n).toBeGreaterThan(0);
    file.close();
  });
});
