/** A catalogue of which two thirds were deleted, with all that a table may be. */
import type { Database, Statement } from "../../core/storage/types.ts";

const SCHEMA = `
  create table t (id text not null, x);
  create index t_id on t (id);
  create table w (k text primary key, n) without rowid;
  create table counted (n integer primary key autoincrement, x text);
  create view v as select count(*) as n, min(rowid) as first from t;
  create trigger tw after insert on t when new.id = 'late' begin insert into w values (new.id, 1); end;
`;
const ROWS = 1_200;
/** Rows of `t` that stay. */
export const LEFT = ROWS / 3;

export async function fill(db: Database): Promise<void> {
  await db.run(SCHEMA);
  const insert = (i: number): Statement => ["insert into t values (?, ?)", [`k${i}`, "x".repeat(1_500)]];
  await db.batch(Array.from({ length: ROWS }, (_, i) => insert(i)));
  await db.batch(Array.from({ length: 10 }, (_, i): Statement => ["insert into counted (x) values (?)", [`c${i}`]]));
  await db.batch([["delete from counted where n > 8"], ["insert into w values ('a', 1), ('b', 2.5), ('c', null)"]]);
  await db.run("delete from t where rowid % 3 > 0");
}
