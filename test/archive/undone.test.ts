/** Lists and counts never hold what the disk refused: a batch that was undone after they were read is in none of them. */
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { Changes } from "../../plugins/archive/catalogue/changes.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { createStore } from "../../plugins/archive/catalogue/store.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";
import { makeTempDir } from "../_setup.ts";
import { insertSession } from "../insights/rows.ts";
import { failing } from "../storage/failing-disk.ts";

const session = (id: string, dollars: number) => {
  const tokens = { input: dollars * 1e6, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  return insertSession(id, { error_count: dollars, usage: JSON.stringify({ m: tokens }) });
};

it("they are read again though no event reports a change", async () => {
  const { calls, faults } = failing();
  let asked: Promise<void> = Promise.resolve();
  const db = openDatabase({ dir: await makeTempDir(), calls, prove: () => asked, onNotice: () => {} });
  for (const sql of migrations) await db.run(sql);
  await db.batch([
    ["insert into project (id, kind, key, derived_name, created_at) values ('p', 'folder', 'p', 'p', '')", []],
    session("a", 1),
    session("b", 2),
  ]);
  const changes = new Changes(db);
  const pricing = createPricing({ m: { input: 1, output: 1 } });
  const store = createStore(db, () => pricing, changes);
  const look = async () => {
    const ids = async (filter: Parameters<typeof store.page>[0]) =>
      (await store.page(filter, undefined)).sessions.map(({ id }) => id).join("");
    const { sessions } = await store.totals();
    const [project] = await store.projects();
    const [cost, errors] = [await ids({ sort: "cost", limit: 9 }), await ids({ errors: true, limit: 9 })];
    return { cost, errors, sessions, project: project?.sessionCount };
  };
  /** Has a batch refused that was read before the disk had answered. */
  const lose = async (...batch: Parameters<typeof db.batch>[0]) => {
    let answer = () => {};
    asked = new Promise((resolve) => {
      answer = resolve;
    });
    faults.write = "ENOSPC";
    const refused = expect(db.batch(batch)).rejects.toThrow();
    // The batch is visible from the statement after this one on.
    await db.get("select 1");
    const seen = await look();
    answer();
    await refused;
    faults.write = undefined;
    return seen;
  };
  expect(await lose(session("a", 3), session("c", 4))).toEqual({ cost: "cab", errors: "abc", sessions: 3, project: 3 });
  expect(await look()).toEqual({ cost: "ba", errors: "ab", sessions: 2, project: 2 });

  // Also when the next change comes before the next check.
  changes.mark(["a"]);
  expect(await lose(session("a", 5))).toMatchObject({ cost: "ab" });
  await db.batch([session("b", 3)]);
  changes.mark(["b"]);
  expect(await look()).toEqual({ cost: "ba", errors: "ab", sessions: 2, project: 2 });
  await db.close();
});
