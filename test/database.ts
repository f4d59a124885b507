/** The contract of `Database`: what every implementation of the catalogue answers to. */
import { describe, expect, it } from "vitest";
import type { Database } from "../core/storage/types.ts";

export interface DatabaseSuite {
  /** Opens the catalogue in `dir`; called again for the same directory after `close`. */
  open(dir: string): Database;
  /** A fresh directory. */
  dir(): Promise<string>;
}

/** The part of the contract that holds for every engine, PostgreSQL's too. `fresh`: a database with `TABLE`, empty; `unique`: how it names a value that is there. */
export function testQueries(name: string, { fresh, unique }: { fresh(): Promise<Database>; unique: RegExp }): void {
  const rows = (db: Database) => db.all<{ id: number; text: string }>("select id, text from t order by id");
  describe(`database contract of every engine: ${name}`, () => {
    it("answers all, get and run", async () => {
      const db = await fresh();
      expect(await db.run("insert into t (id, text) values (1, 'a'), (2, 'b')")).toEqual({ changes: 2 });
      expect(await db.run("update t set text = ? where id > ?", ["c", 5])).toEqual({ changes: 0 });
      expect(await rows(db)).toEqual([
        { id: 1, text: "a" },
        { id: 2, text: "b" },
      ]);
      expect(await db.get("select text from t where id = ?", [2])).toEqual({ text: "b" });
      expect(await db.get("select text from t where id = ?", [3])).toBeUndefined();
      expect(await db.all("with n as (select 1 as x) select x from n")).toEqual([{ x: 1 }]);
      await db.close();
    });

    it("does all of a batch or nothing, and returns the reason to the caller", async () => {
      const db = await fresh();
      await db.run("insert into t values (1, 'a', null)");
      const before = db.generation;
      await expect(
        db.batch([
          ["insert into t values (2, 'b', null)"],
          ["update t set text = 'x' where id = 1"],
          ["insert into t values (3, ?, null)", ["b"]],
        ]),
      ).rejects.toThrow(unique);
      expect(await rows(db)).toEqual([{ id: 1, text: "a" }]);
      expect(db.generation).toBe(before);
      await db.close();
    });

    it("runs batches in the order they were given", async () => {
      const db = await fresh();
      const all = Array.from({ length: 50 }, (_, i) => db.run("insert into t (text) values (?)", [`n${i}`]));
      await Promise.all(all);
      expect((await rows(db)).map((row) => row.text)).toEqual(Array.from({ length: 50 }, (_, i) => `n${i}`));
      await db.close();
    });

    it("reads beside a batch neither end it nor see half of it", async () => {
      const db = await fresh();
      const pairs = Array.from({ length: 20 }, (_, i) => i + 1);
      const seen = await Promise.all(
        pairs.flatMap((i) => [
          db.batch([
            ["insert into t (id, text) values (?, ?)", [2 * i, `a${i}`]],
            ["insert into t (id, text) values (?, ?)", [2 * i + 1, `b${i}`]],
          ]),
          db.get<{ n: number }>("select count(*) as n from t"),
        ]),
      );
      expect(seen.filter((one) => one && one.n % 2 === 1)).toEqual([]);
      await Promise.allSettled([
        db.batch([["insert into t (id, text) values (100, 'new')"], ["insert into t (id, text) values (2, 'again')"]]),
        db.get("select count(*) as n from t"),
      ]);
      expect(await db.get("select count(*) as n from t")).toEqual({ n: 40 });
      await db.close();
    });

    it("counts committed batches", async () => {
      const db = await fresh();
      const start = db.generation;
      await db.run("insert into t values (1, 'a', null)");
      await db.batch([["insert into t values (2, 'b', null)"], ["insert into t values (3, 'c', null)"]]);
      await rows(db);
      expect(db.generation).toBe(start + 2);
      await db.close();
    });

    it("names the parameter that is not a value", async () => {
      const db = await fresh();
      const wrong = [undefined, true, {}, 5n, new Date(0), []] as unknown as string[];
      for (const value of wrong) {
        await expect(db.run("insert into t (id, text) values (?, ?)", [1, value])).rejects.toThrow(/Parameter 2 is/);
      }
      expect(await rows(db)).toEqual([]);
      await db.close();
    });

    it("refuses calls after close, and finishes those before", async () => {
      const db = await fresh();
      const last = db.run("insert into t (text) values ('last')");
      await db.close();
      await last;
      await db.close();
      await expect(db.all("select 1")).rejects.toThrow(/closed/);
      await expect(db.run("delete from t")).rejects.toThrow(/closed/);
    });

    it("does not write through a read, nor read by a write", async () => {
      const db = await fresh();
      for (const sql of ["delete from t", "insert into t (text) values ('a') returning id"])
        await expect(db.all(sql), sql).rejects.toThrow(TypeError);
      await expect(db.run("select 1")).rejects.toThrow(TypeError);
      await expect(db.batch([["insert into t (text) values ('a')"], ["select 1"]])).rejects.toThrow(TypeError);
      expect(await rows(db)).toEqual([]);
      await db.close();
    });

    it("returns the bytes and numbers that were written, and is not changed by what the caller does with them afterwards", async () => {
      const db = await fresh();
      const data = new Uint8Array([0, 255, 10]);
      const written = db.run("insert into t (id, text, data) values (?, ?, ?)", [2 ** 40, "ünï 😀", data]);
      await db.get("select 1 as one");
      data.fill(9);
      await written;
      expect(await db.get("select id, text, data from t")).toEqual({
        id: 2 ** 40,
        text: "ünï 😀",
        data: new Uint8Array([0, 255, 10]),
      });
      expect(await db.get("select sum(id) as sum, count(*) as n, max(text) is null as none from t")).toEqual({
        sum: 2 ** 40,
        n: 1,
        none: 0,
      });
      await db.close();
    });
  });
}

export const TABLE = [
  "create table t (id integer primary key, text text, data blob)",
  "create unique index by_text on t (text)",
] as const;

export function testDatabase(name: string, { open, dir }: DatabaseSuite): void {
  const fresh = async () => {
    const db = open(await dir());
    await db.batch(TABLE.map((sql) => [sql] as const));
    return db;
  };
  const rows = (db: Database) => db.all<{ id: number; text: string }>("select id, text from t order by id");
  testQueries(name, { fresh, unique: /UNIQUE constraint failed: t\.text/ });

  describe(`database contract: ${name}`, () => {
    it("keeps what was written over closing and opening", async () => {
      const home = await dir();
      const first = open(home);
      await first.run("create table t (a, b, c, d, e)");
      const values = [
        "ünï\0code \ud83d\ude00",
        2 ** 40 + 0.5,
        null,
        new Uint8Array([0, 255, 10]),
        Number.NEGATIVE_INFINITY,
      ];
      await first.run("insert into t values (?, ?, ?, ?, ?)", values);
      await first.close();
      const second = open(home);
      const row = await second.get<Record<string, unknown>>("select * from t");
      expect(Object.values(row ?? {})).toEqual(values);
      await second.close();
    });

    it("a batch that failed is not there after opening again", async () => {
      const home = await dir();
      const db = open(home);
      await db.run("create table t (id integer primary key)");
      await Promise.allSettled([
        db.batch([["insert into t values (1)"]]),
        db.batch([["insert into t values (2)"], ["insert into t values (1)"]]),
        db.batch([["insert into t values (3)"]]),
      ]);
      await db.close();
      const again = open(home);
      expect(await again.all("select id from t order by id")).toEqual([{ id: 1 }, { id: 3 }]);
      await again.close();
    });

    it("takes migrations: several statements, comments, triggers", async () => {
      const db = await fresh();
      await db.run(`-- first
        create table log (what text); /* ; */
        create trigger t_log after insert on t begin insert into log values ('in;' || new.id); delete from log where what = 'x'; end;
        create index log_what on log (what);`);
      await db.run("insert into t values (7, 'a', null)");
      expect(await db.all("select what from log")).toEqual([{ what: "in;7" }]);
      await db.close();
    });

    it("refuses transactions and what works on files, and takes any function", async () => {
      const db = await fresh();
      for (const sql of [
        "create temp table x (a)",
        "begin",
        "commit",
        "rollback",
        "savepoint a",
        "attach 'x' as y",
        "vacuum",
        "pragma user_version = 5",
        "",
        "-- nothing",
      ]) {
        await expect(db.run(sql), sql).rejects.toThrow(TypeError);
      }
      await db.run("insert into t (id, text) values (abs(random() % 1000), datetime('now'))");
      const [row] = await rows(db);
      await db.run("update t set text = id where id = last_insert_rowid()");
      expect(await rows(db)).toEqual([{ id: row?.id, text: String(row?.id) }]);
      expect(await db.get("select abs(random()) >= 0 as ok, datetime('now') > '2020' as now")).toEqual({
        ok: 1,
        now: 1,
      });
      await db.close();
    });

    it("does not write through a read, nor run half of what it is given", async () => {
      const db = await fresh();
      for (const sql of [
        "insert into t (text) values ('a') returning id",
        "with x as (select 'a' as a) insert into t (text) select a from x",
        "select 1; drop table t",
        "pragma user_version = 3",
        "delete from t",
      ]) {
        await expect(db.all(sql), sql).rejects.toThrow(TypeError);
      }
      await expect(db.run("select 1")).rejects.toThrow(TypeError);
      expect(await rows(db)).toEqual([]);
      expect(await db.all("select 1 as one;")).toEqual([{ one: 1 }]);
      expect(await db.all("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
      await db.close();
    });

    it("does not mind what the caller does with its parameters afterwards", async () => {
      const home = await dir();
      const db = open(home);
      await db.run("create table t (data blob)");
      const data = new Uint8Array([1, 2, 3]);
      const written = db.run("insert into t values (?)", [data]);
      await db.get("select 1");
      data.fill(9);
      await written;
      await db.close();
      const again = open(home);
      expect(await again.get("select data from t")).toEqual({ data: new Uint8Array([1, 2, 3]) });
      await again.close();
    });

    it("reads and writes on while it is compacted and held, and keeps what is written meanwhile", async () => {
      const home = await dir();
      const db = open(home);
      await db.run("create table t (id integer primary key)");
      for (let i = 1; i <= 10; i++) {
        const release = db.hold();
        await Promise.all([
          db.compact(),
          db.run("insert into t values (?)", [2 * i]),
          db.get("select count(*) from t"),
          release.then((end) => end()),
          db.run("insert into t values (?)", [2 * i + 1]),
        ]);
      }
      expect(db.stats.fileBytes).toBeGreaterThan(0);
      await db.close();
      const again = open(home);
      expect(await again.get("select count(*) as n from t")).toEqual({ n: 20 });
      await again.close();
    });
  });
}
