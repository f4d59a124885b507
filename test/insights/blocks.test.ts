/** Figures of more sessions than a block holds: after sessions came, went, moved and were refused by the disk, they are those of the catalogue. */
import { join } from "node:path";
import type { SqlValue } from "sessarc";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { createCube } from "../../plugins/insights/figures/cube.ts";
import { createKept } from "../../plugins/insights/figures/kept.ts";
import { report } from "../../plugins/insights/figures/report.ts";
import { sessionRows } from "../../plugins/insights/figures/session-rows.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { failing } from "../storage/failing-disk.ts";
import { brute, figuresOf, reportFigures } from "./brute.ts";
import { insertSession, rowsOf, sessionsOf } from "./rows.ts";

const SESSIONS = 600;
const ALL = { from: null, to: null };

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
    const tokens = { input: below(90), output: below(900), cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: below(9_000) };
    return insertSession(idOf(n), {
      tool: `tool ${below(2)}`,
      project_id: `p${below(3)}`,
      // An earlier one, that no circle comes about.
      parent_id: n > 0 && below(4) === 0 ? idOf(below(n)) : null,
      usage: JSON.stringify({ [`model-${below(3)}`]: tokens }),
      sort_at: Date.UTC(2026, 9, 1 + below(9), below(24)),
    });
  };
  await db.batch(Array.from({ length: SESSIONS }, (_, n) => stored(n)));
  const archive = { generation: 0, importer: { progress: { type: "idle" as const } } };
  const start = () => createCube(archive, db, createKept(db, { folder: join(dir, "index"), readOnly: false }));
  let cube = start();
  const prices = createPricing({ "model-0": { input: 1, output: 3 }, "model-1": { input: 2, output: 2 } });
  const zone = zoneOf("Asia/Kathmandu");
  const check = async (note: string) => {
    const { blocks } = await cube.figures();
    const sessions = await sessionsOf(db);
    for (const by of ["project", "model"] as const)
      expect(reportFigures(await report(by, { blocks }, zone, ALL, new Map(), prices)), `${note}, ${by}`).toEqual(
        brute(sessions, { by, zone: zone.name }, prices),
      );
    const rows = await rowsOf(await sessionRows({ blocks }, zone, ALL, prices));
    const right = brute(sessions, { by: "session", zone: zone.name }, prices).rows;
    const found = rows.map((row) => figuresOf(row));
    // As one text: a thousand objects take a second to compare.
    const text = (list: typeof found) => list.map((row) => JSON.stringify(row, Object.keys(row).sort())).join("\n");
    expect(text(found), note).toBe(text(right));
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
    await check(`step ${step}`);
  }
  await db.close();
});
