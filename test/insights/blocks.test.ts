/** Figures of more sessions than a block holds: after sessions came, went, moved and were refused by the disk, they are those of the catalogue. */
import { join } from "node:path";
import type { SqlValue } from "sessarc";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import type { Origin } from "../../plugins/insights/figures/block.ts";
import { zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { createCube } from "../../plugins/insights/figures/cube.ts";
import { createKept } from "../../plugins/insights/figures/kept.ts";
import { toRange } from "../../plugins/insights/figures/range.ts";
import { type Choice, report } from "../../plugins/insights/figures/report.ts";
import { sessionRows } from "../../plugins/insights/figures/session-rows.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { failing } from "../storage/failing-disk.ts";
import { brute, figuresOf, type Question, reportFigures } from "./brute.ts";
import { insertSession, rowsOf, sessionsOf } from "./rows.ts";

const SESSIONS = 600;
/** Two spellings of one, one that nobody has a price for, one that costs less at night. */
const MODELS = ["model-0", "model-1", "model-1-20251001", "model-2", "deepseek-chat"];

it("each figure is that of the rows, whatever happened to them", async () => {
  const dir = await makeTempDir();
  const { calls, faults } = failing();
  const db = openDatabase({ dir, calls, onNotice: () => {} });
  for (const sql of migrations) await db.run(sql);
  let state = 7;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const idOf = (n: number) => `s${String(n).padStart(4, "0")}`;
  const stored = (n: number) => {
    const tokens = () => ({
      ...{ input: below(90), output: below(900), cacheWrite5m: 0, cacheWrite1h: 0 },
      cacheRead: below(9_000),
    });
    // Those that come last stand in a block of their own: one costs less at night.
    const models = MODELS.slice(0, n < SESSIONS ? -1 : undefined);
    const usage = Object.fromEntries(
      Array.from({ length: below(3) }, () => [models[below(models.length)] as string, tokens()]),
    );
    const evidence = { records: below(9), requests: below(9), duplicatesFolded: below(3), inheritedExcluded: below(3) };
    return insertSession(idOf(n), {
      tool: `tool ${below(2)}`,
      project_id: `p${below(3)}`,
      // An earlier one, that no circle comes about.
      parent_id: n > 0 && below(4) === 0 ? idOf(below(n)) : null,
      forked_from: below(5) === 0 ? "elsewhere" : null,
      usage: JSON.stringify(usage),
      evidence: below(2) ? JSON.stringify(evidence) : null,
      message_count: below(3),
      sort_at: Date.UTC(2026, 9, 1 + below(9), below(24)),
    });
  };
  await db.batch(Array.from({ length: SESSIONS + 20 }, (_, n) => stored(n)));
  const archive = { generation: 0 };
  const importer = { progress: { type: "idle" as const } };
  const start = () =>
    createCube(archive, importer, db, createKept(db, { folder: join(dir, "index", "figures"), readOnly: false }));
  let cube = start();
  const pricing = createPricing({ "model-0": { input: 1, output: 3 }, "model-1": { input: 2, output: 2 } });
  const zone = zoneOf("Asia/Kathmandu");
  const check = async (note: string) => {
    const { blocks } = await cube.figures();
    const sessions = await sessionsOf(db);
    const prices = pricing.now;
    // Of all, and of some.
    const of = [{ tool: "tool 1" }, { kind: "main" }, { project: "p2" }, { from: "2026-10-03" }][below(4)];
    for (const some of [{}, of]) {
      const { from, to, ...filter }: Omit<Question, "by" | "zone"> = some ?? {};
      const choice: Choice = {
        blocks,
        accept: (origin) => Object.entries(filter).every(([key, value]) => origin[key as keyof Origin] === value),
      };
      const range = toRange(from, to);
      const question = { ...some, zone: zone.name };
      const said = `${note}, ${JSON.stringify(some)}`;
      for (const by of ["project", "model", "tool", "kind"] as const)
        expect(reportFigures(await report(by, choice, zone, range, new Map(), prices)), `${said}, ${by}`).toEqual(
          brute(sessions, { by, ...question }, prices),
        );
      const right = brute(sessions, { by: "session", ...question }, prices);
      for (const limit of [undefined, 1 + below(50)]) {
        const answer = await sessionRows(choice, zone, range, prices, limit);
        const { rowCount, totals, evidence } = answer.report;
        expect({ rowCount, totals: figuresOf(totals), evidence }, said).toEqual({
          rowCount: right.rows.length,
          totals: right.totals,
          evidence: right.evidence,
        });
        const found = (await rowsOf(answer)).map((row) => figuresOf(row));
        // As one text: a thousand objects take a second to compare.
        const text = (list: typeof found) => list.map((row) => JSON.stringify(row, Object.keys(row).sort())).join("\n");
        expect(text(found), said).toBe(text(right.rows.slice(0, limit)));
      }
    }
  };
  await check("at first");
  for (let step = 0; step < rounds(120, 6); step++) {
    const changes = Array.from({ length: 1 + below(3) }, (): [string, SqlValue[]] =>
      below(2) ? stored(below(SESSIONS + 20)) : ["delete from session where id = ?", [idOf(below(SESSIONS))]],
    );
    const isRefused = below(4) === 0;
    if (isRefused) faults.write = "ENOSPC";
    const outcome = db.batch(changes).then(
      () => "stored",
      () => "refused",
    );
    archive.generation++;
    // Somebody looks before the disk has answered.
    if (below(2)) await cube.figures();
    expect(await outcome).toBe(isRefused ? "refused" : "stored");
    faults.write = undefined;
    archive.generation++;
    if (below(5) === 0) {
      await cube.keep();
      cube = start();
    }
    if (below(4) === 0) pricing.setOwn({ "model-0": { input: 1 + below(9), output: 3 } });
    await check(`step ${step}`);
  }
  await db.close();
});
