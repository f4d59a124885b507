/** Reads and statements, counted where the database takes them. */
import type { Database } from "sessarc";

/** Notes what a database is asked from now on, while `on`. */
export function countAsked(db: Database): { on: boolean; reads: string[]; statements: string[] } {
  const asked = { on: true, reads: [] as string[], statements: [] as string[] };
  const { get, all, run, batch } = db;
  const reading = (sql: string) => {
    if (asked.on) asked.reads.push(sql);
    return sql;
  };
  const writing = (sql: string) => {
    if (asked.on) asked.statements.push(sql);
    return sql;
  };
  Object.assign(db, {
    get: ((sql, ...rest) => get.call(db, reading(sql), ...rest)) as Database["get"],
    all: ((sql, ...rest) => all.call(db, reading(sql), ...rest)) as Database["all"],
    run: ((sql, ...rest) => run.call(db, writing(sql), ...rest)) as Database["run"],
    batch: ((list) => {
      for (const [sql] of list) writing(sql);
      return batch.call(db, list);
    }) as Database["batch"],
  });
  return asked;
}
