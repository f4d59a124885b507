/** Lists and counts never hold what the disk refused: they are answered when what they saw is stored. */
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { Changes } from "../../plugins/archive/catalogue/changes.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { createStore } from "../../plugins/archive/catalogue/store.ts";
import { makeTempDir } from "../_setup.ts";
import { insertSession, openCatalogue } from "../insights/rows.ts";
import { failing } from "../storage/failing-disk.ts";

const session = (id: string, dollars: number) => {
  const tokens = { input: dollars * 1e6, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  return insertSession(id, { error_count: dollars, usage: JSON.stringify({ m: tokens }) });
};

it("a batch that is taken back while they are read is in none of them", async () => {
  const { calls, faults } = failing();
  let asked: Promise<boolean> = Promise.resolve(true);
  const db = openDatabase({ dir: await makeTempDir(), calls, prove: () => asked, onNotice: () => {} });
  for (const sql of migrations) await db.run(sql);
  await db.batch([
    ["insert into project (id, kind, key, derived_name, created_at) values ('p', 'folder', 'p', 'p', '')", []],
    session("a", 1),
    session("b", 2),
  ]);
  const changes = new Changes();
  const { pricing } = await openCatalogue({ m: { input: 1, output: 1 } });
  const store = createStore(db, () => pricing, changes);
  const look = async () => {
    const ids = async (filter: Parameters<typeof store.page>[0]) =>
      (await store.page(filter, undefined)).sessions.map(({ id }) => id).join("");
    const { sessions } = await store.totals();
    const [project] = await store.projects();
    const [cost, errors] = [await ids({ sort: "cost", limit: 9 }), await ids({ errors: true, limit: 9 })];
    return { cost, errors, sessions, project: project?.sessionCount };
  };
  /** Has a batch refused that was applied while lists are read. */
  const lose = async (...batch: Parameters<typeof db.batch>[0]) => {
    let answer = () => {};
    asked = new Promise((resolve) => {
      answer = () => resolve(true);
    });
    faults.write = "ENOSPC";
    const refused = expect(db.batch(batch)).rejects.toThrow();
    const seen = look();
    answer();
    await refused;
    faults.write = undefined;
    return seen;
  };
  expect(await lose(session("a", 3), session("c", 4))).toEqual({ cost: "ba", errors: "ab", sessions: 2, project: 2 });
  expect(await look()).toEqual({ cost: "ba", errors: "ab", sessions: 2, project: 2 });
  await db.batch([session("b", 3)]);
  changes.mark(["b"]);
  expect(await lose(session("a", 5))).toMatchObject({ cost: "ba", errors: "ab" });
  await db.close();
});
