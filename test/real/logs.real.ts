/** `npm run test:real`: every scenario with every tool. `SESSARC_REAL="codex@0.160.0 gemini-cli"` picks tools and versions. */
import { afterAll, describe, expect, it } from "vitest";
import { compare } from "./compare.ts";
import { drive } from "./drive.ts";
import { startModelServer } from "./model/server.ts";
import { tell } from "./read.ts";
import { LATER, SCENARIOS } from "./scenarios.ts";
import { DRIVERS } from "./tools/index.ts";

const picked = new Map(
  (process.env.SESSARC_REAL ?? "").split(/[\s,]+/).flatMap((one) => {
    const [name = "", version] = one.split("@");
    return name === "" ? [] : [[name, version] as const];
  }),
);
const drivers = DRIVERS.filter(({ name }) => picked.size === 0 || picked.has(name));
const rows: { tool: string; scenario: string; result: string }[] = [];

describe.each(drivers.map((driver) => ({ ...driver, title: driver.label ?? driver.name })))("$title", (driver) => {
  const label = driver.title;
  it.each(SCENARIOS)("$name", async (scenario) => {
    const isSame = scenario.name === LATER && !driver.logsByMinute;
    const reason = isSame ? "its log has no minute in its name" : driver.cannot?.[scenario.name];
    if (reason !== undefined) {
      rows.push({ tool: label, scenario: scenario.name, result: `– ${reason}` });
      return;
    }
    const row = { tool: label, scenario: scenario.name, result: "did not run" };
    rows.push(row);
    const model = await startModelServer();
    const version = picked.get(driver.name);
    const tool = await drive(driver, { url: model.url, ...(version !== undefined && { version }) });
    row.tool = `${label} ${tool.version}`;
    try {
      const expected = await scenario.run({ model, tool });
      const told = await tell(tool.home);
      const verdict = compare(model.ledger, told, expected, (entry) => driver.unlogged?.(entry));
      const { wrong, unlogged } = verdict;
      const noted = unlogged.length > 0 ? `; in no log: ${unlogged.join(", ")}` : "";
      row.result = wrong.length > 0 ? `DIFFERS ${wrong.join("; ")}` : `equal (${model.ledger.length} requests)${noted}`;
      expect(wrong).toEqual([]);
    } catch (error) {
      if (row.result === "did not run") row.result = `FAILED ${error instanceof Error ? error.message : error}`;
      throw error;
    } finally {
      await model.close();
      await tool.close();
    }
  });
});

afterAll(() => {
  const width = Math.max(...rows.map(({ tool }) => tool.length));
  const lines = rows.map((row) => `${row.tool.padEnd(width)}  ${row.scenario.padEnd(13)}  ${row.result}`);
  process.stdout.write(`\n${lines.join("\n")}\n`);
});
